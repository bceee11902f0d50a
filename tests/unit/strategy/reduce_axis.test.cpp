#include "troupe/strategy/reductions/reduce_axis.hpp"

#include <array>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using floats = std::vector<float>;
using rows = per_replica<std::vector<int>>;
using tensors = per_replica<tensor<double>>;

static_assert(std::same_as<decltype(reduce(reduce_op::sum, rows(), 0)), int>);
static_assert(std::same_as<decltype(reduce(reduce_op::mean, rows(), 0)), double>);
static_assert(
    std::same_as<decltype(reduce(reduce_op::mean, per_replica<tensor<char>>(), 0)), tensor<float>>);

TEST_CASE("core-200 along an axis all numbers of all replicas become one") {
  const rows values = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  CHECK(reduce(reduce_op::sum, values, 0) == 28);
  CHECK(reduce(reduce_op::mean, values, 0) == 3.5);
}

TEST_CASE("core-201 true: a mean divides by the number of numbers") {
  const rows values = {{0, 1, 2, 3}, {4, 5}};
  CHECK(reduce(reduce_op::mean, values, 0) == 2.5);
  CHECK(reduce(reduce_op::sum, values, 0) == 15);
}

TEST_CASE("core-204 batches may differ in length along the axis that goes") {
  const per_replica<floats> values = {{5, 6}, {7}};
  CHECK(reduce(reduce_op::mean, values, 0) == 6.0f);
  const tensors batches = {tensor<double>({2, 2}, {1, 1, 1, 1}), tensor<double>({1, 2}, {1, 1})};
  CHECK(reduce(reduce_op::mean, batches, 0) == tensor<double>({2}, {1, 1}));
}

const tensors squares = {tensor<double>({2, 2}, {1, 2, 3, 4}),
                         tensor<double>({2, 2}, {5, 6, 7, 8})};

TEST_CASE("core-205 a negative axis counts from the end") {
  CHECK(reduce(reduce_op::sum, squares, -1) == tensor<double>({2}, {14, 22}));
  CHECK(reduce(reduce_op::mean, squares, -1) == tensor<double>({2}, {3.5, 5.5}));
  CHECK(reduce(reduce_op::sum, squares, -2) == reduce(reduce_op::sum, squares, 0));
}

TEST_CASE("several axes go at once") {
  CHECK(reduce(reduce_op::sum, squares, {0, 1}).item() == 36);
  CHECK(reduce(reduce_op::mean, squares, {1, -2}).item() == 4.5);
  const tensors cubes = {tensor<double>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})};
  CHECK(reduce(reduce_op::sum, cubes, {0, 2}) == tensor<double>({2}, {14, 22}));
}

TEST_CASE("core-214 a replica without numbers adds none") {
  const per_replica<floats> values = {{5}, {}};
  CHECK(reduce(reduce_op::mean, values, 0) == 5.0f);
  const per_replica<floats> none = {{}, {}};
  CHECK(std::isnan(reduce(reduce_op::mean, none, 0)));
  CHECK(reduce(reduce_op::sum, none, 0) == 0.0f);
}

TEST_CASE("arrays have an axis") {
  const per_replica<std::array<int, 2>> values = {std::array<int, 2>{1, 2},
                                                  std::array<int, 2>{3, 4}};
  CHECK(reduce(reduce_op::sum, values, 0) == 10);
}

TEST_CASE("the mean of integers near their limit is right") {
  const rows values = {{2'000'000'000, 2'000'000'000}, {2'000'000'000}};
  CHECK(reduce(reduce_op::mean, values, 0) == 2e9);
  const per_replica<int> plain = {2'000'000'000, 2'000'000'000};
  CHECK(reduce(reduce_op::mean, plain) == 2e9);
}

TEST_CASE("true: a mean of many small numbers is inside their range") {
  per_replica<std::vector<std::uint8_t>> pixels;
  pixels.reserve(1);
  pixels.append(std::vector<std::uint8_t>(4'000'000, 255));
  CHECK(reduce(reduce_op::mean, pixels, 0) == 255.0f);
  per_replica<floats> ones;
  ones.reserve(1);
  ones.append(floats(20'000'000, 1.0f));
  CHECK(reduce(reduce_op::mean, ones, 0) == 1.0f);
  per_replica<std::uint16_t> shorts;
  shorts.reserve(1000);
  for (int i = 0; i < 1000; ++i) shorts.append(std::uint16_t{65535});
  CHECK(reduce(reduce_op::mean, shorts) == 65535.0f);
}

/// What a walk over all places gives, one number at a time.
tensor<double> by_hand(const tensors& values, std::size_t axis) {
  tensor_shape shape = values[0].shape();
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  tensor<double> total(shape);
  for (const auto& each : values) {
    tensor<double> part(shape);
    std::size_t inner = 1;
    for (std::size_t i = axis + 1; i < each.rank(); ++i) inner *= each.shape()[i];
    const std::size_t length = each.shape()[axis];
    for (std::size_t j = 0; j < each.size(); ++j) {
      part[j / (inner * length) * inner + j % inner] += each[j];
    }
    for (std::size_t j = 0; j < total.size(); ++j) total[j] += part[j];
  }
  return total;
}

TEST_CASE("exact: any axis of any shape, with the bits of adding up by hand") {
  std::uint64_t state = 7;
  const auto next = [&state] {
    return state = state * 6364136223846793005u + 1442695040888963407u;
  };
  for (int round = 0; round < 300; ++round) {
    const std::size_t rank = 1 + next() / 7 % 4;
    const std::size_t axis = next() / 7 % rank;
    tensor_shape shape;
    for (std::size_t i = 0; i < rank; ++i) shape.push_back(next() / 7 % 4);
    tensors values;
    values.reserve(3);
    for (int i = 0; i < 3; ++i) {
      shape[axis] = next() / 7 % 5;
      auto& made = values.append(shape);
      for (double& x : made.values()) x = static_cast<double>(next() >> 11) * 1e-3;
    }
    CHECK(reduce(reduce_op::sum, values, static_cast<int>(axis)) == by_hand(values, axis));
  }
}

// -- mistakes -------------------------------------------------------------------------------------

TEST_CASE("core-206 an axis that is not there is errc::invalid_axis") {
  const rows values = {{1}, {2}};
  CHECK(is(thrown_by([&] { return reduce(reduce_op::mean, values, 1); }), errc::invalid_axis));
  CHECK(is(thrown_by([&] { return reduce(reduce_op::mean, values, -2); }), errc::invalid_axis));
  const tensors scalars = {tensor<double>::scalar(1)};
  CHECK(is(thrown_by([&] { return reduce(reduce_op::sum, scalars, 0); }), errc::invalid_axis));
}

TEST_CASE("an axis named twice, and none, are errc::invalid_axis") {
  CHECK(is(thrown_by([] { return reduce(reduce_op::sum, squares, {0, -2}); }), errc::invalid_axis));
  CHECK(is(thrown_by([] { return reduce(reduce_op::sum, squares, std::initializer_list<int>()); }),
           errc::invalid_axis));
}

TEST_CASE("axes that stay and differ in size are errc::shape_mismatch, with every shape") {
  const tensors values = {tensor<double>(tensor_shape{2, 2}), tensor<double>(tensor_shape{2, 3})};
  const auto e = as<error>(thrown_by([&] { return reduce(reduce_op::sum, values, 0); }));
  REQUIRE(e.has_value());
  CHECK(e->code() == errc::shape_mismatch);
  CHECK(std::string(e->what()).find("[2, 2], [2, 3]") != std::string::npos);
}

// -- strategy.reduce ------------------------------------------------------------------------------

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
};

std::vector<float> one_and_two() { return {1, 2}; }

TEST_CASE_METHOD(fixture, "core-202 what a run returned is reduced along an axis") {
  const auto x = block_on(rt, strategy.run(one_and_two));
  CHECK(strategy.reduce(reduce_op::mean, x, 0) == 1.5f);
  CHECK(strategy.reduce(reduce_op::sum, x, 0) == 6.0f);
}

TEST_CASE_METHOD(fixture, "core-212 of a plain value every replica reduces a copy") {
  CHECK(strategy.reduce(reduce_op::sum, floats{1, 2}, 0) == 6.0f);
  CHECK(strategy.reduce(reduce_op::mean, floats{1, 2}, {0}) == 1.5f);
  CHECK(strategy.reduce(reduce_op::sum, mirrored(floats{1, 2}), -1) == 6.0f);
}

TEST_CASE_METHOD(fixture, "a plain value is its own mean, and has a sum where there is no doubt") {
  CHECK(strategy.reduce(reduce_op::mean, 3) == 3);
  CHECK(strategy.reduce(reduce_op::sum, 0) == 0);
  const mirrored_strategy single(rt, 1);
  CHECK(single.reduce(reduce_op::sum, 3) == 3);
  CHECK(is(thrown_by([&] { return strategy.reduce(reduce_op::sum, 3); }), errc::not_per_replica));
}

}  // namespace
}  // namespace troupe::test
