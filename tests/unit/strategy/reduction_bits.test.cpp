// Reductions have the same bits whatever the schedule, the threads and the strategy.
//
// The numbers are of very different sizes, so that another order of addition would show.

#include <asio/io_context.hpp>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"

namespace troupe::test {
namespace {

constexpr int replicas = 3;
constexpr std::size_t length = 24;

using row = std::vector<float>;
using table = tensor<float>;
using bits = std::vector<std::uint32_t>;

/// Replica `id`'s numbers, of sizes from 1e-12 to 1e12.
row numbers_of(int id) {
  std::minstd_rand random(static_cast<unsigned>(id) + 1);
  std::uniform_real_distribution<double> size(-12, 12), part(-1, 1);
  row all;
  for (std::size_t j = 0; j < length; ++j) {
    all.push_back(static_cast<float>(part(random) * std::pow(10.0, size(random))));
  }
  return all;
}

table table_of(int id) { return table({4, length / 4}, numbers_of(id + replicas)); }

void add_bits(bits& to, std::span<const float> from) {
  for (const float each : from) to.push_back(std::bit_cast<std::uint32_t>(each));
}

/// What one replica gets of all its reductions.
task<bits> reduce_inside(replica_context ctx) {
  const int id = ctx.replica_id();
  bits got;
  const row sum = co_await ctx.all_reduce(reduce_op::sum, numbers_of(id));
  add_bits(got, sum);
  const row mean = co_await ctx.all_reduce(reduce_op::mean, numbers_of(id));
  add_bits(got, mean);
  const table sums = co_await ctx.all_reduce(reduce_op::sum, table_of(id));
  add_bits(got, sums.values());
  const table means = co_await ctx.all_reduce(reduce_op::mean, table_of(id));
  add_bits(got, means.values());
  co_return got;
}

/// The same of values that a run returned.
template <class T>
void reduce_outside(bits& got, const strategy& s, const per_replica<T>& values) {
  const auto span_of = [](const T& value) { return tensor_traits<T>::values(value); };
  add_bits(got, span_of(s.reduce(reduce_op::sum, values)));
  add_bits(got, span_of(s.reduce(reduce_op::mean, values)));
}

/// By hand, in replica order.
bits expected_of(row (*part)(int)) {
  bits sums, means;
  for (std::size_t j = 0; j < length; ++j) {
    float sum = part(0)[j];
    for (int id = 1; id < replicas; ++id) sum += part(id)[j];
    sums.push_back(std::bit_cast<std::uint32_t>(sum));
    means.push_back(std::bit_cast<std::uint32_t>(sum / replicas));
  }
  sums.insert(sums.end(), means.begin(), means.end());
  return sums;
}

bits expected_bits() {
  bits all = expected_of(numbers_of);
  const bits of_tables = expected_of([](int id) { return numbers_of(id + replicas); });
  all.insert(all.end(), of_tables.begin(), of_tables.end());
  return all;
}

TEST_CASE("another order of addition would show") {
  const bits in_order = expected_of(numbers_of);
  const bits in_reverse = expected_of([](int id) { return numbers_of(replicas - 1 - id); });
  CHECK(in_order != in_reverse);
}

/// Whether all reductions under `s` have the bits.
task<bool> has_bits(const strategy& s, const bits* expected) {
  const per_replica<bits> inside = co_await s.run(reduce_inside);
  bool same = true;
  for (const bits& each : inside) same = same && each == *expected;
  const auto rows_of = [](replica_context ctx) { return numbers_of(ctx.replica_id()); };
  const auto tables_of = [](replica_context ctx) { return table_of(ctx.replica_id()); };
  const per_replica<row> rows = co_await s.run(rows_of);
  const per_replica<table> tables = co_await s.run(tables_of);
  bits outside;
  reduce_outside(outside, s, rows);
  reduce_outside(outside, s, tables);
  co_return same&& outside == *expected;
}

/// Under every strategy with so many replicas.
task<bool> has_bits_everywhere(runtime& rt, const bits* expected) {
  const mirrored_strategy mirrored(rt, replicas);
  const mirrored_strategy ordered(rt, replicas, {.order = replica_order::one_by_one});
  const central_storage_strategy central(rt, replicas);
  const bool first = co_await has_bits(mirrored, expected);
  const bool second = co_await has_bits(ordered, expected);
  const bool third = co_await has_bits(central, expected);
  co_return first&& second&& third;
}

template <class Strategy>
task<> check_bits(world* w, const bits* expected) {
  const Strategy strategy(w->runtime(), replicas);
  const bool same = co_await has_bits(strategy, expected);
  w->check(same, "the bits");
}

TEST_CASE("reductions have the same bits under a thousand schedules") {
  const bits expected = expected_bits();
  for (const std::size_t lines : {1u, 3u}) {
    simulation_options options;
    options.lines = lines;
    const auto body = [&](world& w) { return check_bits<mirrored_strategy>(&w, &expected); };
    explore_seeds(body, 1'000, options);
  }
}

TEST_CASE("reductions have the same bits under a thousand schedules of central storage") {
  const bits expected = expected_bits();
  const auto body = [&](world& w) { return check_bits<central_storage_strategy>(&w, &expected); };
  explore_seeds(body, 1'000);
}

TEST_CASE("reductions have the same bits with one, two and four threads, under every strategy") {
  const bits expected = expected_bits();
  for (const unsigned threads : {1u, 2u, 4u}) {
    INFO(threads);
    runtime rt{pool_size{threads}};
    for (int i = 0; i < 50; ++i) REQUIRE(block_on(rt, has_bits_everywhere(rt, &expected)));
  }
}

TEST_CASE("reductions have the same bits on an io_context, under every strategy") {
  const bits expected = expected_bits();
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(block_on(rt, has_bits_everywhere(rt, &expected)));
}

/// What one replica reduces is what it has, under every strategy of one.
task<std::vector<bits>> reduce_alone(runtime& rt) {
  const one_device_strategy one(rt);
  const mirrored_strategy mirrored(rt, 1);
  const central_storage_strategy central(rt, 1);
  const std::vector<const strategy*> strategies = {&get_default_strategy(), &one, &mirrored,
                                                   &central};
  std::vector<bits> all;
  for (const strategy* const each : strategies) {
    const per_replica<bits> got = co_await each->run(reduce_inside);
    all.push_back(got[0]);
  }
  co_return all;
}

TEST_CASE("defined: not a number is the same one along axes, weighed, and in rows, too") {
  const float odd = std::bit_cast<float>(0xffc0'1234u);
  const auto is_the_one = [](float x) {
    return std::bit_cast<std::uint32_t>(x) ==
           std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
  };
  const per_replica<row> rows = {{odd, 1}, {2}}, none = {{}, {}};
  CHECK(is_the_one(reduce(reduce_op::sum, rows, 0)));
  CHECK(is_the_one(reduce(reduce_op::mean, rows, 0)));
  CHECK(is_the_one(reduce(reduce_op::mean, none, 0)));
  CHECK(is_the_one(local_mean(rows[0]).mean));
  const per_replica<weighted<float>> weighed = {weighted<float>{odd, 1}, weighted<float>{1, 1}};
  CHECK(is_the_one(reduce(reduce_op::mean, weighed)));
  CHECK(std::bit_cast<std::uint64_t>(weigh(rows[0]).sum) ==
        std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()));
  CHECK(is_the_one(to_dense(indexed_slices<row>({0, 0}, {odd, 1}, {1}))[0]));
}

TEST_CASE("one replica's reductions have the bits of its own numbers") {
  bits expected;
  add_bits(expected, numbers_of(0));
  add_bits(expected, numbers_of(0));
  add_bits(expected, table_of(0).values());
  add_bits(expected, table_of(0).values());
  runtime rt{pool_size{2}};
  CHECK(block_on(rt, reduce_alone(rt)) == std::vector<bits>(4, expected));
}

}  // namespace
}  // namespace troupe::test
