// reduce.cpp - sums of several arrays as one writes them by hand, on one thread: all inputs at
// once, and one input after the other.
//
// The first is what the machine can do with its widest common vectors; the library is compiled
// with the same flags and chooses at run time.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "bench/reduce_data.hpp"

namespace troupe::bench {

namespace {

#if defined(__x86_64__)
#define TROUPE_BENCH_AVX2 [[gnu::target("avx2")]]
#else
#define TROUPE_BENCH_AVX2
#endif

template <std::size_t K>
TROUPE_BENCH_AVX2 void fused(const reduce_data& data, float* out) {
  const float* in[K];
  for (std::size_t i = 0; i < K; ++i) in[i] = data.input(i);
  const std::size_t n = data.size();
#pragma GCC ivdep
  for (std::size_t j = 0; j < n; ++j) {
    float all = in[0][j];
#pragma GCC unroll 8
    for (std::size_t i = 1; i < K; ++i) all += in[i][j];
    out[j] = all;
  }
}

void fused(std::size_t replicas, const reduce_data& data, float* out) {
  switch (replicas) {
    case 2: return fused<2>(data, out);
    case 4: return fused<4>(data, out);
    default: return fused<8>(data, out);
  }
}

void naive(std::size_t replicas, const reduce_data& data, float* out) {
  std::memcpy(out, data.input(0), data.size() * sizeof(float));
  for (std::size_t i = 1; i < replicas; ++i) {
    const float* const more = data.input(i);
    for (std::size_t j = 0; j < data.size(); ++j) out[j] += more[j];
  }
}

double run_fused(std::size_t replicas, std::size_t bytes, std::uint64_t rounds) {
  reduce_data& data = data_of(replicas, bytes);
  spoil(data);
  stopwatch watch;
  watch.start();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    fused(replicas, data, data.out.data());
    asm volatile("" : : : "memory");
  }
  watch.stop();
  expect_sum(data.out.values(), replicas);
  return watch.nanoseconds();
}

/// As programs without a library do it: a sum on the side, then a copy for everybody.
double run_naive_all_reduce(std::size_t replicas, std::size_t bytes, std::uint64_t rounds) {
  reduce_data& data = data_of(replicas, bytes);
  spoil(data);
  per_replica<tensor<float>> everybodys;
  everybodys.reserve(replicas);
  for (std::size_t i = 0; i < replicas; ++i) everybodys.append(data.inputs[i].shape());
  stopwatch watch;
  watch.start();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    naive(replicas, data, data.out.data());
    for (auto& each : everybodys) std::memcpy(each.data(), data.out.data(), bytes);
    asm volatile("" : : : "memory");
  }
  watch.stop();
  for (const auto& each : everybodys) expect_sum(each.values(), replicas);
  return watch.nanoseconds();
}

struct kept_data {
  std::size_t replicas = 0;
  std::size_t bytes = 0;
  reduce_data data;
};

}  // namespace

reduce_data& data_of(std::size_t replicas, std::size_t bytes) {
  static std::unique_ptr<kept_data> kept;
  if (kept && kept->replicas == replicas && kept->bytes == bytes) return kept->data;
  kept.reset();
  kept = std::make_unique<kept_data>();
  kept->replicas = replicas;
  kept->bytes = bytes;
  const std::size_t n = bytes / sizeof(float);
  kept->data.inputs.reserve(replicas);
  for (std::size_t i = 0; i < replicas; ++i) {
    auto& made = kept->data.inputs.append(tensor_shape{n});
    for (std::size_t j = 0; j < n; ++j) made[j] = reduce_input(i, j);
  }
  kept->data.out = tensor<float>(tensor_shape{n});
  return kept->data;
}

void spoil(reduce_data& data) { std::fill_n(data.out.data(), data.size(), -1.0F); }

void expect_sum(std::span<const float> out, std::size_t replicas) {
  for (std::size_t j = 0; j < out.size(); ++j) {
    if (out[j] != reduce_output(replicas, j)) {
      throw wrong_result("element " + std::to_string(j) + " of the sum");
    }
  }
}

void add_hand_reductions(table& contest, std::size_t replicas, std::size_t bytes) {
  contest.contenders.push_back(
      {"hand_fused", [=](std::uint64_t rounds) { return run_fused(replicas, bytes, rounds); }});
  contest.contenders.push_back({"naive_all_reduce", [=](std::uint64_t rounds) {
                                  return run_naive_all_reduce(replicas, bytes, rounds);
                                }});
}

}  // namespace troupe::bench
