// ours_reduce.cpp - sums of several tensors: a call of reduce() on one thread, the graph of a large
// reduction on a pool of two, and an all_reduce() by replicas, with all that belongs to it.

#include <troupe/troupe.hpp>

#include "bench/reduce_data.hpp"

namespace troupe::bench {

namespace {

double run_call(std::size_t replicas, std::size_t bytes, std::uint64_t rounds) {
  const reduce_data& data = data_of(replicas, bytes);
  tensor<float> sum;
  stopwatch watch;
  watch.start();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    sum = reduce(reduce_op::sum, data.inputs);
    asm volatile("" : : : "memory");
  }
  watch.stop();
  expect_sum(sum.values(), replicas);
  return watch.nanoseconds();
}

task<> reduce_often(reduce_data* data, std::uint64_t rounds, stopwatch* watch) {
  for (std::uint64_t round = 0; round < warm_up_rounds + rounds; ++round) {
    if (round == warm_up_rounds) watch->start();
    co_await detail::reduce_ranges_into(reduce_op::sum, &data->inputs, data->out.values());
  }
  watch->stop();
}

double run_graph(std::size_t replicas, std::size_t bytes, std::uint64_t rounds) {
  reduce_data& data = data_of(replicas, bytes);
  spoil(data);
  runtime rt{pool_size{2}};
  stopwatch watch;
  block_on(rt, reduce_often(&data, rounds, &watch));
  expect_sum(data.out.values(), replicas);
  return watch.nanoseconds();
}

/// Maxima, which stay the same from the first round on.
task<tensor<float>> all_reduce_often(replica_context ctx, const reduce_data* data,
                                     std::uint64_t rounds, stopwatch* watch) {
  tensor<float> mine = data->inputs[ctx.replica_id()];
  for (std::uint64_t round = 0; round < warm_up_rounds + rounds; ++round) {
    if (ctx.replica_id() == 0 && round == warm_up_rounds) watch->start();
    mine = co_await ctx.all_reduce(reduce_op::max, std::move(mine));
  }
  if (ctx.replica_id() == 0) watch->stop();
  co_return mine;
}

double run_all_reduce(std::size_t replicas, std::size_t bytes, std::uint64_t rounds) {
  const reduce_data& data = data_of(replicas, bytes);
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, static_cast<int>(replicas));
  stopwatch watch;
  const per_replica<tensor<float>> got =
      block_on(rt, strategy.run(all_reduce_often, &data, rounds, &watch));
  for (const tensor<float>& each : got) {
    for (std::size_t j = 0; j < each.size(); ++j) {
      if (each[j] != reduce_input(replicas - 1, j)) throw wrong_result("a maximum");
    }
  }
  return watch.nanoseconds();
}

}  // namespace

void add_our_reduce_call(table& contest, std::size_t replicas, std::size_t bytes) {
  contest.contenders.push_back(
      {"troupe", [=](std::uint64_t rounds) { return run_call(replicas, bytes, rounds); }});
}

void add_our_reductions(table& contest, std::size_t replicas, std::size_t bytes) {
  contest.contenders.push_back(
      {"troupe", [=](std::uint64_t rounds) { return run_graph(replicas, bytes, rounds); }});
  contest.contenders.push_back({"troupe_all_reduce", [=](std::uint64_t rounds) {
                                  return run_all_reduce(replicas, bytes, rounds);
                                }});
}

}  // namespace troupe::bench
