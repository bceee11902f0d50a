// ours_merge_call.cpp - a merge_call round as a user writes it, on the caller's thread.

#include <asio/io_context.hpp>
#include <numeric>
#include <troupe/troupe.hpp>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

std::uint64_t sum(cross_replica_context, const per_replica<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

task<std::uint64_t> meet(replica_context ctx, std::uint64_t rounds, stopwatch* watch) {
  const auto id = static_cast<std::size_t>(ctx.replica_id());
  const std::uint64_t value = replica_value(id);
  std::uint64_t met = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (id == 0 && round == warm_up_rounds) {
      watch->start();
    }
    const std::uint64_t merged = co_await ctx.merge_call(sum, value);
    met += merged;
  }
  if (id == 0) {
    watch->stop();
  }
  co_return met;
}

double run_merge_calls(std::size_t replicas, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, static_cast<int>(replicas)};
  stopwatch watch;
  const per_replica<std::uint64_t> met = block_on(rt, strategy.run(meet, rounds, &watch));
  expect_equal("replicas", met.size(), replicas);
  for (const std::uint64_t each : met) {
    expect_equal("sum of sums", each, rounds * sum_of_values(replicas));
  }
  return watch.nanoseconds();
}

}  // namespace

void add_our_merge_call(table& contest, std::size_t replicas) {
  contest.contenders.push_back(
      {"troupe", [replicas](std::uint64_t rounds) { return run_merge_calls(replicas, rounds); }});
}

}  // namespace troupe::bench
