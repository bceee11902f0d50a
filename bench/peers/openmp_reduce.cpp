// openmp_reduce.cpp - sums of several arrays on two threads of OpenMP, all inputs at once; and
// what the memory allows: the time to read the inputs, and then to write the result past the
// caches.

#include <omp.h>

#include <string>

#include "bench/reduce_data.hpp"

namespace troupe::bench {

namespace {

constexpr int threads = 2;

#if defined(__x86_64__)
#define TROUPE_BENCH_AVX2 [[gnu::target("avx2")]]
using eight [[gnu::vector_size(32)]] = float;
using packet [[gnu::vector_size(32)]] = long long;

TROUPE_BENCH_AVX2 inline void store_past_caches(float* to, eight value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, reinterpret_cast<eight*>(to));
#else
  __builtin_ia32_movntdq256(reinterpret_cast<packet*>(to), reinterpret_cast<packet>(value));
#endif
}
inline void fence() { __builtin_ia32_sfence(); }
#else
#define TROUPE_BENCH_AVX2
using eight [[gnu::vector_size(32)]] = float;
inline void store_past_caches(float* to, eight value) { *reinterpret_cast<eight*>(to) = value; }
inline void fence() {}
#endif

TROUPE_BENCH_AVX2 inline eight load(const float* from) {
  return *reinterpret_cast<const eight*>(from);
}

/// \pre `first` and `last` are multiples of 8, as tensors are aligned.
template <int K, bool Past>
TROUPE_BENCH_AVX2 void fused(const float* const* in, float* out, std::size_t first,
                             std::size_t last) {
  for (std::size_t j = first; j < last; j += 8) {
    eight all = load(in[0] + j);
#pragma GCC unroll 8
    for (int i = 1; i < K; ++i) all += load(in[i] + j);
    if constexpr (Past) {
      store_past_caches(out + j, all);
    } else {
      *reinterpret_cast<eight*>(out + j) = all;
    }
  }
  if constexpr (Past) fence();
}

template <bool Past>
void fused(const reduce_data& data, float* out, std::size_t first, std::size_t last) {
  const float* in[8];
  for (std::size_t i = 0; i < data.inputs.size(); ++i) in[i] = data.input(i);
  switch (data.inputs.size()) {
    case 2: return fused<2, Past>(in, out, first, last);
    case 4: return fused<4, Past>(in, out, first, last);
    default: return fused<8, Past>(in, out, first, last);
  }
}

TROUPE_BENCH_AVX2 float read(const float* from, std::size_t first, std::size_t last) {
  eight a{}, b{}, c{}, d{};
  for (std::size_t j = first; j + 32 <= last; j += 32) {
    a += load(from + j);
    b += load(from + j + 8);
    c += load(from + j + 16);
    d += load(from + j + 24);
  }
  const eight all = (a + b) + (c + d);
  return all[0] + all[7];
}

TROUPE_BENCH_AVX2 void fill(float* to, std::size_t first, std::size_t last) {
  const eight value{1, 2, 3, 4, 5, 6, 7, 8};
  for (std::size_t j = first; j < last; j += 8) store_past_caches(to + j, value);
  fence();
}

class borrowed_threads {
 public:
  borrowed_threads() = default;
  borrowed_threads(const borrowed_threads&) = delete;
  borrowed_threads& operator=(const borrowed_threads&) = delete;
  ~borrowed_threads() { omp_pause_resource_all(omp_pause_hard); }
};

/// Calls work(first, last) on both threads with a half of the elements each.
template <class Work>
void on_both(std::size_t n, Work&& work) {
#pragma omp parallel num_threads(threads)
  {
    const std::size_t half = n / 2 / 64 * 64;
    const bool lower = omp_get_thread_num() == 0;
    work(lower ? 0 : half, lower ? half : n);
  }
}

double run_fused(std::size_t replicas, std::size_t bytes, bool past, std::uint64_t rounds) {
  reduce_data& data = data_of(replicas, bytes);
  spoil(data);
  const borrowed_threads borrowed;
  float* const out = data.out.data();
  const auto once = [&] {
    on_both(data.size(), [&](std::size_t first, std::size_t last) {
      past ? fused<true>(data, out, first, last) : fused<false>(data, out, first, last);
    });
  };
  once();
  stopwatch watch;
  watch.start();
  for (std::uint64_t round = 0; round < rounds; ++round) once();
  watch.stop();
  expect_sum(data.out.values(), replicas);
  return watch.nanoseconds();
}

double run_bandwidth(std::size_t replicas, std::size_t bytes, std::uint64_t rounds) {
  reduce_data& data = data_of(replicas, bytes);
  const borrowed_threads borrowed;
  float seen = 0;
  const auto once = [&] {
    on_both(data.size(), [&](std::size_t first, std::size_t last) {
      float mine = 0;
      for (std::size_t i = 0; i < replicas; ++i) mine += read(data.input(i), first, last);
#pragma omp atomic
      seen += mine;
    });
    on_both(data.size(),
            [&](std::size_t first, std::size_t last) { fill(data.out.data(), first, last); });
  };
  once();
  expect_equal("whether numbers were read", seen > 0 ? 1 : 0, 1);
  stopwatch watch;
  watch.start();
  for (std::uint64_t round = 0; round < rounds; ++round) once();
  watch.stop();
  return watch.nanoseconds();
}

}  // namespace

void add_openmp_reductions(table& contest, std::size_t replicas, std::size_t bytes, bool past) {
  contest.contenders.push_back({"openmp_fused_2_threads", [=](std::uint64_t rounds) {
                                  return run_fused(replicas, bytes, past, rounds);
                                }});
}

void add_openmp_bandwidth(table& contest, std::size_t replicas, std::size_t bytes) {
  contest.contenders.push_back(
      {"bandwidth", [=](std::uint64_t rounds) { return run_bandwidth(replicas, bytes, rounds); }});
}

}  // namespace troupe::bench
