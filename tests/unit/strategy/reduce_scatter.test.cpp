#include "troupe/strategy/reductions/reduce_scatter.hpp"

#include <array>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <concepts>
#include <cstddef>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using ints = std::vector<int>;
using floats = std::vector<float>;

static_assert(std::same_as<decltype(reduce_scatter(reduce_op::mean, per_replica<ints>())),
                           per_replica<std::vector<double>>>);
static_assert(
    std::same_as<decltype(reduce_scatter(reduce_op::sum, per_replica<std::array<int, 3>>())),
                 per_replica<ints>>);
static_assert(std::same_as<decltype(reduce_scatter(reduce_op::mean, per_replica<tensor<char>>())),
                           per_replica<tensor<float>>>);

TEST_CASE("each replica gets its stripe of the sum, in replica order") {
  const per_replica<ints> values = {{1, 2, 3, 4}, {10, 20, 30, 40}};
  CHECK(reduce_scatter(reduce_op::sum, values) == per_replica<ints>({{11, 22}, {33, 44}}));
  CHECK(reduce_scatter(reduce_op::mean, values)[1] == std::vector<double>({16.5, 22.0}));
}

TEST_CASE("rows that cannot be dealt out evenly go to the first replicas") {
  const ints one_to_five = {1, 2, 3, 4, 5};
  const per_replica<ints> three = {one_to_five, one_to_five, one_to_five};
  CHECK(reduce_scatter(reduce_op::max, three) == per_replica<ints>({{1, 2}, {3, 4}, {5}}));
  const per_replica<ints> short_ones = {{7}, {8}, {9}};
  CHECK(reduce_scatter(reduce_op::max, short_ones) == per_replica<ints>({{9}, {}, {}}));
  const per_replica<ints> none = {{}, {}};
  CHECK(reduce_scatter(reduce_op::sum, none) == per_replica<ints>({{}, {}}));
}

template <class T>
per_replica<tensor<T>> tensors_of(std::size_t replicas, const tensor_shape& shape) {
  per_replica<tensor<T>> all;
  all.reserve(replicas);
  for (std::size_t r = 0; r < replicas; ++r) {
    auto& each = all.append(tensor<T>(shape));
    for (std::size_t j = 0; j < each.size(); ++j) {
      each[j] = static_cast<T>(0.37f * static_cast<float>((j * 13 + r * 7) % 101) - 9.5f);
    }
  }
  return all;
}

TEST_CASE("exact: stripes along any axis, put together, are the reduction") {
  for (const std::size_t replicas : {1u, 2u, 3u, 5u}) {
    for (const tensor_shape& shape : {tensor_shape{7}, tensor_shape{4, 3, 5}, tensor_shape{1, 9}}) {
      const auto values = tensors_of<float>(replicas, shape);
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        INFO(replicas << " replicas, axis " << axis << " of " << shape.size());
        const auto sums = reduce_scatter(reduce_op::sum, values, axis);
        CHECK(gather(sums, axis) == reduce(reduce_op::sum, values));
        const auto halves = tensors_of<bfloat16>(replicas, shape);
        CHECK(gather(reduce_scatter(reduce_op::mean, halves, axis), axis) ==
              reduce(reduce_op::mean, halves));
      }
    }
  }
}

struct hypotenuse : own_reduction {
  static constexpr const char* name = "hypotenuse";
  int operator()(int a, int b) const { return a * a + b * b; }
};

TEST_CASE("operations of one's own are scattered, too") {
  const per_replica<ints> values = {{1, 2}, {3, 4}};
  CHECK(reduce_scatter(hypotenuse(), values) == per_replica<ints>({{10}, {20}}));
}

TEST_CASE("shapes that differ and axes that are not there are errors") {
  const per_replica<ints> uneven = {{1, 2}, {3}};
  CHECK(
      is(thrown_by([&] { return reduce_scatter(reduce_op::sum, uneven); }), errc::shape_mismatch));
  CHECK(is(thrown_by([&] { return reduce_scatter(reduce_op::sum, per_replica<ints>()); }),
           errc::shape_mismatch));
  const auto values = tensors_of<float>(2, {2, 3});
  for (const int axis : {-1, 2}) {
    CHECK(is(thrown_by([&] { return reduce_scatter(reduce_op::sum, values, axis); }),
             errc::invalid_axis));
  }
  const per_replica<tensor<float>> scalars = {tensor<float>::scalar(1), tensor<float>::scalar(2)};
  CHECK(is(thrown_by([&] { return reduce_scatter(reduce_op::sum, scalars); }), errc::invalid_axis));
}

// -- in replicas ----------------------------------------------------------------------------------

task<tensor<float>> stripe_of_mine(replica_context ctx, tensor<float> mine, int axis) {
  co_return co_await ctx.reduce_scatter(reduce_op::mean, std::move(mine), axis);
}

TEST_CASE("in replicas each gets its own stripe, on an executor and on pools, of any size") {
  for (const tensor_shape& shape : {tensor_shape{5, 3}, tensor_shape{300, 501}}) {
    const auto values = tensors_of<float>(3, shape);
    for (const std::size_t threads : {0u, 1u, 2u, 4u}) {
      asio::io_context io;
      runtime rt = threads == 0 ? runtime(io.get_executor()) : runtime(pool_size{threads});
      const mirrored_strategy strategy(rt, 3);
      for (const int axis : {0, 1}) {
        INFO(threads << " threads, axis " << axis);
        const auto stripes = block_on(rt, strategy.run(stripe_of_mine, values, axis));
        CHECK(stripes == reduce_scatter(reduce_op::mean, values, axis));
      }
    }
  }
}

task<ints> by_axis_of_id(replica_context ctx) {
  ints mine{1, 2};
  co_return co_await ctx.reduce_scatter(reduce_op::sum, std::move(mine), ctx.replica_id());
}

TEST_CASE("replicas that name different axes have not called the same") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 2);
  CHECK(is(thrown_by([&] { return block_on(rt, strategy.run(by_axis_of_id)); }),
           errc::merge_mismatch));
}

TEST_CASE("under every schedule everybody gets the same stripe") {
  const auto body = [](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto values = tensors_of<float>(3, {4});
    const auto stripes = co_await strategy.run(stripe_of_mine, values, 0);
    w.check(stripes == reduce_scatter(reduce_op::mean, values), "the stripes of the mean");
  };
  explore_seeds(body, 200);
}

}  // namespace
}  // namespace troupe::test
