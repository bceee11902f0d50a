// Test cases that run under every schedule; check.py runs this program and looks at what it prints.

#include <cstdint>
#include <cstdlib>
#include <troupe/runtime/sim_test_case.hpp>
#include <troupe/troupe.hpp>
#include <vector>

namespace {

using namespace troupe;

// [case]
int applied = 0;

task<> step(replica_context ctx) {
  co_await ctx.merge_call([] { ++applied; });
}

SIM_TEST_CASE("gradients are applied once", "[sim]") {
  applied = 0;
  w.always("never twice", [] { return applied <= 1; });
  mirrored_strategy strategy{w.runtime(), 3};
  co_await strategy.run(step);
  w.check(applied == 1, "once");
}
// [/case]

bool repaired() { return std::getenv("REPAIRED") != nullptr; }

SIM_TEST_CASE("who's first, [or] not", "[sim]") {
  std::vector<int> order;
  mirrored_strategy strategy(w.runtime(), 2);
  const auto arrive = [&order](replica_context ctx) { order.push_back(ctx.replica_id()); };
  co_await strategy.run(arrive);
  w.check(repaired() || order.front() == 0, "replica 0 is first");
}

simulation_options few() {
  simulation_options options;
  options.partial_orders = false;
  options.exhaustive = 5;
  options.samples = 7;
  return options;
}

SIM_TEST_CASE_WITH(few(), "some orders hold", "[sim]") {
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(step);
}

// Has more schedules than anybody waits for. Its tag keeps it out of a run of all tests.
simulation_options endless() {
  simulation_options options;
  options.partial_orders = false;
  options.exhaustive = ~std::uint64_t{0};
  return options;
}

SIM_TEST_CASE_WITH(endless(), "no end in sight", "[.endless]") {
  mirrored_strategy strategy(w.runtime(), 8);
  for (int i = 0; i < 8; ++i) co_await strategy.run(step);
}

SIM_TEST_CASE("something never happens", "[sim]") {
  w.sometimes("this", false);
  co_return;
}

}  // namespace
