// random_schedules.cpp - see random_schedules.hpp.

#include "bench/simulation/random_schedules.hpp"

#include <bitset>
#include <cstddef>
#include <numeric>
#include <troupe/troupe.hpp>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

namespace {

constexpr int replicas = 3;
constexpr int merges = 2;

/// What the runs of a sample leave behind.
struct tally {
  std::uint64_t runs = 0;     // Begun.
  std::uint64_t sums = 0;     // Of all replicas, merges and runs.
  std::size_t arrivals = 0;   // Of the run under way: a digit for each, base `replicas`.
  std::bitset<729> orders{};  // All values of `arrivals`: 3 to the power of 3 x 2.
};

std::uint64_t sum(cross_replica_context, const per_replica<std::uint64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

task<> merge_twice(replica_context ctx, tally* all) {
  const auto id = static_cast<std::size_t>(ctx.replica_id());
  for (int round = 0; round < merges; ++round) {
    all->arrivals = all->arrivals * replicas + id;
    const std::uint64_t value = 3 + id;
    const std::uint64_t merged = co_await ctx.merge_call(sum, value);
    all->sums += merged;
  }
}

task<> three_by_two(world& w, tally* all) {
  ++all->runs;
  all->arrivals = 0;
  mirrored_strategy strategy(w.runtime(), replicas);
  co_await strategy.run(merge_twice, all);
  all->orders.set(all->arrivals);
}

task<> two_values(world& w, tally* all) {
  ++all->runs;
  all->orders.set(w.choose(2));
  co_return;
}

simulation_options drawing(std::uint64_t schedules) {
  simulation_options options;
  options.exhaustive = 1;
  options.samples = schedules - 1;
  options.heed_environment = false;
  options.progress = nullptr;
  return options;
}

double timed(const simulation& sim, const simulation::program& body, std::uint64_t schedules) {
  cpu_stopwatch watch;
  watch.start();
  const exploration report = sim.explore(body);
  watch.stop();
  if (!report.passed()) throw wrong_result(report.text());
  expect_equal("schedules", report.schedules, schedules);
  return watch.nanoseconds();
}

/// Few schedules need not show every order.
void expect_every_order(const tally& all, std::uint64_t schedules, std::uint64_t orders) {
  if (schedules >= 2'000) expect_equal("orders", all.orders.count(), orders);
}

}  // namespace

double run_random_schedules(std::uint64_t schedules) {
  tally all;
  const simulation sim(drawing(schedules));
  const double cost = timed(sim, [&all](world& w) { return three_by_two(w, &all); }, schedules);
  constexpr std::uint64_t sums_of_a_run = merges * replicas * (3 + 4 + 5);
  expect_equal("sums", all.sums, all.runs * sums_of_a_run);
  expect_every_order(all, schedules, 6 * 6);
  return cost;
}

double run_worlds(std::uint64_t schedules) {
  tally all;
  const simulation sim(drawing(schedules));
  const double cost = timed(sim, [&all](world& w) { return two_values(w, &all); }, schedules);
  expect_every_order(all, schedules, 2);
  return cost;
}

}  // namespace troupe::bench
