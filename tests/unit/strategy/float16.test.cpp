#include "troupe/strategy/values/float16.hpp"

#include <algorithm>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <vector>

namespace troupe::test {
namespace {

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);
static_assert(std::is_trivially_copyable_v<float16> && std::is_trivial_v<bfloat16>);
static_assert(!std::convertible_to<float, float16> && !std::convertible_to<float16, bfloat16>);
static_assert(reducible<float16> && reducible<std::vector<bfloat16>> && reducible<tensor<float16>>);
static_assert(std::same_as<reduced_t<tensor<float16>, mean_op>, tensor<float16>>);
static_assert(std::same_as<decltype(bfloat16() + bfloat16()), bfloat16>);
static_assert(!detail::writable<float16, int> && detail::writable<float16, float>);

constexpr unsigned patterns = 65'536;

template <class Half>
constexpr int fraction_bits = std::numeric_limits<Half>::digits - 1;
template <class Half>
constexpr int bias = std::numeric_limits<Half>::max_exponent - 1;

/// What the bits mean, by the definition of the format.
template <class Half>
double meaning(unsigned bits) {
  constexpr int fractions = fraction_bits<Half>;
  const int exponent = static_cast<int>((bits & 0x7fffu) >> fractions);
  const auto fraction = static_cast<double>(bits & ((1u << fractions) - 1));
  double magnitude = 0;
  if (exponent == 2 * bias<Half> + 1) {
    magnitude = fraction == 0 ? INFINITY : NAN;
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - bias<Half> - fractions);
  } else {
    magnitude =
        std::ldexp(fraction + std::ldexp(1.0, fractions), exponent - bias<Half> - fractions);
  }
  return std::copysign(magnitude, bits & 0x8000u ? -1.0 : 1.0);
}

/// The bits nearest to `value`, by a search among all of them; one past the largest is infinity.
template <class Half>
unsigned nearest(float value) {
  constexpr unsigned infinity = (2u * static_cast<unsigned>(bias<Half>) + 1) << fraction_bits<Half>;
  static const std::vector<double> magnitudes = [] {
    std::vector<double> all;
    for (unsigned bits = 0; bits < infinity; ++bits) all.push_back(meaning<Half>(bits));
    all.push_back(std::ldexp(1.0, bias<Half> + 1));
    return all;
  }();
  const unsigned sign = std::signbit(value) ? 0x8000u : 0;
  const double wanted = std::fabs(static_cast<double>(value));
  const auto above = std::lower_bound(magnitudes.begin(), magnitudes.end(), wanted);
  if (above == magnitudes.end()) return sign | infinity;
  auto at = static_cast<unsigned>(above - magnitudes.begin());
  if (at > 0) {
    const double up = *above - wanted, down = wanted - magnitudes[at - 1];
    if (down < up || (down == up && (at - 1) % 2 == 0)) --at;
  }
  return sign | at;
}

template <class Half>
Half of_bits(unsigned bits) {
  return Half::from_bits(static_cast<std::uint16_t>(bits));
}

TEMPLATE_TEST_CASE("every pattern means what the format says", "", float16, bfloat16) {
  unsigned wrong = 0;
  for (unsigned bits = 0; bits < patterns; ++bits) {
    const float got = of_bits<TestType>(bits);
    const double wanted = meaning<TestType>(bits);
    const bool same = std::isnan(wanted) ? std::isnan(got) : static_cast<double>(got) == wanted;
    wrong += same && std::signbit(got) == std::signbit(wanted) ? 0u : 1u;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("every pattern comes back from float; of NaN the quiet one with its sign and "
                   "fraction",
                   "", float16, bfloat16) {
  const unsigned quiet = 1u << (fraction_bits<TestType> - 1);
  unsigned wrong = 0;
  for (unsigned bits = 0; bits < patterns; ++bits) {
    const float wide = of_bits<TestType>(bits);
    const unsigned back = TestType(wide).bits();
    wrong += back == (std::isnan(wide) ? bits | quiet : bits) ? 0u : 1u;
    const bool is_quiet = (std::bit_cast<std::uint32_t>(wide) & 0x0040'0000u) != 0;
    wrong += !std::isnan(wide) || is_quiet ? 0u : 1u;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("rounded: between two patterns the nearest, at the middle the even one", "",
                   float16, bfloat16) {
  unsigned wrong = 0;
  for (unsigned bits = 0; bits + 1 < patterns; ++bits) {
    const auto low = static_cast<double>(float(of_bits<TestType>(bits)));
    const auto high = static_cast<double>(float(of_bits<TestType>(bits + 1)));
    if (!std::isfinite(low) || std::isnan(high)) continue;
    const double next =
        std::isfinite(high) ? high : std::copysign(std::ldexp(1.0, bias<TestType> + 1), low);
    const auto middle = static_cast<float>((low + next) / 2);
    for (const float x :
         {middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 2 * middle)}) {
      wrong += TestType(x).bits() == nearest<TestType>(x) ? 0u : 1u;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("rounded: a million floats of any size are the nearest pattern", "", float16,
                   bfloat16) {
  std::minstd_rand random(5);
  unsigned wrong = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const auto bits = static_cast<std::uint32_t>((std::uint64_t{random()} << 7) ^ random());
    const auto x = std::bit_cast<float>(bits);
    if (std::isnan(x)) continue;
    wrong += TestType(x).bits() == nearest<TestType>(x) ? 0u : 1u;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("single: an operation is rounded once", "", float16, bfloat16) {
  std::minstd_rand random(9);
  unsigned wrong = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto a = of_bits<TestType>(random() % patterns),
               b = of_bits<TestType>(random() % patterns);
    const float x = a, y = b;
    const auto same = [](TestType got, float wanted) {
      return std::isnan(wanted) ? got != got : got.bits() == nearest<TestType>(wanted);
    };
    wrong += same(a + b, x + y) && same(a - b, x - y) && same(a * b, x * y) && same(a / b, x / y)
                 ? 0u
                 : 1u;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("comparisons are those of float", "", float16, bfloat16) {
  using limits = std::numeric_limits<TestType>;
  CHECK(TestType(1) < TestType(2));
  CHECK(TestType(-1) > limits::lowest());
  CHECK(TestType(0.0f) == -TestType(0.0f));
  CHECK(limits::quiet_NaN() != limits::quiet_NaN());
  CHECK((TestType(1) <=> limits::quiet_NaN()) == std::partial_ordering::unordered);
  CHECK(limits::infinity() > limits::max());
}

TEMPLATE_TEST_CASE("limits are those of the format", "", float16, bfloat16) {
  using limits = std::numeric_limits<TestType>;
  CHECK(float(limits::epsilon()) == std::ldexp(1.0f, 1 - limits::digits));
  CHECK(float(limits::min()) == std::ldexp(1.0f, limits::min_exponent - 1));
  CHECK(float(limits::denorm_min()) == std::ldexp(1.0f, limits::min_exponent - limits::digits));
  CHECK(TestType(2 * float(limits::max())) == limits::infinity());
  CHECK(std::isnan(float(limits::quiet_NaN())));
  CHECK(std::isnan(float(limits::signaling_NaN())));
  CHECK(std::pow(10.0, limits::min_exponent10) >= double(float(limits::min())));
  CHECK(std::pow(10.0, limits::min_exponent10 - 1) < double(float(limits::min())));
  CHECK(std::pow(10.0, limits::max_exponent10) <= double(float(limits::max())));
  CHECK(std::pow(10.0, limits::max_exponent10 + 1) > double(float(limits::max())));
}

// -- as elements ----------------------------------------------------------------------------------

TEMPLATE_TEST_CASE("single: a reduction is folded in float and rounded once", "", float16,
                   bfloat16) {
  // Half of the last bit, twice: each alone would be rounded away.
  const float bit = float(std::numeric_limits<TestType>::epsilon());
  const TestType one(1), half(bit / 2);
  const per_replica<TestType> numbers = {one, half, half};
  CHECK((one + half) + half == one);
  CHECK(reduce(reduce_op::sum, numbers) == TestType(1 + bit));
  const per_replica<std::vector<TestType>> ranges = {{one}, {half}, {half}};
  CHECK(reduce(reduce_op::sum, ranges)[0] == TestType(1 + bit));
  const per_replica<std::vector<TestType>> long_ones = {{one, half, half}, {TestType(0)}};
  CHECK(reduce(reduce_op::sum, long_ones, 0) == TestType(1 + bit));
  CHECK(reduce(reduce_op::mean, per_replica<TestType>({TestType(1), TestType(2)})) ==
        TestType(1.5f));
}

TEMPLATE_TEST_CASE("single: rows of one place are added up in float and rounded once", "", float16,
                   bfloat16) {
  const TestType one(1), half(float(std::numeric_limits<TestType>::epsilon()) / 2);
  const indexed_slices<tensor<TestType>> rows({0, 0, 0}, tensor<TestType>({3}, {one, half, half}),
                                              {2});
  CHECK(to_dense(rows) == tensor<TestType>({2}, {one + (half + half), TestType(0)}));
}

TEMPLATE_TEST_CASE("a number is shared out among more replicas than it can count", "", float16,
                   bfloat16) {
  for (const std::size_t replicas : {257u, 4'097u, 100'000u}) {
    CHECK(detail::share_of_sum(TestType(3), replicas) ==
          TestType(3.0f / static_cast<float>(replicas)));
  }
}

template <class Half>
task<bool> use_them(replica_context ctx, variable<Half, sum_op> weight) {
  const tensor<Half> mine({2}, Half(ctx.replica_id() + 1));
  const tensor<Half> mean = co_await ctx.all_reduce(reduce_op::mean, mine);
  const Half after = co_await weight.assign_add(ctx, Half(0.5f));
  co_return mean == tensor<Half>({2}, Half(1.5f)) && after == Half(2);
}

TEMPLATE_TEST_CASE("tensors of them are reduced by all replicas, and variables written", "",
                   float16, bfloat16) {
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, 2);
  const variable<TestType, sum_op> weight(strategy, TestType(1));
  CHECK(block_on(rt, strategy.run(use_them<TestType>, weight)) == per_replica<bool>({true, true}));
}

TEMPLATE_TEST_CASE("a sum that is assigned is shared out with its fraction", "", float16,
                   bfloat16) {
  runtime rt{pool_size{1}};
  const mirrored_strategy strategy(rt, 2);
  const sync_on_read_variable total(strategy, TestType(0), aggregation::sum);
  block_on(rt, total.assign(TestType(3)));
  CHECK(block_on(rt, total.components()) ==
        per_replica<TestType>({TestType(1.5f), TestType(1.5f)}));
}

}  // namespace
}  // namespace troupe::test
