// program.cpp - merges, runs or reductions on one thread, for check.py to count what they cost.
//
//     counted merge_call 64 1000     a thousand rounds of 64 replicas, after some of warming up
//     counted run 2 1000             a thousand runs of an empty coroutine on two
//     counted reduce 65536 1000      a thousand sums of two tensors of so many bytes
//     counted maximum 65536 1000     a thousand maxima of four
//
// Prints how often the heap was asked for something after the warm-up. What is before and after the
// rounds is the same for any number of them, so that two numbers of rounds tell what one costs.

#include <asio/io_context.hpp>
#include <charconv>
#include <cstdio>
#include <functional>
#include <numeric>
#include <optional>
#include <string_view>
#include <troupe/troupe.hpp>

#include "bench/harness/allocations.hpp"

namespace {

using namespace troupe;
using counter = std::optional<bench::allocation_count>;

/// A line gives others their turn after some thousands of steps, which takes memory the first time.
constexpr int warm_up_steps = 10'000;

int sum(cross_replica_context, const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

task<bool> meet(replica_context ctx, int rounds, counter* counted) {
  bool right = true;
  const int replicas = ctx.num_replicas_in_sync();
  for (int round = -warm_up_steps / replicas; round < rounds; ++round) {
    if (round == 0 && ctx.replica_id() == 0) counted->emplace();
    const int merged = co_await ctx.merge_call(sum, 1);
    right = right && merged == replicas;
  }
  co_return right;
}

task<bool> merge_often(const mirrored_strategy* strategy, int rounds, counter* counted) {
  const per_replica<bool> right = co_await strategy->run(meet, rounds, counted);
  co_return std::accumulate(right.begin(), right.end(), true, std::logical_and<>());
}

task<> touch(replica_context, int* touched) {
  ++*touched;
  co_return;
}

task<bool> run_often(const mirrored_strategy* strategy, int rounds, counter* counted) {
  const int replicas = strategy->num_replicas_in_sync();
  const int warm_up = warm_up_steps / replicas;
  int touched = 0;
  for (int round = -warm_up; round < rounds; ++round) {
    if (round == 0) counted->emplace();
    co_await strategy->run(touch, &touched);
  }
  co_return touched == (warm_up + rounds) * replicas;
}

constexpr int warm_up_reductions = 100;

/// Of 1, 2, 3, …
template <class Op>
bool reduce_often(Op op, std::size_t tensors, float expected, std::size_t bytes, int rounds,
                  counter* counted) {
  const std::size_t size = bytes / sizeof(float);
  per_replica<tensor<float>> inputs;
  inputs.reserve(tensors);
  for (std::size_t i = 1; i <= tensors; ++i) inputs.append(tensor_shape{size}, float(i));
  tensor<float> made;
  for (int round = -warm_up_reductions; round < rounds; ++round) {
    if (round == 0) counted->emplace();
    made = reduce(op, inputs);
  }
  return made.size() == size && made[0] == expected && made[size - 1] == expected;
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 4) return 2;
  const std::string_view what = arguments[1];
  const int size = number(arguments[2]);
  const int rounds = number(arguments[3]);
  counter counted;
  bool right = false;
  const auto bytes = static_cast<std::size_t>(size);
  if (what == "reduce") {
    right = reduce_often(reduce_op::sum, 2, 3, bytes, rounds, &counted);
  } else if (what == "maximum") {
    right = reduce_often(reduce_op::max, 4, 4, bytes, rounds, &counted);
  } else {
    asio::io_context io(1);
    runtime rt{io.get_executor()};
    const mirrored_strategy strategy{rt, size};
    const auto body = what == "run" ? run_often : merge_often;
    right = block_on(rt, body(&strategy, rounds, &counted));
  }
  std::printf("%llu\n", static_cast<unsigned long long>(counted->so_far().allocations));
  return right ? 0 : 1;
}
