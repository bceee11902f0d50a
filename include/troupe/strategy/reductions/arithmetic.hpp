// arithmetic.hpp - what sums, means, minima, maxima and products of numbers are.
//
// Guarantees
//   exact    ((v0 + v1) + v2) + …: the same bits always;
//   defined  sums and products of integers wrap around; means are true division, added up where
//            they do not. Where a number is NaN, the result is, and it is always the same one:
//            std::numeric_limits<T>::quiet_NaN(). Of equal numbers, as 0.0 and -0.0, the first
//            is the least, and the greatest.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

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

struct min_op {
  static constexpr const char* name = "min";
  friend bool operator==(min_op, min_op) = default;
};
struct max_op {
  static constexpr const char* name = "max";
  friend bool operator==(max_op, max_op) = default;
};
struct product_op {
  static constexpr const char* name = "product";
  friend bool operator==(product_op, product_op) = default;
};

/// reduce_op::sum, mean, min, max, product: objects of different types, because the type of a
/// mean depends on it.
struct reduce_op {
  static constexpr sum_op sum{};
  static constexpr mean_op mean{};
  static constexpr min_op min{};
  static constexpr max_op max{};
  static constexpr product_op product{};
};

/// What adds up: variables, sparse values and axes have sums and means only.
template <class Op>
concept additive_reduction = std::same_as<Op, sum_op> || std::same_as<Op, mean_op>;

/// What a reduction of your own derives from. It has a name, and a call that makes one T of two,
/// the first replicas' on the left:
///
///     struct longest : own_reduction {
///       static constexpr const char* name = "longest";
///       std::string operator()(std::string a, std::string b) const;
///     };
///
/// A tensor is reduced by it element by element, everything else whole. One with members has an
/// operator== for all_reduce(): replicas whose operations are not equal have not called the same.
struct own_reduction {
  template <class Op>
    requires std::derived_from<Op, own_reduction> && std::is_empty_v<Op>
  friend constexpr bool operator==(const Op&, const Op&) noexcept {
    return true;
  }
};

template <class Op>
concept named_own_reduction = std::derived_from<Op, own_reduction> && requires {
  { Op::name } -> std::convertible_to<const char*>;
};

template <class Op>
concept reduction =
    additive_reduction<Op> || std::same_as<Op, min_op> || std::same_as<Op, max_op> ||
    std::same_as<Op, product_op> || named_own_reduction<Op>;

namespace detail {

/// The element type of a mean: true division.
template <class T>
using mean_element =
    std::conditional_t<fractional<T>, T, std::conditional_t<(sizeof(T) < 4), float, double>>;

/// The element type of what Op makes of elements T.
template <class Op, class T>
using reduced_element = std::conditional_t<std::same_as<Op, mean_op>, mean_element<T>, T>;

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

/// What numbers are folded in: those of 16 bits are rounded when all are.
template <class T>
using fold_of = std::conditional_t<is_half<T>, float, T>;

/// What the numbers of a mean are added up in. Integers must neither wrap around nor lose their
/// last digits: those of 32 bits and below have room in 64, the others are as exact as a double.
template <class T>
using mean_sum = std::conditional_t<
    fractional<T>, fold_of<T>,
    std::conditional_t<sizeof(T) == 8, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>;

/// The one NaN for all of them: which of two NaN a sum is, the machine does not say.
template <class T>
constexpr T settled(T result) noexcept {
  if constexpr (fractional<T>) {
    return result == result ? result : std::numeric_limits<T>::quiet_NaN();
  } else {
    return result;
  }
}

/// The sum over `count`, as the mean's type.
template <class T, class Sum>
constexpr mean_element<T> mean_of(Sum total, std::size_t count) noexcept {
  using exact = std::conditional_t<std::floating_point<Sum>, Sum, double>;
  return settled(
      static_cast<mean_element<T>>(static_cast<exact>(total) / static_cast<exact>(count)));
}

// One step of a fold.

template <class T>
constexpr T combine(sum_op, T a, T b) noexcept {
  return plus(a, b);
}
template <class T>
constexpr T combine(mean_op, T a, T b) noexcept {
  return plus(a, b);
}
template <class T>
constexpr T combine(product_op, T a, T b) noexcept {
  return times(a, b);
}
// A NaN stays, and one that comes is taken.
template <class T>
constexpr T combine(min_op, T a, T b) noexcept {
  return a == a && !(b >= a) ? b : a;
}
template <class T>
constexpr T combine(max_op, T a, T b) noexcept {
  return a == a && !(b <= a) ? b : a;
}

/// Whether Op makes one T of two.
template <class Op, class T>
concept combines = named_own_reduction<Op> && requires(const Op& op, T a, T b) {
  { op(std::move(a), std::move(b)) } -> std::convertible_to<T>;
};

template <class Op, class T>
  requires combines<Op, T>
constexpr T combine(const Op& op, T a, T b) {
  return op(std::move(a), std::move(b));
}

template <class T, class Op, class At>
constexpr auto fold_numbers(Op op, std::size_t n, At&& at) {
  using total_type = std::conditional_t<std::same_as<Op, mean_op>, mean_sum<T>, fold_of<T>>;
  auto total = static_cast<total_type>(at(std::size_t{0}));
  for (std::size_t i = 1; i < n; ++i) total = combine(op, total, static_cast<total_type>(at(i)));
  if constexpr (std::same_as<Op, mean_op>) {
    return mean_of<T>(total, n);
  } else {
    return settled(static_cast<T>(total));
  }
}

/// Folds `n` replicas' element j: `at(i)` is replica i's.
template <class T, class Op, class At>
constexpr auto fold(const Op& op, std::size_t n, At&& at) {
  if constexpr (named_own_reduction<Op>) {
    T total = at(std::size_t{0});
    for (std::size_t i = 1; i < n; ++i) total = combine(op, std::move(total), T(at(i)));
    return total;
  } else {
    return fold_numbers<T>(op, n, at);
  }
}

}  // namespace detail

}  // namespace troupe
