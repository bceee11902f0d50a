// Exact sums: the same bits however numbers are dealt out, and those of real numbers rounded once.

#include "troupe/strategy/reductions/exact_sum.hpp"

#include <algorithm>
#include <asio/io_context.hpp>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <troupe/troupe.hpp>
#include <vector>

namespace troupe::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
exact_sum<T> exactly(std::vector<T> numbers) {
  return sum_exactly(numbers);
}

TEST_CASE("exact: what cancels out leaves what a plain sum loses") {
  CHECK(exactly<double>({1e308, 1.0, -1e308}).sum() == 1.0);
  CHECK(exactly<double>({1e308, 1e308, -1e308, -1e308, 5e-324}).sum() == 5e-324);
  CHECK(exactly<float>({3e38f, 3e38f, -3e38f, 1e-45f, -3e38f}).sum() == 1e-45f);
  CHECK(exactly<double>({0.1, 0.2, 0.3, -0.6}).sum() == std::ldexp(1.0, -55));
  CHECK(exactly<double>({}).sum() == 0.0);
}

TEST_CASE("exact: the sum is rounded once, to nearest, ties to even") {
  const double one = 1.0;
  const double half_digit = std::ldexp(1.0, -53);
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(exactly<double>({one, half_digit}).sum() == one);
  CHECK(exactly<double>({one, half_digit, least}).sum() == one + 2 * half_digit);
  CHECK(exactly<double>({one, half_digit, -least}).sum() == one);
  CHECK(exactly<double>({-one, -half_digit, -least}).sum() == -one - 2 * half_digit);
  CHECK(exactly<double>({one + 2 * half_digit, half_digit}).sum() == one + 4 * half_digit);
  // A carry through all digits.
  CHECK(exactly<double>({std::ldexp(2.0 - 2 * half_digit, 900), std::ldexp(1.0, 848)}).sum() ==
        std::ldexp(2.0, 900));
}

TEST_CASE("exact: beyond the largest number is infinity, and not before") {
  const double most = std::numeric_limits<double>::max();
  const double half_digit = std::ldexp(1.0, 970);
  CHECK(exactly<double>({most, half_digit}).sum() == infinity);
  CHECK(exactly<double>({most, std::nextafter(half_digit, 0.0)}).sum() == most);
  CHECK(exactly<double>({-most, -most}).sum() == -infinity);
  CHECK(exactly<double>({most, most, most}).mean() == most);
  const float most_float = std::numeric_limits<float>::max();
  CHECK(exactly<float>({most_float, most_float}).sum() == std::numeric_limits<float>::infinity());
}

TEST_CASE("defined: infinities and what is not a number") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(exactly<double>({1.0, infinity, -1e308}).sum() == infinity);
  CHECK(exactly<double>({1.0, -infinity}).mean() == -infinity);
  CHECK(std::isnan(exactly<double>({infinity, -infinity}).sum()));
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  CHECK(bits(exactly<double>({1.0, -nan, infinity}).sum()) == bits(nan));
  CHECK(bits(exactly<double>({-0.0, -0.0}).sum()) == bits(0.0));
  CHECK(std::isnan(exact_sum<float>().mean()));
}

TEST_CASE("exact: a mean is the real quotient, rounded once") {
  CHECK(exactly<double>({1.0, 0.0, 0.0}).mean() == 1.0 / 3.0);
  CHECK(exactly<float>({1.0f, 1.0f, 0.0f}).mean() == 2.0f / 3.0f);
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(exactly<double>({least, least, 0.0}).mean() == least);
  CHECK(exactly<double>({least, 0.0, 0.0}).mean() == 0.0);
  CHECK(exactly<double>({3 * least, 0.0}).mean() == 2 * least);
  // Rounded twice, by way of the sum, this would be another number.
  const double a = std::ldexp(1.0, 53);
  CHECK(exactly<double>({a, 1.0, 1.0, 1.0, 1.0}).mean() == (a + 4.0) / 5.0);
  CHECK(exactly<double>({a, 1.0}).mean() == a / 2 + 0.0);
}

TEST_CASE("integers wrap around in sums, and not in means") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(exactly<std::int64_t>({most, most, most}).mean() == static_cast<double>(most));
  CHECK(exactly<std::int64_t>({most, 1}).sum() == std::numeric_limits<std::int64_t>::min());
  CHECK(exactly<std::int8_t>({-128, -128, -128}).mean() == -128.0f);
  CHECK(exactly<std::uint8_t>({255, 2}).sum() == 1);
  CHECK(exactly<std::uint64_t>({~std::uint64_t{0}, ~std::uint64_t{0}}).mean() ==
        static_cast<double>(~std::uint64_t{0}));
}

TEST_CASE("numbers of 16 bits are rounded once, too") {
  std::vector<float16> many(5'000, float16(0.1f));
  const double each = static_cast<float>(many[0]);
  CHECK(sum_exactly(many).sum() == float16(static_cast<float>(5'000 * each)));
  CHECK(sum_exactly(many).mean() == many[0]);
  std::vector<bfloat16> large(3, std::numeric_limits<bfloat16>::max());
  CHECK(static_cast<float>(sum_exactly(large).sum()) == std::numeric_limits<float>::infinity());
}

// -- dealt out ------------------------------------------------------------------------------------

/// Numbers of all sizes, denormal ones and those that cancel out included.
template <class T>
std::vector<T> hostile(std::size_t n, std::uint32_t seed) {
  using limits = std::numeric_limits<T>;
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> exponent(limits::min_exponent - limits::digits,
                                              limits::max_exponent - 12);
  std::vector<T> all;
  while (all.size() + 2 <= n) {
    const T each = std::ldexp(static_cast<T>(random() | 1u), exponent(random) - 32);
    all.push_back(each);
    all.push_back(random() % 4 == 0 ? each : -each);
  }
  while (all.size() < n) all.push_back(limits::denorm_min());
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

/// Consecutive stretches of uneven lengths, one for each replica; some of them empty.
template <class T>
per_replica<std::vector<T>> dealt(const std::vector<T>& all, std::size_t replicas,
                                  std::mt19937& random) {
  std::vector<std::size_t> cuts{0, all.size()};
  while (cuts.size() < replicas + 1) cuts.push_back(random() % (all.size() + 1));
  std::sort(cuts.begin(), cuts.end());
  per_replica<std::vector<T>> parts;
  parts.reserve(replicas);
  for (std::size_t i = 0; i < replicas; ++i) {
    const auto at = [&](std::size_t k) { return all.begin() + static_cast<std::ptrdiff_t>(k); };
    parts.append(std::vector<T>(at(cuts[i]), at(cuts[i + 1])));
  }
  return parts;
}

template <class T>
bool same_bits(T a, T b) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<bits>(a) == std::bit_cast<bits>(b);
}

template <class T>
task<T> mean_of_mine(replica_context ctx, std::vector<T> mine) {
  exact_sum<T> sum;
  for (const T each : mine) sum.add(each);
  co_return co_await ctx.all_reduce(reduce_op::mean, sum);
}

template <class T>
void check_dealings(const std::vector<T>& all, std::uint32_t seed) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  std::mt19937 random(seed);
  const T sum = sum_exactly(all).sum();
  const T mean = sum_exactly(all).mean();
  for (const std::size_t replicas : {1u, 2u, 3u, 5u, 8u}) {
    INFO(replicas << " replicas");
    const mirrored_strategy strategy(rt, static_cast<int>(replicas));
    const auto parts = dealt(all, replicas, random);
    CHECK(same_bits(strategy.reduce(reduce_op::sum, parts, 0, order::global), sum));
    CHECK(same_bits(strategy.reduce(reduce_op::mean, parts, 0, order::global), mean));
    const auto in_replicas = block_on(rt, strategy.run(mean_of_mine<T>, parts));
    for (const T each : in_replicas) CHECK(same_bits(each, mean));
  }
}

TEST_CASE("global: 1, 2, 3, 5 and 8 replicas have the same bits, however numbers are dealt out") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    check_dealings(hostile<float>(101 + seed, seed), seed);
    check_dealings(hostile<double>(101 + seed, seed), seed);
  }
  auto special = hostile<double>(50, 3);
  special[7] = infinity;
  check_dealings(special, 4);
  special[31] = -infinity;
  check_dealings(special, 5);
}

TEST_CASE("by replica the bits depend on the dealing: there is something to mend") {
  const std::vector<float> all = hostile<float>(100, 9);
  std::mt19937 random(1);
  const float whole = reduce(reduce_op::sum, dealt(all, 1, random), 0);
  bool differs = false;
  for (const std::size_t replicas : {2u, 3u, 5u, 8u}) {
    differs |= !same_bits(reduce(reduce_op::sum, dealt(all, replicas, random), 0), whole);
  }
  CHECK(differs);
}

TEST_CASE("global: along an axis each place has its own sum, whatever stays") {
  per_replica<tensor<float>> rows;
  rows.reserve(2);
  rows.append(tensor<float>(tensor_shape{2, 2}, {1e30f, 1.0f, 1.0f, 2.0f}));
  rows.append(tensor<float>(tensor_shape{1, 2}, {-1e30f, 4.0f}));
  const tensor<float> sums = reduce(reduce_op::sum, rows, 0, order::global);
  CHECK(sums == tensor<float>(tensor_shape{2}, {1.0f, 7.0f}));
  const tensor<float> means = reduce(reduce_op::mean, rows, {0}, order::global);
  CHECK(means == tensor<float>(tensor_shape{2}, {1.0f / 3.0f, 7.0f / 3.0f}));
}

TEST_CASE("orderless: sums of equal numbers are equal, and of different counts are not") {
  auto numbers = hostile<double>(200, 5);
  const auto sum = sum_exactly(numbers);
  std::reverse(numbers.begin(), numbers.end());
  CHECK(sum_exactly(numbers) == sum);
  numbers.push_back(0.0);
  CHECK_FALSE(sum_exactly(numbers) == sum);
}

}  // namespace
}  // namespace troupe::test
