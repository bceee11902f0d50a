// claims.cpp - see claims.hpp.

#include "runtime/simulation/claims.hpp"

#include <algorithm>
#include <utility>

#include "troupe/runtime/simulation.hpp"

namespace troupe::detail {

namespace {

void add_once(std::vector<std::string>& to, const std::string& claim) {
  if (std::find(to.begin(), to.end(), claim) == to.end()) to.push_back(claim);
}

}  // namespace

void claims::always(std::string claim, std::function<bool()> holds, place at) {
  if (!holds()) throw check_failed(claim, at);
  watched_.push_back({std::move(claim), std::move(holds), at, true, true});
}

void claims::eventually(std::string claim, std::function<bool()> holds, place at) {
  const bool seen = holds();
  watched_.push_back({std::move(claim), std::move(holds), at, false, seen});
}

void claims::sometimes(std::string claim, bool happened) {
  add_once(made_, claim);
  if (happened) add_once(met_, claim);
}

void claims::look_at_all() {
  for (auto& each : watched_) {
    if (each.always) {
      if (!each.holds()) throw check_failed(each.claim, each.at);
    } else if (!each.seen) {
      each.seen = each.holds();
    }
  }
}

void claims::require_what_was_to_happen() const {
  for (const auto& each : watched_) {
    if (!each.seen) throw check_failed("never: " + each.claim, each.at);
  }
}

void claims::take_sometimes(std::vector<std::string>& made, std::vector<std::string>& met) {
  made = std::move(made_);
  met = std::move(met_);
}

}  // namespace troupe::detail
