// ours_reduce.cpp - sums of several tensors: a call of reduce() on one thread, the graph of a large
// reduction on a pool of two, one pass over many small tensors, and an all_reduce() by replicas,
// with all that belongs to it.

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "bench/all_reduce_rounds.hpp"
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

double run_graph(std::size_t replicas, std::size_t bytes, std::uint64_t rounds,
                 pool_size pool = pool_size(2)) {
  reduce_data& data = data_of(replicas, bytes);
  spoil(data);
  runtime rt{pool};
  stopwatch watch;
  block_on(rt, reduce_often(&data, rounds, &watch));
  expect_sum(data.out.values(), replicas);
  return watch.nanoseconds();
}

/// How a graph compares with one thread, for sums of two tensors that are so many bytes together:
/// the median of pairs that were run one after the other.
double graph_over_one_thread(std::size_t bytes) {
  constexpr std::size_t pairs = 15;
  constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
  const std::uint64_t rounds = (std::uint64_t{64} << 20U) / bytes;
  std::array<double, pairs> ratios{};
  for (double& each : ratios) {
    const double one_thread = run_graph(2, bytes / 2, rounds, pool_size(2, never));
    each = run_graph(2, bytes / 2, rounds, pool_size(2, 0)) / one_thread;
  }
  std::ranges::sort(ratios);
  return ratios[pairs / 2];
}

/// Measured when the first table is printed.
const std::string& remark_on_graphs() {
  static const std::string made = [] {
    std::ostringstream text;
    text.precision(2);
    text << "threads share what reads " << pool_size(2).graph_from / 1024
         << " KiB or more; as a graph, over one thread:";
    for (std::size_t kibibytes = 32; kibibytes <= 2'048; kibibytes *= 2) {
      text << ' ' << kibibytes << " KiB " << graph_over_one_thread(kibibytes * 1024);
      text << (kibibytes < 2'048 ? "," : "");
    }
    return text.str();
  }();
  return made;
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

/// Sums, in the rounds that processes have.
task<> all_reduce_rounds(replica_context ctx, std::size_t bytes, std::uint64_t rounds,
                         stopwatch* watch) {
  const auto replica = static_cast<std::size_t>(ctx.replica_id());
  tensor<float> mine(tensor_shape{bytes / sizeof(float)});
  for (std::uint64_t round = 0; round < warm_up_rounds + rounds; ++round) {
    if (replica == 0 && round == warm_up_rounds) watch->start();
    before_round(mine.values(), replica, round);
    mine = co_await ctx.all_reduce(reduce_op::sum, std::move(mine));
    after_round(mine.values(), round);
  }
  if (replica == 0) watch->stop();
  after_all_rounds(mine.values());
}

double run_all_reduce_rounds(std::size_t bytes, std::uint64_t rounds) {
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, 2);
  stopwatch watch;
  block_on(rt, strategy.run(all_reduce_rounds, bytes, rounds, &watch));
  return watch.nanoseconds();
}

using part = std::span<float>;

/// The same memory as `tensors` tensors for each replica, and their reductions.
class small_tensors {
 public:
  small_tensors(reduce_data& data, std::size_t tensors) {
    const std::size_t size = data.size() / tensors;
    for (std::size_t t = 0; t < tensors; ++t) {
      auto& values = values_.emplace_back();
      values.reserve(data.inputs.size());
      for (auto& each : data.inputs) values.append(each.values().subspan(t * size, size));
      outs_.push_back(data.out.values().subspan(t * size, size));
    }
  }

  /// As all_reduce() of a nest does it: each time it finds them new.
  task<> reduce() {
    std::vector<std::unique_ptr<detail::leaf_reduction>> leaves;
    leaves.reserve(values_.size());
    detail::fused_pass pass;
    for (std::size_t t = 0; t < values_.size(); ++t) {
      leaves.push_back(std::make_unique<detail::reduction_into<sum_op, part, float>>(
          reduce_op::sum, values_[t], outs_[t]));
      pass.add(*leaves.back());
    }
    co_await pass.run();
  }

 private:
  std::vector<per_replica<part>> values_;
  std::vector<part> outs_;
};

task<> reduce_tensors(small_tensors* all, std::uint64_t rounds, stopwatch* watch) {
  for (std::uint64_t round = 0; round < warm_up_rounds + rounds; ++round) {
    if (round == warm_up_rounds) watch->start();
    co_await all->reduce();
  }
  watch->stop();
}

double run_tensors(std::size_t replicas, std::size_t tensors, std::size_t bytes,
                   std::uint64_t rounds) {
  reduce_data& data = data_of(replicas, bytes);
  spoil(data);
  small_tensors all(data, tensors);
  runtime rt{pool_size{2}};
  stopwatch watch;
  block_on(rt, reduce_tensors(&all, rounds, &watch));
  expect_sum(data.out.values(), replicas);
  return watch.nanoseconds();
}

}  // namespace

void add_our_tensor_reductions(table& contest, std::size_t replicas, std::size_t tensors,
                               std::size_t bytes) {
  contest.contenders.push_back({"troupe", [=](std::uint64_t rounds) {
                                  return run_tensors(replicas, tensors, bytes, rounds);
                                }});
}

void add_our_all_reduce(table& contest, std::size_t bytes) {
  contest.contenders.push_back(
      {"troupe", [bytes](std::uint64_t rounds) { return run_all_reduce_rounds(bytes, rounds); }});
}

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
  contest.remark = remark_on_graphs;
}

}  // namespace troupe::bench
