// The stage, and the list of all programs.

#include <stdexcept>
#include <string>

#include "tests/planted/planted.hpp"

namespace troupe::planted {

int active = 0;

namespace {

task<> on_stage(world& w, program body) {
  stage here(w);
  co_await body(here);
}

}  // namespace

std::uint32_t stage::choose(std::uint32_t n) {
  if (simulated_) return simulated_->choose(n);
  // SplitMix64: every seed is a good one.
  drawn_ += 0x9e3779b97f4a7c15u;
  std::uint64_t mixed = (drawn_ ^ (drawn_ >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>((mixed ^ (mixed >> 31)) % n);
}

void stage::check(bool holds, std::string_view claim, place at) {
  if (simulated_) {
    simulated_->check(holds, claim, at);
  } else if (!holds) {
    throw check_failed(claim, at);
  }
}

bugs programs() {
  bugs all;
  for (const auto& some : {of_merges(), of_actors(), of_mailboxes(), of_variables(),
                           of_cancellation(), of_timers(), of_graphs()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

program named(std::string_view name) {
  for (const bug& each : programs()) {
    if (each.name == name) return each.body;
  }
  throw std::logic_error("no program \"" + std::string(name) + "\"");
}

simulation::program simulated(program body) {
  return [body](world& w) { return on_stage(w, body); };
}

}  // namespace troupe::planted
