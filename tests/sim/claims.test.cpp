// What a program says about its world: always, eventually, sometimes.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/walkers.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

using std::chrono::milliseconds;

exploration explored(const simulation::program& body) {
  simulation_options options;
  options.heed_environment = false;
  options.samples = 0;
  return simulation(options).explore(body);
}

bool says(const exploration& report, const std::string& part) {
  return report.text().find(part) != std::string::npos;
}

// -- always --------------------------------------------------------------------------------------

// The total is wrong for a moment only: a claim at the program's end would not see it.
task<> wrong_for_a_moment(replica_context ctx, std::vector<int>* total) {
  (*total)[0] += ctx.replica_id() == 0 ? 1 : -1;
  co_await ctx.merge_call([] {});
}

task<> never_negative(world& w) {
  std::vector<int> total(1);  // On the heap, gone with the program: a late look would be seen.
  w.always("not negative", [&total] { return total.at(0) >= 0; });
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(wrong_for_a_moment, &total);
}

TEST_CASE("always: what is false between two steps only fails the run, with the claim's line") {
  const auto report = explored(never_negative);
  REQUIRE(report.failure);
  CHECK(is_a<check_failed>(report.failure->exception));
  CHECK(says(report, "does not hold: not negative (claims.test.cpp:"));
  CHECK(report.schedules > 1);
}

TEST_CASE("always: what holds between all steps is proved") {
  const auto report = explored([](world& w) -> task<> {
    std::vector<int> total(1);
    w.always("at most one away", [&total] { return total.at(0) >= -1 && total.at(0) <= 1; });
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run(wrong_for_a_moment, &total);
  });
  CHECK(report.passed());
  CHECK(report.complete);
}

TEST_CASE("always: what is false when it is claimed fails at once") {
  const auto report = explored([](world& w) -> task<> {
    w.always("never", [] { return false; });
    co_return;
  });
  CHECK(report.schedules == 1);
  CHECK(says(report, "does not hold: never"));
}

TEST_CASE("always: an exception out of the predicate is the run's failure") {
  const auto report = explored([](world& w) -> task<> {
    int looks = 0;
    w.always("looked at", [&looks]() -> bool {
      if (++looks > 2) throw std::out_of_range("as planned");
      return true;
    });
    co_await sleep_for(milliseconds(1));
    co_await sleep_for(milliseconds(1));
  });
  REQUIRE(report.failure);
  CHECK(is_a<std::out_of_range>(report.failure->exception));
}

/// Ends in one of several ways, with claims over what it owns.
task<> owns_what_is_claimed(world& w, int* end) {
  const auto owned = std::make_unique<std::vector<int>>(3, 1);
  w.always("whole", [&] { return owned->size() == 3 && owned->at(2) == 1; });
  w.eventually("there", [&] { return owned->at(0) == 1; });
  // Somebody is still under way when the program is over.
  launch(w.runtime(), sleep_for(std::chrono::hours(1)), [end](std::exception_ptr) { ++*end; });
  switch (w.choose(3)) {
    case 0: co_await sleep_for(milliseconds(1)); break;
    case 1: break;
    default: co_await walk_all(w, 2, 2);
  }
}

TEST_CASE("claims over a program's own variables are not looked at once it has ended") {
  int ended = 0;
  const auto report = explored([&](world& w) { return owns_what_is_claimed(w, &ended); });
  INFO(report.text());
  CHECK(report.passed());
  CHECK(ended > 0);
}

TEST_CASE("claims over a program's own variables are not looked at once it has thrown") {
  const auto report = explored([](world& w) -> task<> {
    const auto owned = std::make_unique<std::vector<int>>(3, 1);
    w.always("whole", [&] { return owned->at(2) == 1; });
    launch(w.runtime(), sleep_for(milliseconds(5)), [](std::exception_ptr) {});
    co_await sleep_for(milliseconds(1));
    throw std::out_of_range("as planned");
  });
  REQUIRE(report.failure);
  CHECK(is_a<std::out_of_range>(report.failure->exception));
}

TEST_CASE("claims over a program's own variables outlive a deadlock's verdict") {
  const auto report = explored([](world& w) -> task<> {
    const auto owned = std::make_unique<std::vector<int>>(3, 1);
    w.always("whole", [&] { return owned->at(2) == 1; });
    w.eventually("two", [&] { return owned->at(2) == 2; });
    answer<int> never;
    const reply<int> kept = never.to();
    co_await never;
  });
  REQUIRE(report.failure);
  CHECK(is(report.failure->exception, errc::deadlock));
}

// -- eventually ----------------------------------------------------------------------------------

task<> count_up(world& w, int until) {
  int count = 0;
  w.eventually("two is reached", [&count] { return count == 2; });
  for (; count < until; ++count) co_await sleep_for(milliseconds(1));
}

TEST_CASE("eventually: what was true for a while holds at the end") {
  CHECK(explored([](world& w) { return count_up(w, 4); }).passed());
}

TEST_CASE("eventually: what was never true fails at the end, with the claim's line") {
  const auto report = explored([](world& w) { return count_up(w, 1); });
  REQUIRE(report.failure);
  CHECK(says(report, "does not hold: never: two is reached (claims.test.cpp:"));
}

TEST_CASE("eventually: what is true when it is claimed holds") {
  CHECK(explored([](world& w) -> task<> {
          w.eventually("yes", [] { return true; });
          co_return;
        }).passed());
}

TEST_CASE("eventually: what one schedule of many never meets is found") {
  const auto report = explored([](world& w) -> task<> {
    footprints* now = nullptr;
    footprints seen;
    w.eventually("somebody comes first", [&] { return now && now->front() == 1; });
    seen = co_await walk_all(w, 2, 2);
    now = &seen;
    co_await sleep_for(milliseconds(1));
  });
  REQUIRE(report.failure);
  CHECK(says(report, "never: somebody comes first"));
}

// -- sometimes -----------------------------------------------------------------------------------

TEST_CASE("sometimes: what one schedule of many meets is enough") {
  const auto report = explored([](world& w) -> task<> {
    w.sometimes("walker 1 comes first", false);
    const footprints seen = co_await walk_all(w, 2, 1);
    w.sometimes("walker 1 comes first", seen.front() == 1);
  });
  CHECK(report.passed());
  CHECK(report.never.empty());
}

TEST_CASE("sometimes: what no schedule meets fails the exploration at its end, by name") {
  const auto report = explored([](world& w) -> task<> {
    const footprints seen = co_await walk_all(w, 2, 1);
    w.sometimes("nobody walks", seen.empty());
    w.sometimes("somebody walks", !seen.empty());
  });
  CHECK_FALSE(report.passed());
  CHECK_FALSE(report.failure);
  CHECK(report.complete);
  CHECK(report.never == std::vector<std::string>{"nobody walks"});
  CHECK(says(report, "never met under " + std::to_string(report.schedules) + " schedules:"));
  CHECK(says(report, "sometimes: nobody walks"));
}

TEST_CASE("sometimes: a failure comes before what was never met") {
  const auto report = explored([](world& w) -> task<> {
    w.sometimes("never", false);
    w.check(w.choose(2) == 0, "zero");
    co_return;
  });
  CHECK(report.failure);
  CHECK(report.never.empty());
}

TEST_CASE("sometimes: a replay of one schedule asks for nothing that others were to show") {
  const simulation::program body = [](world& w) -> task<> {
    w.sometimes("one", w.choose(2) == 1);
    co_return;
  };
  simulation_options options;
  options.heed_environment = false;
  CHECK(simulation(options).replay(body, to_string(schedule())).passed());
}

}  // namespace
}  // namespace troupe::test
