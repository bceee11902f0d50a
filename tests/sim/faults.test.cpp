// What a world lets go wrong: crashes, stalls, delays and cancellations, wherever they could.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <system_error>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/generated_programs.hpp"
#include "tests/support/outcome.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

exploration explore_faults(const simulation::program& body) {
  simulation_options options;
  options.heed_environment = false;
  return simulation(options).explore(body);
}

exploration all_of(const simulation::program& body) {
  exploration report = explore_faults(body);
  INFO(report.text());
  REQUIRE(report.passed());
  REQUIRE(report.complete);
  return report;
}

task<int> merge_twice(replica_context ctx) {
  const auto count = [](const per_replica<int>& ones) { return static_cast<int>(ones.size()); };
  const int first = co_await ctx.merge_call(count, 1);
  co_return first + co_await ctx.merge_call(count, 1);
}

/// How a run of two replicas that merge twice ends: "4 4", or the code of what it throws.
task<std::string> how_it_ends(runtime& on, replica_order order = replica_order::concurrent) {
  mirrored_strategy strategy(on, 2);
  std::string how;
  try {
    const per_replica<int> results = co_await strategy.run(merge_twice).in_order(order);
    how = std::to_string(results[0]) + " " + std::to_string(results[1]);
  } catch (const error& told) {
    how = tag_of(static_cast<errc>(told.code().value()));
  }
  co_return how;
}

/// All ends that there are with these faults.
std::set<std::string> ends_with(const fault_budget& faults,
                                replica_order order = replica_order::concurrent) {
  std::set<std::string> ends;
  all_of([&](world& w) {
    return [](world& in, const fault_budget* what, replica_order how,
              std::set<std::string>* into) -> task<> {
      in.faults(*what);
      into->insert(co_await how_it_ends(in.runtime(), how));
    }(w, &faults, order, &ends);
  });
  return ends;
}

TEST_CASE("without a budget nothing goes wrong") {
  CHECK(ends_with(fault_budget()) == std::set<std::string>{"4 4"});
}

TEST_CASE("a replica may crash before each of its steps, and its run ends with that") {
  CHECK(ends_with(fault_budget().crashes(1)) == std::set<std::string>{"4 4", "TR-404"});
}

TEST_CASE("replicas that take turns may crash, too") {
  CHECK(ends_with(fault_budget().crashes(1), replica_order::one_by_one) ==
        std::set<std::string>{"4 4", "TR-404"});
}

TEST_CASE("every place where a replica can crash is tried") {
  std::set<std::string> crashed;
  all_of([&](world& w) {
    return [](world& in, std::set<std::string>* into) -> task<> {
      in.faults(fault_budget().crashes(1));
      mirrored_strategy strategy(in.runtime(), 2);
      try {
        co_await strategy.run(merge_twice);
      } catch (const error& told) {
        const std::string what = told.what();
        into->insert(what.substr(0, what.find(", as the world")));
      }
    }(w, &crashed);
  });
  CHECK(crashed.size() == 3);  // Before it begins, at the first merge, at the second one.
}

TEST_CASE("the frame of a crashed replica is destroyed, and nothing in it catches the crash") {
  all_of([](world& w) -> task<> {
    w.faults(fault_budget().crashes(2));
    int alive = 0;
    bool caught = false;
    mirrored_strategy strategy(w.runtime(), 2);
    bool failed = false;
    try {
      co_await strategy.run(
          [](replica_context ctx, int* count, bool* any) -> task<> {
            struct census {
              explicit census(int* c) : count(c) { ++*count; }
              ~census() { --*count; }
              int* count;
            } const here(count);
            try {
              co_await ctx.merge_call([] {});
            } catch (const error& told) {
              *any = *any || told.code() == errc::injected_fault;
              throw;
            }
          },
          &alive, &caught);
    } catch (const error&) {
      failed = true;
    }
    w.check(alive == 0, "all frames are gone");
    w.check(!caught, "a crash is not caught");
    w.sometimes("a crash", failed);
  });
}

TEST_CASE("a run whose replicas may be cancelled ends whole or as cancelled") {
  CHECK(ends_with(fault_budget().cancellations(1)) == std::set<std::string>{"4 4", "TR-103"});
  CHECK(ends_with(fault_budget().cancellations(1), replica_order::one_by_one) ==
        std::set<std::string>{"4 4", "TR-103"});
}

TEST_CASE("a stalled replica comes after every time-out") {
  all_of([](world& w) -> task<> {
    w.faults(fault_budget().stalls(1));
    const auto begin = w.now();
    const std::string how = co_await how_it_ends(w.runtime());
    w.check(how == "4 4", "a stall is no failure");
    const auto taken = w.now() - begin;
    w.check(taken == 0ns || taken == 24h, "it takes as long as the stall lasts");
    w.sometimes("a stall", taken == 24h);
    w.sometimes("no stall", taken == 0ns);
  });
}

TEST_CASE("a delayed message stays behind those that its sender sent before, and before the rest") {
  std::set<std::vector<int>> seen;
  all_of([&](world& w) {
    return [](world& in, std::set<std::vector<int>>* into) -> task<> {
      in.faults(fault_budget().delays(1).lasting(1ms));
      generated::keeper with(in.runtime());
      mirrored_strategy strategy(in.runtime(), 2);
      co_await strategy.run(
          [](replica_context ctx, generated::keeper* to) -> task<> {
            to->tell(generated::number(10 * ctx.replica_id()));
            to->tell(generated::number(10 * ctx.replica_id() + 1));
            co_return;
          },
          &with);
      co_await sleep_for(2ms);
      co_await with.stop();
      into->insert(with.kept);
    }(w, &seen);
  });
  CHECK(seen.size() == 6);
  for (const auto& order : seen) {
    REQUIRE(order.size() == 4);
    CHECK(std::find(order.begin(), order.end(), 0) < std::find(order.begin(), order.end(), 1));
    CHECK(std::find(order.begin(), order.end(), 10) < std::find(order.begin(), order.end(), 11));
  }
}

TEST_CASE("a world that is healed suffers nothing any more, and what was late comes at once") {
  all_of([](world& w) -> task<> {
    w.faults(fault_budget().crashes(1).stalls(1));
    bool failed = false;
    try {
      mirrored_strategy strategy(w.runtime(), 2);
      co_await strategy.run(merge_twice);
    } catch (const error&) {
      failed = true;
    }
    w.heal();
    const auto then = w.now();
    w.check(co_await how_it_ends(w.runtime()) == "4 4", "the next run is whole");
    w.check(w.now() == then, "and nobody is late in it");
    w.sometimes("it had failed before", failed);
  });
}

TEST_CASE("a healed world that gets nowhere is errc::too_long") {
  const auto report = explore_faults([](world& w) -> task<> {
    w.faults(fault_budget().stalls(1));
    w.heal(50);
    for (;;) co_await sleep_for(1ms);
  });
  REQUIRE(report.failure);
  const auto told = as<error>(report.failure->exception);
  REQUIRE(told);
  CHECK(told->code() == errc::too_long);
  CHECK(std::string(told->what()).find("after world::heal()") != std::string::npos);
}

// -- a program that does not live with a fault --------------------------------------------------

task<> give_up_early(world& w) {
  w.faults(fault_budget().stalls(2));
  const auto begin = w.now();
  co_await how_it_ends(w.runtime());
  w.check(w.now() - begin < 1s, "two replicas need no second");
}

TEST_CASE("a failure is shrunk to the faults it needs, and replays") {
  const auto report = explore_faults(give_up_early);
  REQUIRE(report.failure);
  CHECK(parse_schedule(report.failure->schedule).deviations.size() == 1);
  simulation_options options;
  options.heed_environment = false;
  const auto again = simulation(options).replay(give_up_early, report.failure->schedule);
  REQUIRE(again.failure);
  CHECK(again.failure->what == report.failure->what);
}

TEST_CASE("a picture shows each fault in the column of whom it strikes") {
  const auto report = explore_faults(give_up_early);
  REQUIRE(report.failure);
  INFO(report.failure->picture);
  CHECK(report.failure->picture.find("STALL") != std::string::npos);
}

// -- time-outs that end early --------------------------------------------------------------------

task<> wait_or_give_up(world& w) {
  generated::keeper slow(w.runtime());
  bool late = false;
  co_await when_all(
      [](generated::keeper* of) -> task<> { co_await of->ask<generated::count>(); }(&slow),
      [](bool* gave_up) -> task<> {
        co_await sleep_for(1h);
        *gave_up = true;
      }(&late));
  co_await slow.stop();
  w.sometimes("it was late", late);
}

task<> ask_with_an_hour(world& w) {
  generated::keeper slow(w.runtime());
  bool answered = false;
  bool in_time = false;
  co_await when_all(
      [](generated::keeper* of, bool* done) -> task<> {
        co_await of->ask<generated::count>();
        *done = true;
      }(&slow, &answered),
      [](bool* done, bool* noted) -> task<> {
        co_await sleep_for(1h);
        *noted = *done;
      }(&answered, &in_time));
  co_await slow.stop();
  w.check(in_time, "an answer takes less than an hour");
}

TEST_CASE("a time-out ends early only where that is asked for") {
  all_of(wait_or_give_up);
  all_of(ask_with_an_hour);
  simulation_options options;
  options.heed_environment = false;
  options.early_timeouts = 1;
  const auto report = simulation(options).explore(ask_with_an_hour);
  REQUIRE(report.failure);
  const auto again = simulation(options).replay(ask_with_an_hour, report.failure->schedule);
  REQUIRE(again.failure);
  CHECK(again.failure->what == report.failure->what);
}

}  // namespace
}  // namespace troupe::test
