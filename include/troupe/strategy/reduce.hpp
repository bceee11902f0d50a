// reduce.hpp - sum and mean over the replicas, in replica order.
//
//     int total = reduce(reduce_op::sum, values);       // per_replica<int>
//     double m  = reduce(reduce_op::mean, values);      // true division: no integer mean
//
// What can be reduced: arithmetic types, and contiguous ranges of them (std::vector,
// std::array), element by element.
//
// Guarantees
//   exact    ((v0 + v1) + v2) + …, whatever the schedule, executor or thread count: the
//            same bits always;
//   defined  sums of integers wrap around; a mean of integers is a double (a float for
//            types below 32 bits).

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "troupe/core/error.hpp"
#include "troupe/strategy/mirrored.hpp"
#include "troupe/strategy/per_replica.hpp"

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

template <class T>
concept arithmetic = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

namespace detail {

template <class T>
struct elements {};
template <arithmetic T>
struct elements<T> {
  using type = T;
  template <class U>
  using of = U;
};
template <arithmetic T, class A>
struct elements<std::vector<T, A>> {
  using type = T;
  template <class U>
  using of = std::vector<U>;
};
template <arithmetic T, std::size_t N>
struct elements<std::array<T, N>> {
  using type = T;
  template <class U>
  using of = std::array<U, N>;
};

/// The element type of a mean: true division.
template <class T>
using mean_element = std::conditional_t<std::floating_point<T>, T,
                                        std::conditional_t<(sizeof(T) < 4), float, double>>;

template <class T, class Op>
struct reduced {
  using element = typename elements<T>::type;
  using type = std::conditional_t<std::same_as<Op, sum_op>, T,
                                  typename elements<T>::template of<mean_element<element>>>;
};

template <arithmetic T>
constexpr T plus(T a, T b) noexcept {
  if constexpr (std::integral<T>) {
    using wide = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
  } else {
    return a + b;
  }
}

/// Folds `n` replicas' element j: `at(i)` is replica i's.
template <class Op, class T, class At>
constexpr auto fold(std::size_t n, At&& at) {
  T total = at(std::size_t{0});
  for (std::size_t i = 1; i < n; ++i) total = plus(total, at(i));
  if constexpr (std::same_as<Op, mean_op>) {
    using mean = mean_element<T>;
    return static_cast<mean>(static_cast<mean>(total) / static_cast<mean>(n));
  } else {
    return total;
  }
}

[[noreturn]] void throw_shape_mismatch(const std::vector<std::size_t>& sizes);
[[noreturn]] void throw_nothing_to_reduce();

}  // namespace detail

template <class T>
concept reducible = requires { typename detail::elements<T>::type; };

template <reducible T, reduction Op>
using reduced_t = typename detail::reduced<T, Op>::type;

namespace detail {

/// The elements [first, last) of a reduction of ranges: one pass, all replicas at once.
template <class Op, class T, class R>
void reduce_elements(const per_replica<T>& values, R& result, std::size_t first,
                     std::size_t last) noexcept {
  using element = typename elements<T>::type;
  for (std::size_t j = first; j < last; ++j) {
    result[j] = fold<Op, element>(values.size(), [&](std::size_t i) { return values[i][j]; });
  }
}

/// A result of the right length. \throws errc::shape_mismatch unless all have the same.
template <class Op, class T>
reduced_t<T, Op> room_for_result(const per_replica<T>& values) {
  if (values.empty()) throw_nothing_to_reduce();
  const std::size_t length = values[0].size();
  for (const T& v : values) {
    if (v.size() == length) continue;
    std::vector<std::size_t> sizes;
    for (const T& each : values) sizes.push_back(each.size());
    throw_shape_mismatch(sizes);
  }
  reduced_t<T, Op> result{};
  if constexpr (requires { result.resize(length); }) result.resize(length);
  return result;
}

}  // namespace detail

/// The sum or mean of all replicas' values, added up in replica order.
/// \throws errc::shape_mismatch if ranges differ in length, or there is no value.
template <reduction Op, class T>
auto reduce(Op, const per_replica<T>& values) {
  static_assert(reducible<T>,
                "troupe: sum and mean are defined for numbers and for std::vector and std::array "
                "of numbers; give merge_call() a function of your own for other types");
  if constexpr (arithmetic<T>) {
    if (values.empty()) detail::throw_nothing_to_reduce();
    return detail::fold<Op, T>(values.size(), [&](std::size_t i) { return values[i]; });
  } else {
    auto result = detail::room_for_result<Op>(values);
    detail::reduce_elements<Op>(values, result, 0, result.size());
    return result;
  }
}

/// A mirrored value is the same everywhere: its mean is itself. Its sum is refused by the
/// type system, because n times the value is hardly ever meant.
template <class T>
T reduce(mean_op, const mirrored<T>& value) {
  return value.get();
}
template <class T>
void reduce(sum_op, const mirrored<T>&) = delete;

}  // namespace troupe
