#include "troupe/strategy/reductions/reduce.hpp"

#include <array>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

template <class T>
using mean_of = decltype(reduce(reduce_op::mean, per_replica<T>()));
template <class T>
using sum_of = decltype(reduce(reduce_op::sum, per_replica<T>()));

static_assert(std::same_as<mean_of<float>, float>);
static_assert(std::same_as<mean_of<double>, double>);
static_assert(std::same_as<mean_of<long double>, long double>);
static_assert(std::same_as<mean_of<std::int8_t>, float>);
static_assert(std::same_as<mean_of<std::uint16_t>, float>);
static_assert(std::same_as<mean_of<std::int32_t>, double>);
static_assert(std::same_as<mean_of<std::uint64_t>, double>);
static_assert(std::same_as<mean_of<std::vector<int>>, std::vector<double>>);
static_assert(std::same_as<mean_of<std::array<float, 3>>, std::array<float, 3>>);
static_assert(std::same_as<sum_of<std::uint8_t>, std::uint8_t>);
static_assert(std::same_as<sum_of<std::vector<short>>, std::vector<short>>);
static_assert(!reducible<bool> && !reducible<const char*> && !reducible<std::vector<bool>>);

// -- sums -----------------------------------------------------------------------------------------

TEMPLATE_TEST_CASE("the sum of every arithmetic type keeps its type", "", char, signed char,
                   unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                   long long, unsigned long long, float, double, long double) {
  const per_replica<TestType> values = {TestType(1), TestType(2), TestType(4)};
  CHECK(reduce(reduce_op::sum, values) == TestType(7));
}

TEMPLATE_TEST_CASE("defined: sums of integers wrap around", "", signed char, unsigned char, short,
                   unsigned short, int, unsigned, long, unsigned long, long long) {
  using limits = std::numeric_limits<TestType>;
  const per_replica<TestType> values = {limits::max(), TestType(1)};
  CHECK(reduce(reduce_op::sum, values) == limits::min());
}

TEST_CASE("the sum of one value is the value") {
  CHECK(reduce(reduce_op::sum, per_replica<int>({5})) == 5);
}

/// Numbers of very different size, the same in every run of the test.
std::vector<double> scattered(std::size_t n) {
  std::vector<double> all;
  std::uint64_t state = 42;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto digits = static_cast<double>(state >> 20) - 8e12;
    all.push_back(state % 3 == 0 ? digits * 1e-9 : digits);
  }
  return all;
}

TEST_CASE("exact: a sum has the bits of adding up from left to right") {
  const auto source = scattered(1001);
  double folded = source[0];
  for (std::size_t i = 1; i < source.size(); ++i) folded += source[i];
  const double reduced = reduce(reduce_op::sum, per_replica<double>(source.begin(), source.end()));
  CHECK(std::bit_cast<std::uint64_t>(reduced) == std::bit_cast<std::uint64_t>(folded));
}

TEST_CASE("exact: what cancels out only in another order does not") {
  const double in_replica_order = (1e16 + 1.0) + -1e16;
  CHECK(reduce(reduce_op::sum, per_replica<double>({1e16, 1.0, -1e16})) == in_replica_order);
}

TEST_CASE("exact: each element of long vectors has the bits of adding up from left to right") {
  constexpr std::size_t length = 20'000, replicas = 5;
  const auto source = scattered(length + replicas);
  per_replica<std::vector<double>> values;
  values.reserve(replicas);
  for (std::size_t r = 0; r < replicas; ++r) {
    const auto first = source.begin() + static_cast<std::ptrdiff_t>(r);
    values.append(first, first + static_cast<std::ptrdiff_t>(length));
  }
  const auto reduced = reduce(reduce_op::sum, values);
  REQUIRE(reduced.size() == length);
  bool equal = true;
  for (std::size_t j = 0; j < length; ++j) {
    double folded = values[0][j];
    for (std::size_t r = 1; r < replicas; ++r) folded += values[r][j];
    equal =
        equal && std::bit_cast<std::uint64_t>(folded) == std::bit_cast<std::uint64_t>(reduced[j]);
  }
  CHECK(equal);
}

// -- means ----------------------------------------------------------------------------------------

TEST_CASE("core-210 the mean of integers is no integer") {
  CHECK(reduce(reduce_op::mean, per_replica<int>({0, 1})) == 0.5);
}

TEST_CASE("a mean is the sum divided by the number of replicas") {
  CHECK(reduce(reduce_op::mean, per_replica<double>({1, 2, 6})) == 3.0);
  CHECK(reduce(reduce_op::mean, per_replica<short>({-1, -2})) == -1.5f);
}

TEST_CASE("the mean of one value is the value") {
  CHECK(reduce(reduce_op::mean, per_replica<int>({5})) == 5.0);
}

TEST_CASE("core-213 the mean of a mirrored value is the value") {
  CHECK(reduce(reduce_op::mean, mirrored<int>(3)) == 3);
}

template <class Op>
concept reduces_mirrored = requires(Op op, mirrored<int> m) { reduce(op, m); };
static_assert(reduces_mirrored<mean_op>);
static_assert(reduces_mirrored<min_op> && reduces_mirrored<max_op>);
static_assert(!reduces_mirrored<sum_op> && !reduces_mirrored<product_op>);

// -- minima, maxima, products ---------------------------------------------------------------------

TEMPLATE_TEST_CASE("minima, maxima and products keep the type", "", char, short, unsigned, long,
                   float, double, long double) {
  const per_replica<TestType> values = {TestType(3), TestType(2), TestType(4)};
  const TestType least = reduce(reduce_op::min, values);
  const TestType greatest = reduce(reduce_op::max, values);
  const TestType product = reduce(reduce_op::product, values);
  CHECK(least == TestType(2));
  CHECK(greatest == TestType(4));
  CHECK(product == TestType(24));
}

TEST_CASE("defined: products of integers wrap around") {
  CHECK(reduce(reduce_op::product, per_replica<std::uint16_t>({65'535, 65'535})) == 1);
  CHECK(reduce(reduce_op::product, per_replica<std::int32_t>({1 << 30, 6})) ==
        std::numeric_limits<std::int32_t>::min());
}

TEMPLATE_TEST_CASE("defined: the least and the greatest of equals is the first", "", float, double,
                   long double) {
  const TestType zero = 0;
  for (const bool negative : {false, true}) {
    const TestType first = negative ? -zero : zero;
    const per_replica<TestType> values = {first, -first};
    CHECK(std::signbit(reduce(reduce_op::min, values)) == negative);
    CHECK(std::signbit(reduce(reduce_op::max, values)) == negative);
  }
}

TEST_CASE("defined: what has a NaN is the one NaN, wherever it stands and whichever it is") {
  const float one = std::numeric_limits<float>::quiet_NaN();
  const auto other = std::bit_cast<float>(0xff81'2345u);
  const auto is_the_one = [&](float x) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(one);
  };
  for (const auto& values : {per_replica<float>{other, 1, 2}, per_replica<float>{1, other, 2},
                             per_replica<float>{1, other, one}, per_replica<float>{other}}) {
    CHECK(is_the_one(reduce(reduce_op::sum, values)));
    CHECK(is_the_one(reduce(reduce_op::mean, values)));
    CHECK(is_the_one(reduce(reduce_op::min, values)));
    CHECK(is_the_one(reduce(reduce_op::max, values)));
    CHECK(is_the_one(reduce(reduce_op::product, values)));
  }
}

TEST_CASE("the least and greatest of a plain value is the value; its product is refused") {
  const strategy& alone = get_default_strategy();
  CHECK(alone.reduce(reduce_op::min, 3) == 3);
  CHECK(alone.reduce(reduce_op::product, 3) == 3);
  runtime rt{pool_size{1}};
  const mirrored_strategy both(rt, 2);
  CHECK(both.reduce(reduce_op::max, 3) == 3);
  CHECK(is(thrown_by([&] { return both.reduce(reduce_op::product, 3); }), errc::not_per_replica));
}

// -- ranges ---------------------------------------------------------------------------------------

TEST_CASE("core-200 the sum of ranges is taken element by element") {
  const per_replica<std::vector<int>> values = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  CHECK(reduce(reduce_op::sum, values) == std::vector<int>({4, 6, 8, 10}));
}

TEST_CASE("core-200 the mean of ranges is taken element by element") {
  const per_replica<std::vector<int>> values = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  CHECK(reduce(reduce_op::mean, values) == std::vector<double>({2, 3, 4, 5}));
}

TEST_CASE("minima, maxima and products of ranges are taken element by element") {
  const per_replica<std::vector<int>> values = {{0, 9, 2, 3}, {4, 5, -6, 7}};
  CHECK(reduce(reduce_op::min, values) == std::vector<int>({0, 5, -6, 3}));
  CHECK(reduce(reduce_op::max, values) == std::vector<int>({4, 9, 2, 7}));
  CHECK(reduce(reduce_op::product, values) == std::vector<int>({0, 45, -12, 21}));
}

TEST_CASE("arrays are reduced element by element") {
  const per_replica<std::array<int, 2>> values = {std::array<int, 2>{1, 2},
                                                  std::array<int, 2>{3, 4}};
  CHECK(reduce(reduce_op::sum, values) == std::array<int, 2>{4, 6});
}

TEST_CASE("core-201 ranges of different length are errc::shape_mismatch") {
  const per_replica<std::vector<int>> values = {{0, 1, 2, 3}, {4, 5}};
  CHECK(is(thrown_by([&] { return reduce(reduce_op::sum, values); }), errc::shape_mismatch));
}

TEST_CASE("ranges without elements reduce to a range without elements") {
  const per_replica<std::vector<int>> values = {{}, {}};
  CHECK(reduce(reduce_op::sum, values).empty());
}

TEST_CASE("no value at all is errc::shape_mismatch") {
  CHECK(is(thrown_by([] { return reduce(reduce_op::sum, per_replica<int>()); }),
           errc::shape_mismatch));
}

}  // namespace
}  // namespace troupe::test
