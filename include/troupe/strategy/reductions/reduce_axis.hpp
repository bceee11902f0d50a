// reduce_axis.hpp - sum and mean over the replicas and along axes of their values.
//
//     per_replica<std::vector<float>> losses = …;          // batches of any length
//     float mean = reduce(reduce_op::mean, losses, 0);     // of all numbers there are
//     reduce(reduce_op::sum, images, {0, -1});             // axes from the end count back
//
// Guarantees
//   true     a mean divides by the number of numbers, so that a short last batch weighs
//            what it holds; where there is none at all it is not a number.
//            It is added up in double or wider;
//   exact    each replica's numbers are added up in row-major order, then the replicas'
//            sums in replica order: the same bits, whatever the schedule;
//   global   with order::global the same bits however the numbers were dealt out to replicas, and
//            to how many:
//
//                reduce(reduce_op::mean, losses, 0, order::global);
//
//            for they are added up exactly, and rounded once (exact_sum.hpp): three to ten times
//            the time.

#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include "troupe/strategy/reductions/exact_sum.hpp"
#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/values/mirrored.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe {

struct by_replica_order {};
struct global_order {};

/// In which order numbers are added up along axes: each replica's by themselves first; or as if
/// nobody had dealt them out.
struct order {
  static constexpr by_replica_order by_replica{};
  static constexpr global_order global{};
};

template <class Order>
concept summation_order =
    std::same_as<Order, by_replica_order> || std::same_as<Order, global_order>;

namespace detail {

/// A shape and which of its axes go.
class axis_choice {
 public:
  /// \throws errc::invalid_axis unless each axis is there, and named once.
  axis_choice(const tensor_shape& shape, std::span<const int> axes);

  /// The sizes of the axes that stay.
  const tensor_shape& remaining() const noexcept { return remaining_; }
  /// How many numbers become one.
  std::size_t count() const noexcept { return count_; }

  /// Calls add(position among those that stay, value) for each value, in row-major order.
  template <class T, class Add>
  void walk(std::span<const T> values, Add&& add) const {
    const std::size_t row = shape_.back();
    const std::size_t step = strides_.back();
    std::vector<std::size_t> index(shape_.size() - 1);
    std::size_t at = 0;
    for (std::size_t first = 0; first < values.size(); first += row) {
      for (std::size_t k = 0; k < row; ++k) add(at + k * step, values[first + k]);
      at = next_row(index, at);
    }
  }

 private:
  std::size_t next_row(std::vector<std::size_t>& index, std::size_t at) const noexcept;

  tensor_shape shape_;
  std::vector<std::size_t> strides_;  // Among those that stay; 0 along an axis that goes.
  tensor_shape remaining_;
  std::size_t count_ = 1;
};

template <class T>
using some_along = typename tensor_traits<T>::template along<float>;

template <class T>
concept has_axes = tensor_like<T> && requires { typename some_along<T>; };

/// Sums along axes are the elements' own; those of a mean are wide, for there are many.
template <class Op, class T>
using along_sum =
    std::conditional_t<std::same_as<Op, sum_op>, fold_of<T>,
                       std::conditional_t<std::same_as<mean_sum<T>, float>, double, mean_sum<T>>>;

/// What is left of a T, with the elements that Op makes. A class, so that its sentences come first.
template <class Op, class T>
struct left_along {
  static_assert(has_axes<T>,
                "troupe: only std::vector, std::array and std::span of numbers and tensor have "
                "axes; reduce numbers without one");
  static_assert(
      additive_reduction<Op>,
      "troupe: along axes there are reduce_op::sum and reduce_op::mean; reduce without an "
      "axis, or give merge_call() a function of your own");
  using type = typename tensor_traits<T>::template along<reduced_element<Op, element_t<T>>>;
};
template <class Op, class T>
using along_t = typename left_along<Op, T>::type;

/// All replicas' numbers along the axes, exactly.
template <class Op, class T, class At>
auto reduce_along(std::size_t n, At&& at, std::span<const int> axes, global_order) {
  using result = along_t<Op, T>;
  static_assert(exactly_summable<element_t<T>>,
                "troupe: order::global is for integers, float, double, float16 and bfloat16");
  const axis_choice first(tensor_traits<T>::shape(at(0)), axes);
  auto made = tensor_traits<result>::template make<result>(first.remaining());
  const auto out = tensor_traits<result>::values(made);
  std::vector<exact_sum<element_t<T>>> totals(out.size());
  for (std::size_t i = 0; i < n; ++i) {
    const axis_choice each(tensor_traits<T>::shape(at(i)), axes);
    if (each.remaining() != first.remaining()) throw_shapes<T>(n, at);
    each.walk(tensor_traits<T>::values(at(i)),
              [&](std::size_t place, element_t<T> value) { totals[place].add(value); });
  }
  for (std::size_t j = 0; j < out.size(); ++j) {
    if constexpr (std::same_as<Op, sum_op>) {
      out[j] = totals[j].sum();
    } else {
      out[j] = totals[j].mean();
    }
  }
  return made;
}

/// The sum of each replica's numbers along the axes, then of the replicas'; see walk().
template <class Op, class T, class At>
auto reduce_along(std::size_t n, At&& at, std::span<const int> axes, by_replica_order) {
  using result = along_t<Op, T>;
  using sum = along_sum<Op, element_t<T>>;
  const axis_choice first(tensor_traits<T>::shape(at(0)), axes);
  tensor<sum> total(first.remaining());
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const axis_choice each(tensor_traits<T>::shape(at(i)), axes);
    if (each.remaining() != first.remaining()) throw_shapes<T>(n, at);
    tensor<sum> part(first.remaining());
    each.walk(tensor_traits<T>::values(at(i)), [&](std::size_t place, element_t<T> value) {
      part[place] = plus(part[place], static_cast<sum>(value));
    });
    for (std::size_t j = 0; j < total.size(); ++j) total[j] = plus(total[j], part[j]);
    count += each.count();
  }
  auto made = tensor_traits<result>::template make<result>(first.remaining());
  const auto out = tensor_traits<result>::values(made);
  for (std::size_t j = 0; j < out.size(); ++j) {
    if constexpr (std::same_as<Op, sum_op>) {
      out[j] = settled(static_cast<element_t<T>>(total[j]));
    } else {
      out[j] = mean_of<element_t<T>>(total[j], count);
    }
  }
  return made;
}

/// A value of which each of `n` replicas has a copy.
template <reduction Op, class T, summation_order Order>
auto reduce_copies(Op, const T& value, std::size_t n, std::span<const int> axes, Order how) {
  return reduce_along<Op, T>(n, [&](std::size_t) -> const T& { return value; }, axes, how);
}

}  // namespace detail

/// Over the replicas and along `axes`; a negative axis counts from the end.
/// \throws errc::invalid_axis; errc::shape_mismatch when the axes that stay differ in size.
template <reduction Op, class T, summation_order Order = by_replica_order>
auto reduce(Op, const per_replica<T>& values, std::span<const int> axes, Order how = Order()) {
  if (values.empty()) detail::throw_nothing_to_reduce();
  return detail::reduce_along<Op, T>(
      values.size(), [&](std::size_t i) -> const T& { return values[i]; }, axes, how);
}
template <reduction Op, class T, summation_order Order = by_replica_order>
auto reduce(Op op, const per_replica<T>& values, std::initializer_list<int> axes,
            Order how = Order()) {
  return reduce(op, values, std::span<const int>(axes.begin(), axes.size()), how);
}
template <reduction Op, class T, summation_order Order = by_replica_order>
auto reduce(Op op, const per_replica<T>& values, int axis, Order how = Order()) {
  return reduce(op, values, std::span<const int>(&axis, 1), how);
}

}  // namespace troupe
