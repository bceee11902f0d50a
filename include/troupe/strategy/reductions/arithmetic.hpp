// arithmetic.hpp - what sums and means of numbers are.
//
// Guarantees
//   exact    ((v0 + v1) + v2) + …: the same bits always;
//   defined  sums of integers wrap around; means are true division, added up where they do not.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "troupe/strategy/values/tensor.hpp"

namespace troupe {

struct sum_op {
  static constexpr const char* name = "sum";
  friend bool operator==(sum_op, sum_op) = default;
};
struct mean_op {
  static constexpr const char* name = "mean";
  friend bool operator==(mean_op, mean_op) = default;
};

/// reduce_op::sum, reduce_op::mean: objects of different types, because the type of a
/// mean depends on it.
struct reduce_op {
  static constexpr sum_op sum{};
  static constexpr mean_op mean{};
};

template <class Op>
concept reduction = std::same_as<Op, sum_op> || std::same_as<Op, mean_op>;

namespace detail {

/// The element type of a mean: true division.
template <class T>
using mean_element = std::conditional_t<std::floating_point<T>, T,
                                        std::conditional_t<(sizeof(T) < 4), float, double>>;

/// The element type of what Op makes of elements T.
template <class Op, class T>
using reduced_element = std::conditional_t<std::same_as<Op, sum_op>, T, mean_element<T>>;

template <arithmetic T>
constexpr T plus(T a, T b) noexcept {
  if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
  } else {
    return a + b;
  }
}

template <arithmetic T>
constexpr T minus(T a, T b) noexcept {
  if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(static_cast<wide>(a) - static_cast<wide>(b));
  } else {
    return a - b;
  }
}

template <arithmetic T>
constexpr T times(T a, T b) noexcept {
  if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
  } else {
    return a * b;
  }
}

/// What the numbers of a mean are added up in. Integers must neither wrap around nor lose their
/// last digits: those of 32 bits and below have room in 64, the others are as exact as a double.
template <class T>
using mean_sum = std::conditional_t<
    std::floating_point<T>, T,
    std::conditional_t<sizeof(T) == 8, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

/// The sum over `count`, as the mean's type.
template <class T, class Sum>
constexpr mean_element<T> mean_of(Sum total, std::size_t count) noexcept {
  using exact = std::conditional_t<std::floating_point<Sum>, Sum, double>;
  return static_cast<mean_element<T>>(static_cast<exact>(total) / static_cast<exact>(count));
}

/// Folds `n` replicas' element j: `at(i)` is replica i's.
template <class Op, class T, class At>
constexpr auto fold(std::size_t n, At&& at) {
  using sum = std::conditional_t<std::same_as<Op, sum_op>, T, mean_sum<T>>;
  auto total = static_cast<sum>(at(std::size_t{0}));
  for (std::size_t i = 1; i < n; ++i) total = plus(total, static_cast<sum>(at(i)));
  if constexpr (std::same_as<Op, sum_op>) {
    return total;
  } else {
    return mean_of<T>(total, n);
  }
}

}  // namespace detail

}  // namespace troupe
