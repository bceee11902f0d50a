// The walk of the seed's program, under every schedule there is.
//
// Counts: all that a run leaves open is which of n replicas enters first, and, after each
// of m merges, which goes on first. That makes (n!)^(m + 1) schedules: an actor that steps
// once more, or one choice that is hidden, changes the number.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <numeric>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"

namespace troupe::test {
namespace {

int sum(cross_replica_context, const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

task<int> step(replica_context ctx, int three) {
  const int v = three + ctx.replica_id();
  const int s = co_await ctx.merge_call(sum, v);
  co_return s + v;
}

std::uint64_t schedules_of(int replicas, int merges) {
  std::uint64_t orders = 1;
  for (int i = 2; i <= replicas; ++i) orders *= static_cast<std::uint64_t>(i);
  std::uint64_t all = 1;
  for (int round = 0; round <= merges; ++round) all *= orders;
  return all;
}

template <int N>
task<> seed_program(world& w) {
  mirrored_strategy strategy(w.runtime(), N);
  const auto r = co_await strategy.run(step, 3);
  const int total = 3 * N + N * (N - 1) / 2;
  for (int i = 0; i < N; ++i) w.check(r[i] == total + 3 + i, "sum + v on every replica");
}

TEST_CASE("the seed's program gives 10 and 11 under every schedule of two replicas") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const auto r = co_await strategy.run(step, 3);
    w.check(r == per_replica<int>({10, 11}), "10 and 11");
  });
}

TEST_CASE("two replicas and one merge have four schedules") {
  CHECK(explore_all(seed_program<2>).schedules == schedules_of(2, 1));
}

TEST_CASE("three replicas and one merge have 36 schedules") {
  CHECK(explore_all(seed_program<3>).schedules == schedules_of(3, 1));
}

TEST_CASE("four replicas and one merge have 576 schedules") {
  CHECK(explore_all(seed_program<4>).schedules == schedules_of(4, 1));
}

TEST_CASE("the number of schedules does not depend on the number of lines") {
  simulation_options one_line;
  one_line.lines = 1;
  CHECK(explore_all(seed_program<3>, one_line).schedules == schedules_of(3, 1));
}

task<int> two_merges(replica_context ctx) {
  const int first = co_await ctx.merge_call(sum, ctx.replica_id());
  co_return co_await ctx.merge_call(sum, first);
}

TEST_CASE("three replicas and two merges have 216 schedules") {
  const auto report = explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto r = co_await strategy.run(two_merges);
    w.check(r == per_replica<int>({9, 9, 9}), "3 times 0 + 1 + 2");
  });
  CHECK(report.schedules == schedules_of(3, 2));
}

TEST_CASE("plain replica functions have n! schedules") {
  const auto report = explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 4);
    const auto r = co_await strategy.run([](replica_context ctx) { return ctx.replica_id(); });
    w.check(r == per_replica<int>({0, 1, 2, 3}), "ids in order");
  });
  CHECK(report.schedules == schedules_of(4, 0));
}

// Notes the order in which replicas arrive, which must leave no mark on anything.
struct arrivals {
  std::vector<int> order;
};

task<std::vector<int>> arrive_and_gather(replica_context ctx, arrivals* log) {
  log->order.push_back(ctx.replica_id());
  co_return co_await ctx.merge_call(
      [](const per_replica<int>& ids) { return std::vector<int>(ids.begin(), ids.end()); },
      ctx.replica_id());
}

TEST_CASE("arguments of a merge function are in replica order whoever arrives first") {
  bool some_other_order = false;
  explore_all([&](world& w) {
    return [](world& v, bool* other) -> task<> {
      arrivals log;
      mirrored_strategy strategy(v.runtime(), 3);
      const auto gathered = co_await strategy.run(arrive_and_gather, &log);
      for (const auto& ids : gathered) {
        v.check(ids == std::vector<int>({0, 1, 2}), "gathered in replica order");
      }
      if (log.order != std::vector<int>({0, 1, 2})) *other = true;
    }(w, &some_other_order);
  });
  CHECK(some_other_order);
}

task<double> cancelling_sum(replica_context ctx) {
  const std::array<double, 3> values = {1e16, 1, -1e16};
  co_return co_await ctx.all_reduce(reduce_op::sum,
                                    values[static_cast<std::size_t>(ctx.replica_id())]);
}

TEST_CASE("a sum has the same bits under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto r = co_await strategy.run(cancelling_sum);
    const double in_replica_order = (1e16 + 1.0) + -1e16;
    w.check(r == per_replica<double>({in_replica_order, in_replica_order, in_replica_order}),
            "added up in replica order");
  });
}

task<> count_one_merge(replica_context ctx, int* calls) {
  const auto count = [calls] { ++*calls; };
  co_await ctx.merge_call(count);
}

TEST_CASE("a merge function runs once") {
  explore_all([](world& w) -> task<> {
    int calls = 0;
    mirrored_strategy strategy(w.runtime(), 3);
    co_await strategy.run(count_one_merge, &calls);
    w.check(calls == 1, "once for three replicas");
  });
}

task<bool> context_of_merge(replica_context ctx) {
  const bool cross = co_await ctx.merge_call([](cross_replica_context merged) {
    return !get_replica_context() && in_cross_replica_context() &&
           &get_strategy() == &merged.strategy() && merged.num_replicas_in_sync() == 3;
  });
  // And back: the replica's own context again.
  const auto mine = get_replica_context();
  co_return cross&& mine && mine->replica_id() == ctx.replica_id();
}

TEST_CASE("core-004 inside a merge function there is no replica context") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto right = co_await strategy.run(context_of_merge);
    w.check(right == per_replica<bool>({true, true, true}), "right contexts");
  });
}

TEST_CASE("the seed's program holds for eight replicas under seeded schedules") {
  explore_seeds(seed_program<8>, 500);
}

}  // namespace
}  // namespace troupe::test
