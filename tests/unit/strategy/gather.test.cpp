#include "troupe/strategy/reductions/gather.hpp"

#include <array>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using tensors = per_replica<tensor<int>>;

TEST_CASE("ordered: ranges are gathered one after the other, of any length and type") {
  const per_replica<std::vector<int>> values = {{1, 2}, {}, {3}};
  CHECK(gather(values) == std::vector<int>({1, 2, 3}));
  const per_replica<std::vector<std::string>> texts = {{"a"}, {"b", "c"}};
  CHECK(gather(texts) == std::vector<std::string>({"a", "b", "c"}));
}

TEST_CASE("arrays are gathered into a vector") {
  const per_replica<std::array<int, 2>> values = {std::array<int, 2>{1, 2},
                                                  std::array<int, 2>{3, 4}};
  CHECK(gather(values) == std::vector<int>({1, 2, 3, 4}));
}

TEST_CASE("tensors are gathered along axis 0: row after row") {
  const tensors values = {tensor<int>({1, 2}, {1, 2}), tensor<int>({2, 2}, {3, 4, 5, 6})};
  CHECK(gather(values) == tensor<int>({3, 2}, {1, 2, 3, 4, 5, 6}));
}

TEST_CASE("tensors are gathered along another axis: within each row") {
  const tensors values = {tensor<int>({2, 1}, {1, 4}), tensor<int>({2, 2}, {2, 3, 5, 6})};
  CHECK(gather(values, 1) == tensor<int>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const tensors deep = {tensor<int>({2, 1, 2}, {1, 2, 5, 6}), tensor<int>({2, 1, 2}, {3, 4, 7, 8})};
  CHECK(gather(deep, 1) == tensor<int>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_CASE("a replica may bring none, and so may all") {
  const tensors some = {tensor<int>(tensor_shape{0, 2}), tensor<int>({1, 2}, {1, 2})};
  CHECK(gather(some) == tensor<int>({1, 2}, {1, 2}));
  const tensors none = {tensor<int>(tensor_shape{0, 2}), tensor<int>(tensor_shape{0, 2})};
  CHECK(gather(none).shape() == tensor_shape{0, 2});
}

TEST_CASE("strict: other axes that differ are errc::shape_mismatch") {
  const tensors sizes = {tensor<int>(tensor_shape{1, 2}), tensor<int>(tensor_shape{1, 3})};
  CHECK(is(thrown_by([&] { return gather(sizes); }), errc::shape_mismatch));
  const tensors ranks = {tensor<int>(tensor_shape{1, 2}), tensor<int>(tensor_shape{1})};
  CHECK(is(thrown_by([&] { return gather(ranks); }), errc::shape_mismatch));
  CHECK(is(thrown_by([] { return gather(tensors()); }), errc::shape_mismatch));
}

TEST_CASE("an axis that is not there is errc::invalid_axis") {
  const tensors values = {tensor<int>(tensor_shape{1, 2})};
  CHECK(is(thrown_by([&] { return gather(values, 2); }), errc::invalid_axis));
  CHECK(is(thrown_by([&] { return gather(values, -1); }), errc::invalid_axis));
  const per_replica<std::vector<int>> ranges = {{1}};
  CHECK(is(thrown_by([&] { return gather(ranges, 1); }), errc::invalid_axis));
  const tensors scalars = {tensor<int>::scalar(1)};
  CHECK(is(thrown_by([&] { return gather(scalars, 0); }), errc::invalid_axis));
}

// -- weighted values ------------------------------------------------------------------------------

TEST_CASE("the mean of weighted values is that of all their numbers") {
  const per_replica<weighted<std::int64_t>> values = {weigh(std::vector<int>{0, 1, 2, 3}),
                                                      weigh(std::vector<int>{4, 5})};
  CHECK(values[0] == weighted<std::int64_t>{6, 4});
  CHECK(reduce(reduce_op::mean, values) == 2.5);
  CHECK(reduce(reduce_op::sum, values) == weighted<std::int64_t>{15, 6});
}

TEST_CASE("weighted ranges are averaged element by element") {
  using row = std::vector<float>;
  const per_replica<weighted<row>> values = {{{2, 4}, 2}, {{1, 5}, 1}};
  CHECK(reduce(reduce_op::mean, values) == row({1, 3}));
}

TEST_CASE("weighted sums of integers do not wrap around") {
  const auto bytes = weigh(std::vector<std::uint8_t>{200, 100});
  CHECK(reduce(reduce_op::mean, per_replica<weighted<std::uint64_t>>({bytes})) == 150.0);
  const int most = std::numeric_limits<int>::max();
  const per_replica<weighted<int>> narrow = {{most, 1}, {most, 1}};
  CHECK(reduce(reduce_op::mean, narrow) == most);
}

TEST_CASE("a weighted value that is no array of replicas has a mean, too") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 2);
  CHECK(strategy.reduce(reduce_op::mean, weigh(std::vector<int>{1, 2})) == 1.5);
}

TEST_CASE("the mean of no number is not a number") {
  const per_replica<weighted<float>> values = {{}, {}};
  CHECK(std::isnan(reduce(reduce_op::mean, values)));
}

}  // namespace
}  // namespace troupe::test
