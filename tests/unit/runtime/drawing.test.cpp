// Schedules drawn on several threads, and what is found out about a failure.

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/environment.hpp"
#include "tests/support/generated_programs.hpp"

namespace troupe::test {
namespace {

task<> tell_and_merge(replica_context ctx, generated::keeper* with) {
  with->tell(generated::number(ctx.replica_id()));
  co_await ctx.merge_call([] {});
  with->tell(generated::number(10 + ctx.replica_id()));
}

/// Fails if the replicas' numbers come in one certain order of many.
task<> rarely_wrong(world& w) {
  generated::keeper with(w.runtime());
  {
    mirrored_strategy strategy(w.runtime(), 3);
    co_await strategy.run(tell_and_merge, &with);
  }
  co_await with.ask<generated::count>();
  co_await with.stop();
  const std::vector<int> unlucky = {2, 1, 12, 0, 11, 10};
  w.check(with.kept != unlucky, "not like this");
}

simulation_options drawing(unsigned jobs) {
  simulation_options options;
  options.heed_environment = false;
  options.partial_orders = false;
  options.exhaustive = 1;
  options.samples = 20'000;
  options.jobs = jobs;
  options.shrink = false;
  return options;
}

TEST_CASE("threads find the failure that one would have found") {
  const auto alone = simulation(drawing(1)).explore(rarely_wrong);
  REQUIRE(alone.failure);
  for (int i = 0; i < 5; ++i) {
    const auto together = simulation(drawing(4)).explore(rarely_wrong);
    REQUIRE(together.failure);
    CHECK(together.failure->schedule == alone.failure->schedule);
    CHECK(together.failure->what == alone.failure->what);
  }
}

TEST_CASE("threads make every run that was asked for, each in its own world") {
  std::atomic<int> runs = 0;
  auto options = drawing(4);
  options.partial_orders = true;
  options.samples = 500;
  const auto report = simulation(options).explore([&](world& w) {
    runs.fetch_add(1);
    return [](world& in) -> task<> {
      generated::keeper with(in.runtime());
      mirrored_strategy strategy(in.runtime(), 3);
      co_await strategy.run(tell_and_merge, &with);
      co_await with.stop();
    }(w);
  });
  CHECK(report.passed());
  CHECK(report.schedules == 501);
  CHECK(report.orders > 100);
  CHECK(runs >= 501);  // The first is repeated.
}

/// What the runs of an exploration chose, and whether they were recorded.
struct noted_run {
  std::uint32_t chose;
  bool recorded;
};

/// Chooses one of 64 numbers, of which one may be wrong.
task<> choose_thrice(world& w, std::vector<noted_run>* runs, std::uint32_t wrong) {
  std::uint32_t chose = 0;
  for (int i = 0; i < 3; ++i) chose = 4 * chose + w.choose(4);
  runs->push_back({chose, footprint::wanted()});
  w.check(chose != wrong, "not this one");
  co_return;
}

exploration draw_some(std::vector<noted_run>& runs, std::uint32_t wrong) {
  auto options = drawing(1);
  options.partial_orders = true;
  options.samples = 2'000;
  return simulation(options).explore([&](world& w) { return choose_thrice(w, &runs, wrong); });
}

/// The latest number that was new in a run without a record.
std::uint32_t new_without_record(const std::vector<noted_run>& runs) {
  std::set<std::uint32_t> known;
  std::uint32_t found = 64;
  for (const auto& [chose, recorded] : runs) {
    if (known.insert(chose).second && !recorded) found = chose;
  }
  return found;
}

TEST_CASE("what is drawn again and again is recorded no more, and what is new then counts") {
  std::vector<noted_run> runs;
  const auto report = draw_some(runs, 64);
  REQUIRE(report.passed());
  CHECK(report.schedules == 2'001);
  CHECK(report.orders == 64);
  const auto is_recorded = [](const noted_run& run) { return run.recorded; };
  CHECK(std::count_if(runs.begin(), runs.end(), is_recorded) < 500);
  CHECK(new_without_record(runs) < 64);
}

TEST_CASE("what fails in a run that is not recorded is found, and fails again from its schedule") {
  std::vector<noted_run> runs;
  draw_some(runs, 64);
  const std::uint32_t wrong = new_without_record(runs);
  REQUIRE(wrong < 64);
  runs.clear();
  const auto report = draw_some(runs, wrong);
  REQUIRE(report.failure);
  CHECK(report.failure->what.find("not this one") != std::string::npos);
  const auto again = simulation(drawing(1))
                         .replay([&](world& w) { return choose_thrice(w, &runs, wrong); },
                                 report.failure->schedule);
  REQUIRE(again.failure);
  CHECK(again.failure->what == report.failure->what);
}

TEST_CASE("TROUPE_SIM_JOBS takes the place of the option, and wants a number") {
  auto options = drawing(1);
  options.heed_environment = true;
  {
    const environment two("TROUPE_SIM_JOBS", "2");
    CHECK(simulation(options).explore(rarely_wrong).failure);
  }
  const environment none("TROUPE_SIM_JOBS", "both");
  try {
    simulation(options).explore(rarely_wrong);
    FAIL("it was read");
  } catch (const error& told) {
    CHECK(told.code() == errc::invalid_schedule);
  }
}

// -- why -----------------------------------------------------------------------------------------

task<> read_then_write(replica_context ctx, int* counter) {
  co_await ctx.merge_call([] {});
  const int before = *counter;
  co_await sleep_for(std::chrono::milliseconds(1 + ctx.replica_id()));
  *counter = before + 1;
}
task<> lose_an_update(world& w) {
  int counter = 0;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(read_then_write, &counter);
  w.check(counter == 2, "both have counted");
}

task<> last_one_wins(world& w) {
  generated::keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(tell_and_merge, &with);
  co_await with.ask<generated::count>();
  co_await with.stop();
  w.check(with.kept.size() < 2 || with.kept[0] == 0, "replica 0 is first");
}

TEST_CASE("a failure names the step after which it could not be avoided any more") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore(last_one_wins);
  REQUIRE(report.failure);
  REQUIRE(report.failure->unavoidable);
  CHECK(*report.failure->unavoidable > 0);
  CHECK(*report.failure->unavoidable < report.failure->steps);
  CHECK(report.failure->unavoidable_by == "keeper/0");
  CHECK(report.text().find("\nwhy:      ") != std::string::npos);
  CHECK(report.failure->picture.find(" * ") != std::string::npos);
}

TEST_CASE("what fails whatever happens was unavoidable from the beginning") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore(lose_an_update);
  REQUIRE(report.failure);
  REQUIRE(report.failure->unavoidable);
  CHECK(*report.failure->unavoidable == 0);
  CHECK(report.text().find("unavoidable from the beginning") != std::string::npos);
}

}  // namespace
}  // namespace troupe::test
