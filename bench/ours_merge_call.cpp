// ours_merge_call.cpp - a merge_call round as a user writes it, on the caller's thread or a pool.

#include <algorithm>
#include <asio/io_context.hpp>
#include <numeric>
#include <random>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

std::uint64_t sum(cross_replica_context, const per_replica<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

using met_values = task<std::uint64_t>;

/// What replica 0 measures.
struct timing {
  stopwatch watch;
  std::uint64_t rounds;
};

// Made before it is known for which replica; `timed` is null for all but 0. Counts down, so that
// its frame stays as small as it can be, as in the reference.
met_values meet(std::uint64_t rounds, timing* timed) {
  const replica_context ctx = *get_replica_context();
  const std::uint64_t value = replica_value(static_cast<std::size_t>(ctx.replica_id()));
  std::uint64_t met = 0;
  for (; rounds != 0; --rounds) {
    if (timed != nullptr && rounds == timed->rounds) {
      timed->watch.start();
    }
    const std::uint64_t merged = co_await ctx.merge_call(sum, value);
    met += merged;
  }
  if (timed != nullptr) {
    timed->watch.stop();
  }
  co_return met;
}

met_values enter(replica_context ctx, std::uint64_t rounds, timing* timed) {
  return meet(rounds, ctx.replica_id() == 0 ? timed : nullptr);
}

void expect_sums(const per_replica<std::uint64_t>& met, std::size_t replicas,
                 std::uint64_t rounds) {
  expect_equal("replicas", met.size(), replicas);
  for (const std::uint64_t each : met) {
    expect_equal("sum of sums", each, rounds * sum_of_values(replicas));
  }
}

double run_merge_calls(runtime& rt, std::size_t replicas, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  mirrored_strategy strategy{rt, static_cast<int>(replicas)};
  timing timed{{}, timed_rounds};
  expect_sums(block_on(rt, strategy.run(enter, rounds, &timed)), replicas, rounds);
  return timed.watch.nanoseconds();
}

using tasks = std::vector<met_values>;

met_values hand_out(replica_context ctx, tasks* made) {
  return std::move((*made)[static_cast<std::size_t>(ctx.replica_id())]);
}

// The frames are made one after the other and dealt out to the replicas at random.
double run_shuffled_merge_calls(std::size_t replicas, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, static_cast<int>(replicas)};
  timing timed{{}, timed_rounds};
  tasks made;
  made.push_back(meet(rounds, &timed));
  while (made.size() < replicas) made.push_back(meet(rounds, nullptr));
  std::mt19937 random(1);
  std::shuffle(made.begin() + 1, made.end(), random);
  expect_sums(block_on(rt, strategy.run(hand_out, &made)), replicas, rounds);
  return timed.watch.nanoseconds();
}

}  // namespace

void add_our_merge_call(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"troupe", [replicas](std::uint64_t rounds) {
                                  asio::io_context io(1);
                                  runtime rt{io.get_executor()};
                                  return run_merge_calls(rt, replicas, rounds);
                                }});
}

void add_our_merge_call_on_threads(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"troupe", [replicas](std::uint64_t rounds) {
                                  runtime rt{pool_size{2}};
                                  return run_merge_calls(rt, replicas, rounds);
                                }});
}

void add_our_shuffled_merge_call(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"troupe", [replicas](std::uint64_t rounds) {
                                  return run_shuffled_merge_calls(replicas, rounds);
                                }});
}

}  // namespace troupe::bench
