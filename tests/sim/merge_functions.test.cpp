// What merge functions may do and what their results and failures mean, in every order.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <stdexcept>
#include <troupe/troupe.hpp>

#include "tests/support/census.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

int sum(const per_replica<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }

task<int> coroutine_sum(cross_replica_context, per_replica<int> values) {
  co_await sleep_for(std::chrono::milliseconds(1));
  co_return sum(values);
}

task<int> sum_in_coroutine(replica_context ctx) {
  co_return co_await ctx.merge_call(coroutine_sum, ctx.replica_id() + 1);
}

TEST_CASE("a merge function may be a coroutine that waits") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto r = co_await strategy.run(sum_in_coroutine);
    w.check(r == per_replica<int>({6, 6, 6}), "1 + 2 + 3");
  });
}

// Each level's merge function runs the next level with replicas of its own.
template <int Depth>
task<int> nested(replica_context ctx);

template <int Depth>
task<int> run_below(cross_replica_context cross, per_replica<int> values) {
  const auto below = co_await cross.run(nested<Depth - 1>);
  co_return sum(values) + sum(below);
}

template <int Depth>
task<int> nested(replica_context ctx) {
  if constexpr (Depth == 0) {
    co_return co_await ctx.merge_call(sum, 1);
  } else {
    co_return co_await ctx.merge_call(run_below<Depth>, 1);
  }
}

template <int Depth>
task<> run_nested(world& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const auto r = co_await strategy.run(nested<Depth>);
  // Every level adds its two ones and both results of the level below.
  int expected = 2;
  for (int level = 0; level < Depth; ++level) expected = 2 + 2 * expected;
  w.check(r == per_replica<int>({expected, expected}), "the same on both");
}

TEST_CASE("a run inside a merge function has replicas of its own") { explore_all(run_nested<1>); }

TEST_CASE("runs nest in merge functions two deep") { explore_all(run_nested<2>); }

TEST_CASE("runs nest in merge functions three deep") { explore_seeds(run_nested<3>, 1000); }

task<int> scatter(replica_context ctx) {
  co_return co_await ctx.merge_call(
      [](const per_replica<int>& values) {
        per_replica<int> reversed(values);
        std::reverse(reversed.begin(), reversed.end());
        return reversed;
      },
      10 * (ctx.replica_id() + 1));
}

TEST_CASE("core-073 a per_replica out of a merge function is scattered") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto r = co_await strategy.run(scatter);
    w.check(r == per_replica<int>({30, 20, 10}), "each its own component");
  });
}

struct merge_failure : std::runtime_error {
  merge_failure() : runtime_error("merge") {}
};

[[noreturn]] int failing_merge(const per_replica<int>&) { throw merge_failure(); }

task<int> failing_coroutine_merge(per_replica<int> values) {
  co_await sleep_for(std::chrono::milliseconds(1));
  if (values.size() > 0) throw merge_failure();
  co_return 0;
}

struct record {
  census bodies;
  int told = 0;
};

template <auto Merge>
task<int> let_it_escape(replica_context ctx, record* log) {
  const guest here(log->bodies);
  co_return co_await ctx.merge_call(Merge, 1);
}

template <auto Merge>
task<> expect_merge_failure(world& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  record log;
  const auto thrown = co_await outcome_of(strategy.run(let_it_escape<Merge>, &log));
  w.check(is_a<merge_failure>(thrown), "with its own type");
  w.check(log.bodies.entered == 2 && log.bodies.balanced(), "everything unwound once");
}

TEST_CASE("what a merge function throws surfaces from the run with its own type") {
  explore_all(expect_merge_failure<failing_merge>);
}

TEST_CASE("what a merge coroutine throws surfaces from the run with its own type") {
  explore_all(expect_merge_failure<failing_coroutine_merge>);
}

template <auto Merge>
task<int> note_what_comes(replica_context ctx, record* log) {
  std::exception_ptr thrown;
  try {
    static_cast<void>(co_await ctx.merge_call(Merge, 1));
  } catch (...) {
    thrown = std::current_exception();
  }
  if (is_a<merge_failure>(thrown)) ++log->told;
  if (thrown) std::rethrow_exception(thrown);
  co_return 0;
}

TEST_CASE("every replica gets what its merge function threw, though others unwind already") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    record log;
    static_cast<void>(co_await outcome_of(strategy.run(note_what_comes<failing_merge>, &log)));
    w.check(log.told == 2, "the exception itself, not a consequence");
  });
}

task<int> catch_and_go_on(replica_context ctx, record* log) {
  bool caught = false;
  try {
    static_cast<void>(co_await ctx.merge_call(failing_merge, 1));
  } catch (const merge_failure&) {
    caught = true;
  }
  if (caught) ++log->told;
  co_return co_await ctx.merge_call(sum, ctx.replica_id());
}

TEST_CASE("replicas may catch what a merge function threw and merge again") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    record log;
    const auto r = co_await strategy.run(catch_and_go_on, &log);
    w.check(log.told == 3, "all three were told");
    w.check(r == per_replica<int>({3, 3, 3}), "and the next merge is whole");
  });
}

TEST_CASE("a strategy can be used again after its merge function threw") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    record log;
    static_cast<void>(
        co_await outcome_of(strategy.run(let_it_escape<failing_coroutine_merge>, &log)));
    const auto r = co_await strategy.run(sum_in_coroutine);
    w.check(r == per_replica<int>({3, 3}), "the next run is whole");
  });
}

task<int> throw_below(replica_context ctx) {
  if (ctx.replica_id() >= 0) throw merge_failure();
  co_return 0;
}

task<int> merge_that_runs_a_failure(cross_replica_context cross, per_replica<int>) {
  const auto below = co_await cross.run(throw_below);
  co_return below[0];
}

TEST_CASE("an exception of a nested run surfaces unchanged from the outer one") {
  explore_seeds(
      [](world& w) -> task<> {
        mirrored_strategy strategy(w.runtime(), 2);
        record log;
        const auto thrown =
            co_await outcome_of(strategy.run(let_it_escape<merge_that_runs_a_failure>, &log));
        w.check(is_a<merge_failure>(thrown), "with its own type");
      },
      2000);
}

task<int> merge_inside_merge(replica_context ctx) {
  // The function is a coroutine, so that it could await the merge if it were let.
  const auto stale = [ctx](per_replica<int>) {
    return [](replica_context old) -> task<int> { co_return co_await old.merge_call(sum, 1); }(ctx);
  };
  co_return co_await ctx.merge_call(stale, 1);
}

TEST_CASE("core-080 a captured replica context is refused inside a merge function") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const auto thrown = co_await outcome_of(strategy.run(merge_inside_merge));
    w.check(is(thrown, errc::replica_required), "errc::replica_required");
  });
}

}  // namespace
}  // namespace troupe::test
