// replica_order::one_by_one: replicas run in turn, and what that means for those that fail or
// are not reached. The journal they share has one text under every schedule.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/turns.hpp"

namespace troupe::test {
namespace {

using std::chrono::milliseconds;

task<> compare(world* w, int replicas, turn_plan p, std::string ends, std::string journal) {
  mirrored_strategy strategy(w->runtime(), replicas, in_turns);
  for (int i = 0; i < 2; ++i) {
    turn_plan mine = p;
    const auto thrown = co_await outcome_of(strategy.run(in_turn, &mine));
    const std::string seen = thrown ? told(thrown) : "";
    w->check(seen == ends, "ends with: " + seen);
    w->check(mine.journal == journal, "goes: " + mine.journal);
  }
  turn_plan good;
  static_cast<void>(co_await strategy.run(in_turn, &good));
  w->check(good.journal.ends_with(std::to_string(replicas - 1) + "-"), "the next run is whole");
}

/// Requires that a run goes exactly so: how it ends, and its journal. It can be repeated, and the
/// run after that is whole.
void expect(int replicas, const turn_plan& p, const std::string& ends, const std::string& journal) {
  explore_lines([&](world& w) { return compare(&w, replicas, p, ends, journal); });
}

// -- whose turn it is -----------------------------------------------------------------------------

TEST_CASE("a replica that is alone runs from merge to merge") {
  expect(1, {.merges = 2}, "", "0+ m 0. m 0. 0-");
}

TEST_CASE("what replica 0 does in a round comes before what replica 1 does") {
  expect(2, {.merges = 2}, "", "0+ 1+ m 0. 1. m 0. 0- 1. 1-");
}

TEST_CASE("three replicas take turns by id in every round") {
  expect(3, {.merges = 2}, "", "0+ 1+ 2+ m 0. 1. 2. m 0. 0- 1. 1- 2. 2-");
}

TEST_CASE("replicas that never merge run one after the other") {
  expect(3, {.merges = 0}, "", "0+ 0- 1+ 1- 2+ 2-");
}

task<> one_run_in_turn(world* w) {
  mirrored_strategy strategy(w->runtime(), 3);
  turn_plan p{.merges = 1};
  co_await strategy.run(in_turn, &p).in_order(replica_order::one_by_one);
  w->check(p.journal == "0+ 1+ 2+ m 0. 0- 1. 1- 2. 2-", "goes: " + p.journal);
}

TEST_CASE("one run of a strategy whose replicas are concurrent may be in turn") {
  explore_lines([](world& w) { return one_run_in_turn(&w); });
}

TEST_CASE("nobody runs while the one whose turn it is sleeps") {
  expect(3, {.merges = 1, .sleep = milliseconds(5)}, "", "0+ 0z 1+ 1z 2+ 2z m 0. 0- 1. 1- 2. 2-");
}

TEST_CASE("sleeps of replicas that take turns add up") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3, in_turns);
    turn_plan p{.merges = 2, .sleep = milliseconds(1)};
    static_cast<void>(co_await strategy.run(in_turn, &p));
    w.check(w.now() == milliseconds(2 * (3 + 2 + 1)), "in both rounds");
  });
}

int twice(int x) { return 2 * x; }

TEST_CASE("plain functions run in turn and their results are in order") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3, in_turns);
    const per_replica<int> values = {1, 2, 3};
    const auto results = co_await strategy.run(twice, values);
    w.check(results == per_replica<int>({2, 4, 6}), "twice the values");
  });
}

task<int> run_inside(cross_replica_context cross, turn_plan* p) {
  const auto below = co_await cross.run(in_turn, p);
  co_return below[0];
}

task<int> merge_around_a_run(replica_context ctx, turn_plan* p) {
  const auto merge_fn = [p](cross_replica_context cross) { return run_inside(cross, p); };
  co_return co_await ctx.merge_call(merge_fn);
}

TEST_CASE("a run inside a merge function goes by the same order") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2, in_turns);
    turn_plan p;
    static_cast<void>(co_await strategy.run(merge_around_a_run, &p));
    w.check(p.journal == "0+ 1+ m 0. 0- 1. 1-", p.journal);
  });
}

// -- failures -------------------------------------------------------------------------------------

TEST_CASE("core-057 replica 0 throws before any merge and replica 1 is never entered") {
  expect(2, {.fails = 0}, "replica 0", "0+ 0-");
  expect(3, {.fails = 0}, "replica 0", "0+ 0-");
}

TEST_CASE("core-058 replica 1 throws while replica 0 waits, which is unwound without a merge") {
  expect(2, {.fails = 1}, "replica 1", "0+ 1+ 1- 0!TR-102 0-");
}

TEST_CASE("replicas behind the one that throws are not entered") {
  expect(3, {.fails = 1}, "replica 1", "0+ 1+ 1- 0!TR-102 0-");
}

TEST_CASE("those who waited for the last replica are unwound by id") {
  expect(3, {.fails = 2}, "replica 2", "0+ 1+ 2+ 2- 0!TR-102 0- 1!TR-102 1-");
}

TEST_CASE("a merge throws the verdict where a replica before had failed since") {
  expect(3, {.merges = 2, .fails = 0, .after = 1}, "replica 0",
         "0+ 1+ 2+ m 0. 0- 1!TR-102 1- 2!TR-102 2-");
  expect(3, {.merges = 2, .fails = 1, .after = 1}, "replica 1",
         "0+ 1+ 2+ m 0. 1. 1- 0!TR-102 0- 2!TR-102 2-");
}

TEST_CASE("a replica that throws at its end stops those after it, too") {
  expect(3, {.fails = 1, .after = 1}, "replica 1", "0+ 1+ 2+ m 0. 0- 1. 1- 2!TR-102 2-");
}

TEST_CASE("a replica that throws when others have finished is all there is to tell") {
  expect(2, {.merges = 0, .fails = 1}, "replica 1", "0+ 0- 1+ 1-");
}

TEST_CASE("what a merge function throws ends replica 0 and is what the run throws") {
  expect(2, {.merge_throws = true}, "replica 9", "0+ 1+ m 0!replica 9 0- 1!TR-102 1-");
}

task<> sleep_over_the_verdict(replica_context ctx) {
  if (ctx.replica_id() == 2) throw own_failure(2);
  static_cast<void>(co_await outcome_of(ctx.merge_call([] {})));
  co_await sleep_for(std::chrono::hours(1));
}

TEST_CASE("a replica that is unwound cannot hold up the next one any more") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3, in_turns);
    const auto thrown = co_await outcome_of(strategy.run(sleep_over_the_verdict));
    w.check(is_a<own_failure>(thrown), "the failure surfaces");
    w.check(w.now() < std::chrono::hours(1), "and nobody slept");
  });
}

TEST_CASE("the picture of a failure says who had not begun") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3, in_turns);
    turn_plan p{.fails = 1};
    static_cast<void>(co_await outcome_of(strategy.run(in_turn, &p)));
    const auto report = strategy.last_failure();
    w.check(report && report->replicas().size() == 3, "there is one of all replicas");
    const auto& places = report->replicas();
    w.check(places[0].is == replica_place::state::waiting, "replica 0 waits");
    w.check(places[1].is == replica_place::state::failed, "replica 1 failed");
    w.check(places[2].doing == "has not begun", "replica 2 has not begun");
  });
}

// -- divergence -----------------------------------------------------------------------------------

TEST_CASE("a replica that returns while others merge is an error when the round is complete") {
  expect(2, {.returns = 0}, "TR-101", "0+ 0- 1+ 1!TR-101 1-");
  expect(2, {.returns = 1}, "TR-101", "0+ 1+ 1- 0!TR-101 0-");
  expect(3, {.merges = 2, .returns = 1, .after = 1}, "TR-101",
         "0+ 1+ 2+ m 0. 1. 1- 2. 0!TR-101 0- 2!TR-101 2-");
}

task<> merge_elsewhere(replica_context ctx) {
  if (ctx.replica_id() == 0) {
    co_await ctx.merge_call([] {});
  } else {
    co_await ctx.merge_call([] {});
  }
}

TEST_CASE("merges at different places are a mismatch in turns, too") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2, in_turns);
    const auto thrown = co_await outcome_of(strategy.run(merge_elsewhere));
    w.check(is(thrown, errc::merge_mismatch), "errc::merge_mismatch");
  });
}

}  // namespace
}  // namespace troupe::test
