#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/environment.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

using order = std::vector<int>;

task<> arrive(replica_context ctx, order* into) {
  into->push_back(ctx.replica_id());
  co_await ctx.merge_call([] {});
  into->push_back(10 + ctx.replica_id());
}

// Fails under one of its 36 schedules only.
task<> fails_once(world& w) {
  order seen;
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(arrive, &seen);
  w.check(seen != order({2, 0, 1, 11, 12, 10}), "not this order");
}

task<> another_program(world& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run([] {});
}

simulation isolated() {
  simulation_options options;
  options.heed_environment = false;
  return simulation(options);
}

failure found() {
  const auto report = isolated().explore(fails_once);
  REQUIRE_FALSE(report.passed());
  return *report.failure;
}

errc code_of(const exploration& report) {
  REQUIRE_FALSE(report.passed());
  const auto told = as<error>(report.failure->exception);
  REQUIRE(told);
  return static_cast<errc>(told->code().value());
}

TEST_CASE("exact: replay brings a failure back, 100 times out of 100") {
  const failure first = found();
  for (int i = 0; i < 100; ++i) {
    const auto again = isolated().replay(fails_once, first.schedule);
    REQUIRE_FALSE(again.passed());
    REQUIRE(is_a<check_failed>(again.failure->exception));
    REQUIRE(again.failure->what == first.what);
    REQUIRE(again.failure->steps == first.steps);
  }
}

TEST_CASE("exact: a replayed failure has the schedule that was replayed") {
  const failure first = found();
  CHECK(isolated().replay(fails_once, first.schedule).failure->schedule == first.schedule);
}

TEST_CASE("a schedule of nothing but the default order replays the first run") {
  const auto report = isolated().replay(fails_once, to_string(schedule{}));
  CHECK(report.passed());
  CHECK(report.replayed);
  CHECK(report.schedules == 1);
}

TEST_CASE("a damaged schedule is errc::invalid_schedule") {
  std::string bad = found().schedule;
  bad.back() = bad.back() == 'a' ? 'b' : 'a';
  CHECK(is(thrown_by([&] { return isolated().replay(fails_once, bad); }), errc::invalid_schedule));
}

TEST_CASE("an empty schedule string is errc::invalid_schedule") {
  CHECK(is(thrown_by([] { return isolated().replay(fails_once, ""); }), errc::invalid_schedule));
}

TEST_CASE("the schedule of another program is errc::schedule_diverged") {
  CHECK(code_of(isolated().replay(another_program, found().schedule)) == errc::schedule_diverged);
}

TEST_CASE("a schedule that names a party that cannot step is errc::schedule_diverged") {
  schedule s = parse_schedule(found().schedule);
  s.deviations.front().then.index = 1000;
  CHECK(code_of(isolated().replay(fails_once, to_string(s))) == errc::schedule_diverged);
}

TEST_CASE("a schedule that is longer than the program is errc::schedule_diverged") {
  schedule s;
  schedule::deviation late;
  late.after = {schedule::kind_of("replica"), 0, 0};
  late.own_step = 1000;
  s.deviations.push_back(late);
  CHECK(code_of(isolated().replay(fails_once, to_string(s))) == errc::schedule_diverged);
}

TEST_CASE("a failure's picture has a column for each party of the run") {
  const failure first = found();
  for (const char* party : {"replica/0", "replica/1", "replica/2", "barrier/0"}) {
    INFO(first.picture);
    CHECK(first.picture.find(party) != std::string::npos);
  }
}

TEST_CASE("a failure's text has its schedule, its picture and the variable that replays it") {
  const auto report = isolated().explore(fails_once);
  const std::string text = report.text();
  CHECK(text.find(report.failure->schedule) != text.npos);
  CHECK(text.find(report.failure->picture) != text.npos);
  CHECK(text.find("TROUPE_SIM_SCHEDULE=" + report.failure->schedule) != text.npos);
}

TEST_CASE("TROUPE_SIM_SCHEDULE makes explore() replay that schedule and no other") {
  const failure first = found();
  const environment set("TROUPE_SIM_SCHEDULE", first.schedule);
  const auto report = simulation().explore(fails_once);
  CHECK(report.replayed);
  CHECK(report.schedules == 1);
  REQUIRE_FALSE(report.passed());
  CHECK(report.failure->what == first.what);
}

TEST_CASE("an empty TROUPE_SIM_SCHEDULE changes nothing") {
  const environment set("TROUPE_SIM_SCHEDULE", "");
  CHECK_FALSE(simulation().explore(another_program).replayed);
}

TEST_CASE("an unreadable TROUPE_SIM_SCHEDULE is errc::invalid_schedule") {
  const environment set("TROUPE_SIM_SCHEDULE", "tr1:nonsense");
  CHECK(
      is(thrown_by([] { return simulation().explore(another_program); }), errc::invalid_schedule));
}

TEST_CASE("an exploration that does not heed the environment explores") {
  const environment set("TROUPE_SIM_SCHEDULE", found().schedule);
  CHECK_FALSE(isolated().explore(another_program).replayed);
}

TEST_CASE("a schedule recorded earlier still brings its failure back") {
  const auto report = isolated().replay(fails_once, "tr1:Gfwv:ahg2F4gk-mp");
  REQUIRE_FALSE(report.passed());
  CHECK(is_a<check_failed>(report.failure->exception));
}

}  // namespace
}  // namespace troupe::test
