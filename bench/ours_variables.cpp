// ours_variables.cpp - what variables cost: a write that is a merge, a write that is none, and
// the messages of an update.

#include <algorithm>
#include <asio/io_context.hpp>
#include <cstdint>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

using weight = variable<float, sum_op>;

float sum(cross_replica_context, const per_replica<float>& values) {
  return reduce(reduce_op::sum, values);
}

// Both have one float from each replica, and add the same sum up on every replica.
task<float> merge_only(replica_context ctx, std::uint64_t rounds, stopwatch* watch) {
  float total = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (ctx.replica_id() == 0 && round == warm_up_rounds) watch->start();
    const float merged = co_await ctx.merge_call(sum, 1.0F);
    total += merged;
  }
  if (ctx.replica_id() == 0) watch->stop();
  co_return total;
}

task<float> assign_adds(replica_context ctx, weight w, std::uint64_t rounds, stopwatch* watch) {
  float total = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (ctx.replica_id() == 0 && round == warm_up_rounds) watch->start();
    const float now = co_await w.assign_add(ctx, 1.0F);
    total = now;
  }
  if (ctx.replica_id() == 0) watch->stop();
  co_return total;
}

// A float counts up to 2^24 and no further.
std::uint64_t counted(std::uint64_t rounds) {
  return std::min<std::uint64_t>(2 * rounds, std::uint64_t{1} << 24U);
}

double run_assign_adds(std::uint64_t timed, bool with_variable) {
  const std::uint64_t rounds = warm_up_rounds + timed;
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
  const weight w(strategy, 0.0F);
  stopwatch watch;
  per_replica<float> ends;
  if (with_variable) {
    ends = block_on(rt, strategy.run(assign_adds, w, rounds, &watch));
  } else {
    ends = block_on(rt, strategy.run(merge_only, rounds, &watch));
  }
  for (const float each : ends) {
    expect_equal("sum of sums", static_cast<std::uint64_t>(each), counted(rounds));
  }
  return watch.nanoseconds();
}

struct plain {
  double total = 0;
};

// The compiler must make each addition, and must not know that nobody else looks.
template <class T>
void keep(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

void add_up(replica_context ctx, sync_on_read_variable<double> total, std::uint64_t rounds,
            stopwatch* watch) {
  watch->start();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    double& now = total.assign_add(ctx, 1.0);
    keep(now);
  }
  watch->stop();
}

double run_add_up(std::uint64_t rounds) {
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 1};
  const sync_on_read_variable total(strategy, 0.0, aggregation::sum);
  stopwatch watch;
  block_on(rt, strategy.run(add_up, total, rounds, &watch));
  const double all = block_on(rt, total.read());
  expect_equal("updates", static_cast<std::uint64_t>(all), rounds);
  return watch.nanoseconds();
}

double run_plain_increment(std::uint64_t rounds) {
  plain member;
  keep(member);
  stopwatch watch;
  watch.start();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    member.total += 1.0;
    keep(member.total);
  }
  watch.stop();
  expect_equal("updates", static_cast<std::uint64_t>(member.total), rounds);
  return watch.nanoseconds();
}

void add_one(float& component) { component += 1; }

task<> update_all(cross_replica_context cross, std::vector<weight> all) {
  updates batch;
  for (const weight& w : all) batch.add(w, add_one);
  co_await cross.strategy().extended().update(std::move(batch));
}

task<> update_in_a_merge(replica_context ctx, std::vector<weight> all) {
  co_await ctx.merge_call(update_all, all);
}

/// Messages that the owner who got most has taken.
double messages_of_an_update() {
  runtime rt{pool_size{2}};
  rt.trace(1024);
  mirrored_strategy strategy{rt, 4};
  std::vector<weight> all;
  for (int i = 0; i < 100; ++i) all.emplace_back(strategy, 0.0F);
  block_on(rt, strategy.run(update_in_a_merge, all));
  for (const weight& each : all) {
    expect_equal("an updated variable", static_cast<std::uint64_t>(block_on(rt, each.read())), 1);
  }
  const recording seen = rt.traced();
  std::vector<double> taken(seen.names.size());
  for (const trace_event& e : seen.events) {
    const bool to_owner = seen.names[e.who].rfind("owner/", 0) == 0;
    if (e.kind == trace_kind::deliver && to_owner) taken[e.who] += 1;
  }
  const double most = *std::max_element(taken.begin(), taken.end());
  expect_equal("owners that got a message",
               static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), 1.0)), 1);
  return most;
}

}  // namespace

void add_our_assign_add(table& contest) {
  contest.contenders.push_back(
      {"assign_add", [](std::uint64_t rounds) { return run_assign_adds(rounds, true); }});
  contest.contenders.push_back(
      {"merge_call", [](std::uint64_t rounds) { return run_assign_adds(rounds, false); }});
}

void add_our_sync_on_read(table& contest) {
  contest.contenders.push_back({"assign_add", run_add_up});
  contest.contenders.push_back({"plain_increment", run_plain_increment});
}

void add_our_update_messages(table& contest) {
  contest.contenders.push_back({"messages", [](std::uint64_t) { return messages_of_an_update(); }});
}

}  // namespace troupe::bench
