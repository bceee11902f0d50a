// fault_injector.cpp - see fault_injector.hpp.

#include "runtime/simulation/fault_injector.hpp"

#include <algorithm>
#include <string_view>

namespace troupe::detail {

namespace {

/// Whether a party is an actor of the program's, and no part of the library.
bool has_mail(std::string_view kind) noexcept {
  constexpr std::array<std::string_view, 7> ours = {"replica", "barrier", "task", "branch",
                                                    "step",    "owner",   "time"};
  return std::find(ours.begin(), ours.end(), kind) == ours.end();
}

}  // namespace

std::span<const fault> fault_injector::possible(const party& who) noexcept {
  std::size_t n = 0;
  possible_[n++] = fault::none;
  if (who.kind == "replica") {
    if (left_.crashes() > 0) possible_[n++] = fault::crash;
    if (left_.stalls() > 0) possible_[n++] = fault::stall;
    if (left_.cancellations() > 0) possible_[n++] = fault::cancellation;
  } else if (left_.delays() > 0 && has_mail(who.kind)) {
    possible_[n++] = fault::delay;
  }
  return std::span(possible_).first(n);
}

void fault_injector::spend(fault what) noexcept {
  switch (what) {
    case fault::crash: left_.crashes(left_.crashes() - 1); break;
    case fault::stall: left_.stalls(left_.stalls() - 1); break;
    case fault::delay: left_.delays(left_.delays() - 1); break;
    case fault::cancellation: left_.cancellations(left_.cancellations() - 1); break;
    case fault::none: break;
  }
}

}  // namespace troupe::detail
