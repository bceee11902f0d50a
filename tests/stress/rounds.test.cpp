// Rounds of merges on real threads: values, bits, wake-ups and numbers.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tests/stress/places.hpp"

namespace {

using namespace troupe;

long sum_of(const per_replica<long>& values) {
  return std::accumulate(values.begin(), values.end(), 0L);
}

/// A merge function that counts how often it is called.
class counting_sum {
 public:
  explicit counting_sum(long* calls) : calls_(calls) {}
  long operator()(cross_replica_context, const per_replica<long>& values) const {
    ++*calls_;
    return sum_of(values);
  }
  friend bool operator==(const counting_sum&, const counting_sum&) = default;

 private:
  long* calls_;
};

/// How many of `rounds` merges gave the right sum.
task<long> right_rounds(replica_context ctx, long rounds, long* calls) {
  const long n = ctx.num_replicas_in_sync();
  long right = 0;
  for (long round = 0; round < rounds; ++round) {
    const long mine = ctx.replica_id() * (round + 1);
    const long sum = co_await ctx.merge_call(counting_sum(calls), mine);
    right += sum == (round + 1) * n * (n - 1) / 2 ? 1 : 0;
  }
  co_return right;
}

task<long> sum_in_coroutine(cross_replica_context, per_replica<long> values) {
  co_return sum_of(values);
}

/// Replica i gets i more than the sum, out of a merge function that is a coroutine.
task<per_replica<long>> scatter(cross_replica_context ctx, per_replica<long> values) {
  const long sum = co_await sum_in_coroutine(ctx, values);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = sum + static_cast<long>(i);
  co_return values;
}

task<long> right_shares(replica_context ctx, long rounds) {
  const long n = ctx.num_replicas_in_sync();
  long right = 0;
  for (long round = 0; round < rounds; ++round) {
    const long share = co_await ctx.merge_call(scatter, round);
    right += share == round * n + ctx.replica_id() ? 1 : 0;
  }
  co_return right;
}

task<long> inner(replica_context ctx) { co_return co_await ctx.merge_call(sum_of, 1L); }

/// A run inside a merge function, with replicas and merges of its own.
task<long> nested_merge(cross_replica_context ctx, per_replica<long>) {
  const per_replica<long> all = co_await ctx.run(inner);
  co_return sum_of(all);
}

task<long> nested_rounds(replica_context ctx, long rounds) {
  const long n = ctx.num_replicas_in_sync();
  long right = 0;
  for (long round = 0; round < rounds; ++round) {
    const long got = co_await ctx.merge_call(nested_merge, round);
    right += got == n * n ? 1 : 0;
  }
  co_return right;
}

bool all_are(const per_replica<long>& values, long wanted) {
  return std::all_of(values.begin(), values.end(), [&](long v) { return v == wanted; });
}

}  // namespace

TEST_CASE("every merge gives everybody the right sum and calls its function once") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    constexpr long rounds = 500;
    for (const int replicas : {1, 2, 7}) {
      mirrored_strategy strategy{rt, replicas};
      long calls = 0;
      const auto right = block_on(rt, strategy.run(right_rounds, rounds, &calls));
      CHECK(all_are(right, rounds));
      CHECK(calls == rounds);
    }
  });
}

TEST_CASE("a merge function that is a coroutine gives each replica its share") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 5};
    CHECK(all_are(block_on(rt, strategy.run(right_shares, 200L)), 200));
  });
}

TEST_CASE("a run inside a merge function meets at merges of its own") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 3};
    CHECK(all_are(block_on(rt, strategy.run(nested_rounds, 50L)), 50));
  });
}

TEST_CASE("run after run uses the same replicas") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 4};
    long right = 0;
    for (int i = 0; i < 300; ++i) right += all_are(block_on(rt, strategy.run(inner)), 4) ? 1 : 0;
    CHECK(right == 300);
  });
}

namespace {

using floats = std::vector<float>;

task<floats> sum_of_floats(replica_context ctx, floats mine) {
  co_return co_await ctx.all_reduce(reduce_op::sum, mine);
}
task<float> sum_of_one_float(replica_context ctx, floats mine) {
  co_return co_await ctx.all_reduce(reduce_op::sum, mine.front());
}

/// Magnitudes so different that another order of addition gives other bits.
per_replica<floats> uneven_floats(std::size_t replicas, std::size_t length) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> exponent(-20, 20);
  std::vector<floats> rows(replicas);
  for (auto& row : rows) {
    for (std::size_t j = 0; j < length; ++j) row.push_back(std::exp2(exponent(random)));
  }
  return {rows.begin(), rows.end()};
}

bool same_bits(const floats& a, const floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("a sum of floats has the same bits on every executor and number of threads") {
  constexpr int replicas = 9;
  for (const std::size_t length : {1u, 1'000u, 60'000u}) {
    const auto values = uneven_floats(replicas, length);
    asio::io_context io;
    runtime one_thread{io.get_executor()};
    mirrored_strategy serial{one_thread, replicas};
    const floats wanted = block_on(one_thread, serial.run(sum_of_floats, values))[0];
    const float wanted_first = block_on(one_thread, serial.run(sum_of_one_float, values))[0];

    stress::on_every_place([&](runtime& rt, const std::string& place) {
      INFO(place << ", " << length << " floats");
      mirrored_strategy strategy{rt, replicas};
      for (const floats& got : block_on(rt, strategy.run(sum_of_floats, values))) {
        CHECK(same_bits(got, wanted));
      }
      const float got_first = block_on(rt, strategy.run(sum_of_one_float, values))[0];
      CHECK(same_bits({got_first}, {wanted_first}));
    });
  }
}

TEST_CASE("a round wakes each thread of a pool at most once") {
  for (const std::size_t threads : {2u, 4u}) {
    runtime rt{pool_size{threads}};
    for (const int replicas : {2, 4, 16}) {
      mirrored_strategy strategy{rt, replicas};
      long calls = 0;
      constexpr long rounds = 500;
      block_on(rt, strategy.run(right_rounds, 1L, &calls));
      const auto before = rt.wake_ups();
      const auto right = block_on(rt, strategy.run(right_rounds, rounds, &calls));
      const auto woken = rt.wake_ups() - before;
      CHECK(all_are(right, rounds));
      // One more for each thread to begin the run, and one to end it.
      CHECK(woken <= threads * (rounds + 2));
    }
  }
}

TEST_CASE("100,000 replicas meet at one barrier") {
  constexpr int replicas = 100'000;
  runtime rt{pool_size{2}};
  mirrored_strategy strategy{rt, replicas};
  long calls = 0;
  CHECK(all_are(block_on(rt, strategy.run(right_rounds, 1L, &calls)), 1));
  CHECK(calls == 1);
}
