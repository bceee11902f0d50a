// Replicas that do not meet at the same merge: each is told so at once, with every place.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/census.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

int first_of(const per_replica<int>& values) { return values[0]; }
int second_of(const per_replica<int>& values) { return values[1]; }
float first_float(const per_replica<float>& values) { return values[0]; }

/// What the replicas of a run were told, and what the run threw.
struct verdicts {
  census bodies;
  std::vector<std::exception_ptr> told;
  std::exception_ptr run;
};

template <class F>
task<verdicts> diverge(world& w, F body, int replicas, mirrored_options options = {}) {
  mirrored_strategy strategy(w.runtime(), replicas, options);
  verdicts seen;
  seen.told.resize(static_cast<std::size_t>(replicas));
  seen.run = co_await outcome_of(strategy.run(body, &seen));
  w.check(seen.bodies.balanced(), "everything unwound once");
  co_return seen;
}

task<> note(replica_context ctx, verdicts* seen, std::exception_ptr thrown) {
  seen->told[static_cast<std::size_t>(ctx.replica_id())] = thrown;
  if (thrown) std::rethrow_exception(thrown);
  co_return;
}

// -- different merges ---------------------------------------------------------------------

task<> at_different_places(replica_context ctx, verdicts* seen) {
  const guest here(seen->bodies);
  std::exception_ptr thrown;
  try {
    if (ctx.replica_id() == 0) {
      static_cast<void>(co_await ctx.merge_call(first_of, 1));
    } else {
      static_cast<void>(co_await ctx.merge_call(first_of, 1));
    }
  } catch (...) {
    thrown = std::current_exception();
  }
  co_await note(ctx, seen, thrown);
}

task<int> merge_even(replica_context ctx) { co_return co_await ctx.merge_call(first_of, 1); }
task<int> merge_odd(replica_context ctx) { co_return co_await ctx.merge_call(first_of, 1); }

task<> in_different_functions(replica_context ctx, verdicts* seen) {
  const guest here(seen->bodies);
  task<int> mine = ctx.replica_id() == 0 ? merge_even(ctx) : merge_odd(ctx);
  co_await note(ctx, seen, co_await outcome_of(std::move(mine)));
}

task<> with_different_functions(replica_context ctx, verdicts* seen) {
  const guest here(seen->bodies);
  const auto mine = ctx.replica_id() == 1 ? &second_of : &first_of;
  co_await note(ctx, seen, co_await outcome_of(ctx.merge_call(mine, 1)));
}

template <class F, class T>
task<> typed_merge(replica_context ctx, F fn, T value) {
  static_cast<void>(co_await ctx.merge_call(fn, value));
}

task<> with_different_types(replica_context ctx, verdicts* seen) {
  const guest here(seen->bodies);
  task<> mine = typed_merge(ctx, &first_of, 1);
  if (ctx.replica_id() == 1) mine = typed_merge(ctx, &first_float, 1.0f);
  co_await note(ctx, seen, co_await outcome_of(std::move(mine)));
}

template <auto Body, int Replicas>
task<> expect_mismatch(world& w) {
  const verdicts seen = co_await diverge(w, Body, Replicas);
  w.check(is(seen.run, errc::merge_mismatch), "the run is told");
  for (const auto& each : seen.told) {
    w.check(is(each, errc::merge_mismatch), "and every replica");
  }
}

TEST_CASE("merges at different places are a mismatch for everybody") {
  explore_all(expect_mismatch<at_different_places, 2>);
}

TEST_CASE("merges in different functions are a mismatch for everybody") {
  explore_all(expect_mismatch<in_different_functions, 2>);
}

TEST_CASE("merges of different functions at one place are a mismatch for everybody") {
  explore_all(expect_mismatch<with_different_functions, 2>);
}

TEST_CASE("merges of different types at one place are a mismatch for everybody") {
  explore_all(expect_mismatch<with_different_types, 2>);
}

TEST_CASE("one replica of three at another merge is a mismatch for everybody") {
  explore_seeds(expect_mismatch<with_different_functions, 3>, 1000);
}

TEST_CASE("a mismatch names the place of every replica") {
  explore_all([](world& w) -> task<> {
    const verdicts seen = co_await diverge(w, in_different_functions, 2);
    const auto told = as<error>(seen.run);
    w.check(told && told->replicas().size() == 2, "both replicas");
    const auto& places = told->replicas();
    for (const auto& p : places) {
      w.check(p.is == replica_place::state::waiting && p.at.line() != 0, "waits somewhere");
      w.check(std::string(p.at.file_name()) == __FILE__, "in this file");
    }
    w.check(!same_place(places[0].at, places[1].at), "at different places");
    w.check(told->merges_agreed() == 0, "no merge agreed before");
    w.check(!told->fix().empty(), "with a fix");
  });
}

constexpr mirrored_options by_count{.check = merge_check::count};

TEST_CASE("core-076 under merge_check::count replica 0's function runs, once") {
  explore_all([](world& w) -> task<> {
    const verdicts seen = co_await diverge(w, with_different_functions, 2, by_count);
    w.check(!seen.run && !seen.told[0] && !seen.told[1], "no mismatch");
  });
}

task<int> pick(replica_context ctx) {
  const auto mine = ctx.replica_id() == 1 ? &second_of : &first_of;
  co_return co_await ctx.merge_call(mine, 10 + ctx.replica_id());
}

TEST_CASE("core-076 under merge_check::count everybody gets what replica 0's function returns") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2, by_count);
    const auto r = co_await strategy.run(pick);
    w.check(r == per_replica<int>({10, 10}), "the first's value");
  });
}

TEST_CASE("core-078 under merge_check::count types must still agree") {
  explore_all([](world& w) -> task<> {
    const verdicts seen = co_await diverge(w, with_different_types, 2, by_count);
    w.check(is(seen.run, errc::merge_mismatch), "arguments of other types cannot be merged");
  });
}

// -- a replica that never comes -------------------------------------------------------------

template <int Before>
task<> return_early(replica_context ctx, verdicts* seen) {
  const guest here(seen->bodies);
  for (int i = 0; i < Before; ++i) static_cast<void>(co_await ctx.merge_call(first_of, i));
  if (ctx.replica_id() == 1) co_return;
  co_await note(ctx, seen, co_await outcome_of(ctx.merge_call(first_of, 1)));
}

template <int Before, int Replicas>
task<> expect_missing(world& w) {
  const verdicts seen = co_await diverge(w, return_early<Before>, Replicas);
  const auto told = as<error>(seen.run);
  w.check(told && told->code() == errc::missing_replica, "the run is told");
  w.check(is(seen.told[0], errc::missing_replica), "and who waited");
  w.check(told->replicas().size() == static_cast<std::size_t>(Replicas), "of all replicas");
  w.check(told->replicas()[1].is == replica_place::state::finished, "replica 1 has finished");
  w.check(told->merges_agreed() == Before, "after that many merges");
  w.check((told->last_agreed().line() != 0) == (Before > 0), "the last at a line");
}

TEST_CASE("core-060 a replica that merges less often is an error for those who wait") {
  explore_all(expect_missing<0, 2>);
}

TEST_CASE("core-060 a replica that merges once less is an error for those who wait") {
  explore_all(expect_missing<1, 2>);
}

TEST_CASE("one of three replicas that never arrives is an error for both others") {
  explore_seeds(expect_missing<1, 3>, 2000);
}

TEST_CASE("a missing replica is noticed while the other is still busy elsewhere") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto thrown = co_await outcome_of(strategy.run([](replica_context ctx) -> task<> {
      if (ctx.replica_id() == 0) co_await sleep_for(std::chrono::hours(1));
      if (ctx.replica_id() < 2) static_cast<void>(co_await ctx.merge_call(first_of, 1));
    }));
    w.check(is(thrown, errc::missing_replica), "errc::missing_replica");
    w.check(w.now() == std::chrono::hours(0), "at once, not when the sleeper comes");
  });
}

task<> swallow(replica_context ctx, verdicts*) {
  if (ctx.replica_id() == 1) co_return;
  static_cast<void>(co_await outcome_of(ctx.merge_call(first_of, 1)));
}

TEST_CASE("a replica that swallows the verdict does not make its run succeed") {
  explore_all([](world& w) -> task<> {
    const verdicts seen = co_await diverge(w, swallow, 2);
    w.check(is(seen.run, errc::missing_replica), "the run still fails");
  });
}

task<> insist(replica_context ctx, verdicts* seen) {
  if (ctx.replica_id() == 1) co_return;
  for (int i = 0; i < 3; ++i) {
    seen->told.push_back(co_await outcome_of(ctx.merge_call(first_of, i)));
  }
}

TEST_CASE("after the verdict every later merge fails with it, too") {
  explore_all([](world& w) -> task<> {
    const verdicts seen = co_await diverge(w, insist, 2);
    w.check(seen.told.size() == 5, "three times");
    for (std::size_t i = 2; i < 5; ++i) {
      w.check(is(seen.told[i], errc::missing_replica), "the verdict");
    }
  });
}

TEST_CASE("a strategy can be used again after a divergence") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    verdicts seen;
    seen.told.resize(2);
    static_cast<void>(co_await outcome_of(strategy.run(return_early<0>, &seen)));
    const auto r = co_await strategy.run(merge_even);
    w.check(r == per_replica<int>({1, 1}), "the next run is whole");
  });
}

}  // namespace
}  // namespace troupe::test
