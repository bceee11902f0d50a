// ours_wake_ups.cpp - how often merge_call wakes the threads of a pool.

#include <sys/resource.h>

#include <troupe/troupe.hpp>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

constexpr std::size_t threads = 2;
constexpr std::uint64_t rounds = 2'000;

std::uint64_t count(cross_replica_context, const per_replica<std::uint64_t>& values) {
  return values.size();
}

task<std::uint64_t> meet(replica_context ctx) {
  std::uint64_t met = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::uint64_t merged = co_await ctx.merge_call(count, round);
    met += merged;
  }
  co_return met;
}

struct wake_up_counts {
  double counted_by_runtime = 0;
  double sleeps_seen_by_system = 0;
};

std::uint64_t sleeps_so_far() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_nvcsw);
}

// Per thread and round. The system's count is a witness: a thread that is woken has slept before.
wake_up_counts count_wake_ups(std::size_t replicas) {
  runtime rt{pool_size{threads}};
  mirrored_strategy strategy{rt, static_cast<int>(replicas)};
  const std::uint64_t wake_ups_before = rt.wake_ups();
  const std::uint64_t sleeps_before = sleeps_so_far();
  const per_replica<std::uint64_t> met = block_on(rt, strategy.run(meet));
  const std::uint64_t wake_ups = rt.wake_ups() - wake_ups_before;
  const std::uint64_t sleeps = sleeps_so_far() - sleeps_before;
  expect_equal("replicas", met.size(), replicas);
  for (const std::uint64_t each : met) {
    expect_equal("values met", each, rounds * replicas);
  }
  constexpr auto thread_rounds = static_cast<double>(threads * rounds);
  return {static_cast<double>(wake_ups) / thread_rounds,
          static_cast<double>(sleeps) / thread_rounds};
}

}  // namespace

void add_our_wake_ups(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"troupe", [replicas](std::uint64_t) {
                                  return count_wake_ups(replicas).counted_by_runtime;
                                }});
  contest.contenders.push_back({"sleeps_seen_by_the_system", [replicas](std::uint64_t) {
                                  return count_wake_ups(replicas).sleeps_seen_by_system;
                                }});
}

}  // namespace troupe::bench
