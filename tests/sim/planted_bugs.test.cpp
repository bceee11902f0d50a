// Programs with a known order bug. Exploration must find each within its budget, and its
// schedule must bring it back, every time: an explorer that finds nothing proves nothing.

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/planted/planted.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

/// Finds the bug, and brings it back 100 times out of 100.
failure find_and_repeat(const simulation::program& body, simulation_options options) {
  options.heed_environment = false;
  const simulation sim(options);
  const exploration report = sim.explore(body);
  INFO(report.text());
  REQUIRE_FALSE(report.passed());
  for (int i = 0; i < 100; ++i) {
    const exploration again = sim.replay(body, report.failure->schedule);
    REQUIRE_FALSE(again.passed());
    REQUIRE(again.failure->what == report.failure->what);
    REQUIRE(again.failure->steps == report.failure->steps);
    REQUIRE(again.failure->schedule == report.failure->schedule);
  }
  return *report.failure;
}

/// The same by the first `budget` of all schedules, in their order.
failure find_in_order(const simulation::program& body, std::uint64_t budget) {
  simulation_options options;
  options.exhaustive = budget;
  options.samples = 0;
  return find_and_repeat(body, options);
}
failure find_in_order(std::string_view name, std::uint64_t budget) {
  return find_in_order(planted::simulated(planted::named(name)), budget);
}

TEST_CASE("every planted bug is found within its budget, and its schedule brings it back") {
  for (const planted::bug& b : planted::programs()) {
    INFO(b.name);
    simulation_options options;
    options.exhaustive = 1;
    options.samples = b.budget;
    CHECK(find_and_repeat(planted::simulated(b.body), options).exception);
  }
}

TEST_CASE("a planted bug does not show in the default order") {
  simulation_options options;
  options.heed_environment = false;
  const simulation sim(options);
  const std::string default_order = to_string(schedule());
  for (const planted::bug& b : planted::programs()) {
    INFO(b.name);
    CHECK(sim.replay(planted::simulated(b.body), default_order).passed());
  }
}

TEST_CASE("planted bugs have names of their own, and depths from 1 to 4") {
  std::set<std::string> names;
  std::set<int> depths;
  for (const planted::bug& b : planted::programs()) {
    CHECK(names.insert(b.name).second);
    depths.insert(b.depth);
  }
  CHECK(depths == std::set<int>({1, 2, 3, 4}));
}

TEST_CASE("a sum in the order of arrival is found within 36 schedules") {
  CHECK(is_a<check_failed>(find_in_order("merge: sum in the order of arrival", 36).exception));
}

TEST_CASE("a lost update between two tasks is found") {
  const auto found = find_in_order("timer: an update is lost in one moment", 1000);
  CHECK(is_a<check_failed>(found.exception));
}

TEST_CASE("a leader chosen by arrival is found within four schedules") {
  CHECK(is_a<check_failed>(find_in_order("merge: the first of two leads", 4).exception));
}

TEST_CASE("a merge that depends on a race is found") {
  const auto found = find_in_order("merge: whether to merge is a race", 1000);
  CHECK(is(found.exception, errc::missing_replica));
}

TEST_CASE("a signal given before anybody waits is found as a deadlock") {
  CHECK(is(find_in_order("merge: a signal that nobody hears", 10).exception, errc::deadlock));
}

// -- no bug of order: every schedule shows it -----------------------------------------------------

task<> read_then_write(replica_context ctx, int* counter) {
  const int before = *counter;
  co_await ctx.merge_call([] {});
  *counter = before + 1;
}
task<> lose_an_update(world& w) {
  int counter = 0;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(read_then_write, &counter);
  w.check(counter == 2, "both updates count");
}

TEST_CASE("an update that is lost under every schedule is found by the first one") {
  CHECK(is_a<check_failed>(find_in_order(lose_an_update, 1).exception));
}

}  // namespace
}  // namespace troupe::test
