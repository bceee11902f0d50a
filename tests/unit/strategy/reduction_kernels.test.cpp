// The kernels of reductions have the bits of a plain fold: on every level the machine has, for
// every type, operation and number of replicas, wherever they begin and end.

#include <algorithm>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "troupe/strategy/reductions/reduce.hpp"

namespace troupe::test {
namespace {

using detail::element_kind;
using detail::kernel_level;
using detail::kernel_op;
using detail::kind_of_element;

static_assert(kind_of_element<char>() != element_kind::none);
static_assert(kind_of_element<wchar_t>() != element_kind::none);
static_assert(kind_of_element<unsigned long>() == kind_of_element<unsigned long long>());
static_assert(kind_of_element<long>() != kind_of_element<unsigned long>());
static_assert(kind_of_element<long double>() == element_kind::none);
static_assert(kind_of_element<float16>() != kind_of_element<bfloat16>());

constexpr std::size_t length = 4097;
constexpr std::size_t short_length = 129;
constexpr std::size_t replica_counts[] = {1, 2, 3, 4, 5, 8, 17, 64};

std::vector<kernel_level> levels() {
  std::vector<kernel_level> all;
  for (const auto each : {kernel_level::portable, kernel_level::avx2, kernel_level::avx512}) {
    if (each <= detail::best_kernel_level()) all.push_back(each);
  }
  return all;
}

// -- numbers --------------------------------------------------------------------------------------

/// NaN of both signs and several kinds, infinities, zeros of both signs, what is denormal and what
/// is not: whatever bits can be, and numbers of very different sizes in between.
template <class T>
T any_number(std::minstd_rand& random) {
  using limits = std::numeric_limits<T>;
  const std::uint64_t digits = (std::uint64_t{random()} << 33) ^ (std::uint64_t{random()} << 15);
  if constexpr (detail::is_half<T>) {
    const auto bits = static_cast<std::uint16_t>(digits >> 30);
    return random() % 4 == 0 ? T::from_bits(bits) : T(any_number<float>(random));
  } else if constexpr (std::floating_point<T>) {
    using word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const T odd[] = {
        limits::infinity(),  -limits::infinity(),  T(0),          -T(0),
        limits::quiet_NaN(), -limits::quiet_NaN(), limits::max(), limits::denorm_min()};
    const unsigned which = static_cast<unsigned>(random()) % 64;
    if (which < std::size(odd)) return odd[which];
    if (which < 12) return std::bit_cast<T>(static_cast<word>(digits >> (64 - 8 * sizeof(T))));
    const T part = static_cast<T>(static_cast<std::int64_t>(digits)) / T(0x1p63);
    return std::ldexp(part, static_cast<int>(random() % 60) - 30);
  } else {
    return static_cast<T>(digits >> 20);
  }
}

template <class T>
using table = std::vector<std::vector<T>>;

/// Each replica's numbers begin somewhere else in memory; `from(i)` says where.
template <class T>
class inputs {
 public:
  explicit inputs(std::size_t replicas) {
    std::minstd_rand random(static_cast<unsigned>(replicas) + 7);
    for (std::size_t i = 0; i < replicas; ++i) {
      std::vector<T> mine(length + 16);
      for (T& each : mine) each = any_number<T>(random);
      values_.push_back(std::move(mine));
    }
    for (std::size_t i = 0; i < replicas; ++i) at_.push_back(values_[i].data() + i * 5 % 16);
  }

  std::size_t size() const { return at_.size(); }
  const void* const* data() const { return at_.data(); }
  T at(std::size_t i, std::size_t j) const { return static_cast<const T*>(at_[i])[j]; }

 private:
  table<T> values_;
  std::vector<const void*> at_;
};

// -- the plain fold -------------------------------------------------------------------------------

template <class T>
T step(kernel_op op, T a, T b) {
  if (op == kernel_op::min || op == kernel_op::max) {
    if (a != a) return a;
    if (b != b) return b;
    return (op == kernel_op::min ? b < a : b > a) ? b : a;
  }
  if constexpr (std::floating_point<T>) {
    return op == kernel_op::product ? a * b : a + b;
  } else {
    using wide = std::uint64_t;
    const auto x = static_cast<wide>(a), y = static_cast<wide>(b);
    return static_cast<T>(op == kernel_op::product ? x * y : x + y);
  }
}

template <class T>
T one_nan(T x) {
  if constexpr (detail::fractional<T>) {
    if (x != x) return std::numeric_limits<T>::quiet_NaN();
  }
  return x;
}

template <class T>
std::vector<T> fold_of(kernel_op op, const inputs<T>& in) {
  using wide = std::conditional_t<detail::is_half<T>, float, T>;
  std::vector<T> all;
  for (std::size_t j = 0; j < length; ++j) {
    auto total = static_cast<wide>(in.at(0, j));
    for (std::size_t i = 1; i < in.size(); ++i) {
      total = step(op, total, static_cast<wide>(in.at(i, j)));
    }
    all.push_back(one_nan(static_cast<T>(total)));
  }
  return all;
}

/// Integers are added up in 64 bits, or as doubles if they have as many themselves.
template <class T>
auto means_of(const inputs<T>& in) {
  using mean = detail::mean_element<T>;
  using wide = std::conditional_t<detail::is_half<T>, float, T>;
  using total_type = std::conditional_t<std::floating_point<wide>, wide,
                                        std::conditional_t<sizeof(T) == 8, double, std::int64_t>>;
  using quotient = std::conditional_t<std::floating_point<wide>, wide, double>;
  std::vector<mean> all;
  for (std::size_t j = 0; j < length; ++j) {
    auto total = static_cast<total_type>(in.at(0, j));
    for (std::size_t i = 1; i < in.size(); ++i) total += static_cast<total_type>(in.at(i, j));
    const auto exact = static_cast<quotient>(total) / static_cast<quotient>(in.size());
    all.push_back(one_nan(static_cast<mean>(exact)));
  }
  return all;
}

// -- comparisons ----------------------------------------------------------------------------------

/// The kernel's elements [first, last), written `offset` elements into a buffer.
template <class R, class T>
bool same_bits(detail::reduction_kernel kernel, const inputs<T>& in, const std::vector<R>& expected,
               std::size_t first, std::size_t last, std::size_t offset = 0) {
  static std::vector<R> out(length + 32);
  const R untouched = static_cast<R>(77);
  R* const to = out.data() + offset;
  std::fill_n(out.begin(), last - first + 32, untouched);
  kernel(in.data(), in.size(), to, first, last);
  const bool inside = std::memcmp(to, expected.data() + first, (last - first) * sizeof(R)) == 0;
  const bool outside = std::all_of(out.data(), to, [&](R x) { return x == untouched; }) &&
                       to[last - first] == untouched;
  return inside && outside;
}

/// All lengths up to 129 and 4097, from many places to many places; all splits of 129 in two, and
/// of 4097 in stretches.
template <class R, class T>
bool same_bits_everywhere(detail::reduction_kernel kernel, const inputs<T>& in,
                          const std::vector<R>& expected) {
  bool same = same_bits(kernel, in, expected, 0, length);
  for (std::size_t n = 0; n <= short_length; ++n) {
    same = same && same_bits(kernel, in, expected, 0, n, n % 16);
    same = same && same_bits(kernel, in, expected, n, short_length);
    same = same && same_bits(kernel, in, expected, n * 3, n * 4, n % 7);
  }
  for (const std::size_t stretch : {1u, 7u, 64u, 1000u}) {
    for (std::size_t first = 0; first < length; first += stretch) {
      const std::size_t last = std::min(first + stretch, length);
      same = same && same_bits(kernel, in, expected, first, last, first % 3);
    }
  }
  return same;
}

template <class R, class T>
void check_all_levels(kernel_op op, const inputs<T>& in, const std::vector<R>& expected) {
  for (const kernel_level level : levels()) {
    INFO("operation " << int(op) << ", level " << int(level) << ", " << in.size() << " replicas");
    const auto kernel = detail::find_kernel(op, kind_of_element<T>(), level);
    CHECK(same_bits_everywhere(kernel, in, expected));
  }
}

TEMPLATE_TEST_CASE("exact: kernels have the bits of a plain fold on every level", "", float, double,
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                   std::uint16_t, std::uint32_t, std::uint64_t, bfloat16, float16) {
  for (const std::size_t replicas : replica_counts) {
    const inputs<TestType> in(replicas);
    for (const auto op : {kernel_op::sum, kernel_op::min, kernel_op::max, kernel_op::product}) {
      check_all_levels(op, in, fold_of(op, in));
    }
    check_all_levels(kernel_op::mean, in, means_of(in));
  }
}

TEMPLATE_TEST_CASE("the numbers of these tests show another order of replicas", "", float, double) {
  const inputs<TestType> in(3);
  const auto in_order = fold_of(kernel_op::sum, in);
  std::size_t others = 0;
  for (std::size_t j = 0; j < length; ++j) {
    others += in_order[j] != in.at(0, j) + (in.at(1, j) + in.at(2, j)) ? 1u : 0u;
  }
  CHECK(others > length / 10);
}

TEMPLATE_TEST_CASE("anywhere: the result may be the first input", "", float, std::int16_t) {
  for (const std::size_t replicas : replica_counts) {
    const inputs<TestType> in(replicas);
    const auto expected = fold_of(kernel_op::sum, in);
    for (const kernel_level level : levels()) {
      std::vector<TestType> first(length);
      for (std::size_t j = 0; j < length; ++j) first[j] = in.at(0, j);
      std::vector<const void*> at(in.data(), in.data() + in.size());
      at[0] = first.data();
      detail::find_kernel(kernel_op::sum, kind_of_element<TestType>(), level)(
          at.data(), replicas, first.data(), 0, length);
      CHECK(std::memcmp(first.data(), expected.data(), length * sizeof(TestType)) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("exact: results written past the caches have the same bits", "", float,
                   std::uint8_t, double) {
  const inputs<TestType> in(3);
  const auto expected = fold_of(kernel_op::sum, in);
  const auto kernel = detail::find_kernel(kernel_op::sum, kind_of_element<TestType>());
  for (std::size_t offset = 0; offset < 20; ++offset) {
    for (const std::size_t last : {offset, offset + 1, offset + 70, length}) {
      std::vector<TestType> out(length + 20, TestType(77));
      auto* const to = reinterpret_cast<std::byte*>(out.data() + offset);
      detail::run_streaming({kernel, in.data(), 3, to, sizeof(TestType)}, offset, last);
      std::vector<TestType> wanted(length + 20, TestType(77));
      std::copy(expected.begin() + static_cast<std::ptrdiff_t>(offset),
                expected.begin() + static_cast<std::ptrdiff_t>(last),
                wanted.begin() + static_cast<std::ptrdiff_t>(2 * offset));
      CHECK(std::memcmp(out.data(), wanted.data(), out.size() * sizeof(TestType)) == 0);
    }
  }
}

// -- bounds ---------------------------------------------------------------------------------------

TEMPLATE_TEST_CASE("the means of as many extreme integers as a kernel takes are exact", "",
                   std::int8_t, std::int16_t, std::int32_t, std::uint8_t, std::uint16_t,
                   std::uint32_t) {
  for (const auto extreme :
       {std::numeric_limits<TestType>::min(), std::numeric_limits<TestType>::max()}) {
    const std::vector<TestType> all(33, extreme);
    const std::vector<const void*> at(detail::kernel_replicas_max, all.data());
    for (const kernel_level level : levels()) {
      std::vector<detail::mean_element<TestType>> out(33);
      detail::find_kernel(kernel_op::mean, kind_of_element<TestType>(), level)(at.data(), at.size(),
                                                                               out.data(), 0, 33);
      CHECK(std::ranges::all_of(out, [&](auto x) { return x == decltype(x)(extreme); }));
    }
  }
}

TEST_CASE("more replicas than a kernel takes are folded all the same") {
  const std::vector<std::int8_t> all(5, std::int8_t{-128});
  per_replica<std::span<const std::int8_t>> values;
  values.reserve(detail::kernel_replicas_max + 1);
  for (std::size_t i = 0; i <= detail::kernel_replicas_max; ++i) values.append(all);
  CHECK(reduce(reduce_op::mean, values) == std::vector<float>(5, -128.0f));
  CHECK(reduce(reduce_op::sum, values) == std::vector<std::int8_t>(5, std::int8_t{-128}));
}

}  // namespace
}  // namespace troupe::test
