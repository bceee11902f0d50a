// Sums and means over the replicas, outside runs and inside them.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <concepts>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using numbers = per_replica<double>;

// -- strategy.reduce() ----------------------------------------------------------------------------

double one() { return 1.0; }

task<double> sum_in_merge(cross_replica_context cross) {
  const numbers ones = co_await cross.run(one);
  co_return cross.strategy().reduce(reduce_op::sum, ones);
}

task<double> sum_inside(replica_context ctx) { co_return co_await ctx.merge_call(sum_in_merge); }

template <int N>
task<std::pair<double, numbers>> sum_of_ones(runtime& rt) {
  mirrored_strategy strategy(rt, N);
  const numbers ones = co_await strategy.run(one);
  const double outside = strategy.reduce(reduce_op::sum, ones);
  const numbers inside = co_await strategy.run(sum_inside);
  co_return std::pair(outside, inside);
}

TEST_CASE("core-198 what every replica returned is added up, outside runs and in a merge") {
  check_in_every_world(sum_of_ones<1>, {1.0, {1.0}});
  check_in_every_world(sum_of_ones<2>, {2.0, {2.0, 2.0}});
  check_in_every_world(sum_of_ones<3>, {3.0, {3.0, 3.0, 3.0}});
}

struct on_an_io_context {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
};

TEST_CASE_METHOD(on_an_io_context, "core-210 the mean of integers is no integer") {
  const auto mean = strategy.reduce(reduce_op::mean, per_replica<int>({0, 1}));
  STATIC_CHECK(std::floating_point<std::remove_const_t<decltype(mean)>>);
  CHECK(mean == 0.5);
}

template <class Op>
concept reduces_mirrored = requires(Op op, mirrored<int> value) { reduce(op, value); };

TEST_CASE_METHOD(on_an_io_context, "core-213 a mirrored value is its own mean and has no sum") {
  // TensorFlow refuses the sum when it is asked for. Here it does not compile.
  CHECK(strategy.reduce(reduce_op::mean, mirrored<int>(3)) == 3);
  STATIC_CHECK(reduces_mirrored<mean_op>);
  STATIC_CHECK_FALSE(reduces_mirrored<sum_op>);
}

TEST_CASE_METHOD(on_an_io_context, "core-224 hints are no negative numbers, and change no result") {
  using enum all_reduce_kind;
  const std::vector<double> parts = {0.1, 0.2};
  const per_replica<std::vector<double>> values = {parts, {1e17, -1}};
  const auto expected = strategy.extended().reduce_to(reduce_op::sum, values, values);
  for (const auto kind : {automatic, reduction_to_one_device, hierarchical_copy, ring}) {
    for (const int packs : {0, 1, 8}) {
      const communication_hints hints(kind, 0, packs);
      CHECK(strategy.extended().reduce_to(reduce_op::sum, values, values, hints) == expected);
    }
    CHECK(is(thrown_by([&] { return communication_hints(kind, -1); }), errc::invalid_hint));
    CHECK(is(thrown_by([&] { return communication_hints(kind, 0, -1); }), errc::invalid_hint));
  }
}

// -- ctx.all_reduce() -----------------------------------------------------------------------------

using row = std::vector<int>;

template <class Op, class A, class B>
task<std::pair<reduced_t<A, Op>, reduced_t<B, Op>>> reduce_both(replica_context ctx, A a, B b) {
  const auto reduced_a = co_await ctx.all_reduce(Op(), a);
  const auto reduced_b = co_await ctx.all_reduce(Op(), b);
  co_return std::pair(reduced_a, reduced_b);
}

template <class T>
using pair_of = std::pair<per_replica<T>, per_replica<std::vector<T>>>;

template <class Op>
task<pair_of<reduced_t<int, Op>>> reduce_both_on_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const per_replica<int> a = {1, 3};
  const per_replica<row> b = {{40, 1}, {2, 98}};
  co_return co_await strategy.run(reduce_both<Op, int, row>, a, b);
}

TEST_CASE("core-216 all_reduce gives every replica the sum or mean, element by element") {
  check_in_every_world(reduce_both_on_two<sum_op>, pair_of<int>({4, 4}, {{42, 99}, {42, 99}}));
  check_in_every_world(reduce_both_on_two<mean_op>,
                       pair_of<double>({2, 2}, {{21, 49.5}, {21, 49.5}}));
}

task<pair_of<double>> sum_both_on_one(runtime& rt) {
  mirrored_strategy strategy(rt, 1);
  const std::vector<double> b = {42, 43};
  co_return co_await strategy.run(reduce_both<sum_op, double, std::vector<double>>, 4.0, b);
}

TEST_CASE("core-218 all_reduce on a single replica leaves its value as it is") {
  check_in_every_world(sum_both_on_one, pair_of<double>({4.0}, {{42, 43}}));
}

// -- gradients ------------------------------------------------------------------------------------

template <class Op>
task<double> weighted(replica_context ctx, double x, double c) {
  const double y = co_await ctx.all_reduce(Op(), x);
  co_return y* c;
}

template <class Op>
task<double> backwards(replica_context ctx, double upstream) {
  co_return co_await ctx.all_reduce(Op(), upstream);
}

/// How much the sum of all y * c grows with each replica's x, found by trying, and what
/// all_reduce() makes of the upstream gradients c.
template <class Op>
task<std::pair<numbers, numbers>> gradients(runtime* rt, numbers c) {
  mirrored_strategy strategy(*rt, static_cast<int>(c.size()));
  const std::vector<double> zeros(c.size());
  numbers tried(zeros.begin(), zeros.end());
  for (std::size_t i = 0; i < c.size(); ++i) {
    numbers x(zeros.begin(), zeros.end());
    x[i] = 1;  // From 0 on: a finite difference of something linear is exact.
    const numbers grown = co_await strategy.run(weighted<Op>, x, c);
    tried[i] = strategy.reduce(reduce_op::sum, grown);
  }
  const numbers reduced = co_await strategy.run(backwards<Op>, c);
  co_return std::pair(tried, reduced);
}

TEST_CASE("core-217 the gradient of an all_reduce is the all_reduce of the upstream gradient") {
  // TensorFlow's tape does that by itself. There is no tape here: whoever differentiates by
  // hand relies on the rule.
  check_in_every_world([](runtime& rt) { return gradients<sum_op>(&rt, {1, 3}); },
                       {{4, 4}, {4, 4}});
  check_in_every_world([](runtime& rt) { return gradients<mean_op>(&rt, {1, 3}); },
                       {{2, 2}, {2, 2}});
  check_in_every_world([](runtime& rt) { return gradients<sum_op>(&rt, {4}); }, {{4}, {4}});
  check_in_every_world([](runtime& rt) { return gradients<mean_op>(&rt, {5}); }, {{5}, {5}});
}

}  // namespace
}  // namespace troupe::test
