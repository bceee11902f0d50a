// all_reduce.hpp - ctx.all_reduce(op, value), ctx.all_gather(value): the merges whose function
// is a reduction, or puts everybody's value after the other's.
//
//     float mean = co_await ctx.all_reduce(reduce_op::mean, loss);
//     gradient   = co_await ctx.all_reduce(reduce_op::sum, std::move(gradient));
//
// What is structure (structure.hpp) is reduced leaf by leaf. A leaf is all for which there is a
// reduce(op, per_replica<T>), of this library or of the type's own.
//
// Guarantees
//   whole    the result has the structure and the order of the argument;
//   exact    the same bits as reduce() (reduce.hpp), also where a large tensor is cut up.

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "troupe/runtime/step_graph.hpp"
#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reductions/gather.hpp"
#include "troupe/strategy/reductions/indexed_slices.hpp"
#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/reductions/weighted.hpp"
#include "troupe/strategy/structure.hpp"

namespace troupe {

namespace detail {

/// Below this many bytes of input a reduction is done where it is: a graph costs more.
inline constexpr std::size_t graph_pays_from = 256 * 1024;
/// What one step of a reduction graph reads, unless there would be too many steps: one costs about
/// as much as reading 2 KiB.
inline constexpr std::size_t bytes_per_step = 256 * 1024;
inline constexpr std::size_t reduction_steps_max = 256;

/// Cuts a reduction of `n` elements and so many bytes of input into steps over disjoint stretches.
template <class Op, class T, class R>
void add_steps(step_graph& graph, const element_reduction<Op, T, R>& whole, std::size_t n,
               std::size_t bytes) {
  const auto steps = std::clamp<std::size_t>(bytes / bytes_per_step, 2, reduction_steps_max);
  const std::size_t stretch = (n + steps - 1) / steps;
  for (std::size_t first = 0; first < n; first += stretch) {
    const std::size_t last = std::min(first + stretch, n);
    graph.add([&whole, first, last] { whole.run(first, last); });
  }
}

/// Whose elements are its own, and go with it when it is moved: the sum of several is made in
/// the first, which nobody else has any more. Memory that is there need not be asked for.
template <class T>
inline constexpr bool owns_elements = false;
template <arithmetic T, class A>
inline constexpr bool owns_elements<std::vector<T, A>> = true;
template <arithmetic T>
inline constexpr bool owns_elements<tensor<T>> = true;

/// Reduces ranges: large ones as a graph of steps. Each stretch is folded in replica order, so
/// that the bits do not depend on the split.
template <reduction Op, class T, class R>
task<> reduce_ranges_into(Op op, const per_replica<T>* values, std::span<R> out) {
  const element_reduction whole(op, *values, out);
  const std::size_t bytes = values->size() * out.size() * sizeof(element_t<T>);
  if (bytes < graph_pays_from) {
    whole.run(0, out.size());
  } else {
    step_graph graph;
    add_steps(graph, whole, out.size(), bytes);
    co_await troupe::run(graph);
  }
}

template <reduction Op, class T>
task<mirrored<reduced_t<T, Op>>> reduce_ranges(Op op, per_replica<T> values) {
  if constexpr (owns_elements<T> && std::same_as<T, reduced_t<T, Op>>) {
    require_same_shape(values);
    co_await reduce_ranges_into(op, &values, elements_of_result(values[0]));
    co_return mirrored(std::move(values[0]));
  } else {
    auto result = room_for_result<Op>(values);
    co_await reduce_ranges_into(op, &values, elements_of_result(result));
    co_return mirrored(std::move(result));
  }
}

/// Whether all leaves of what was regrouped have a reduction.
template <class Op, class Regrouped>
inline constexpr bool all_reducible = false;
template <class Op, class T>
inline constexpr bool all_reducible<Op, per_replica<T>> = has_reduction<Op, T>;

template <class Op, class Types>
inline constexpr bool each_reducible = false;
template <class Op, class... Ts>
inline constexpr bool each_reducible<Op, std::tuple<Ts...>> = (all_reducible<Op, Ts> && ...);
template <class Op, structured T>
inline constexpr bool all_reducible<Op, T> = each_reducible<Op, typename parts<T>::types>;

/// A regrouped structure -> the same structure of reduced leaves.
template <reduction Op>
struct leaf_by_leaf {
  template <class T>
  auto operator()(const per_replica<T>& leaf) const {
    return mirrored(reduce(op, leaf));
  }
  template <structured T>
  auto operator()(const T& regrouped) const {
    return parts<T>::rebuild(regrouped, *this);
  }

  [[no_unique_address]] Op op;
};

/// The merge function: everybody gets the same result.
template <reduction Op>
class reducer {
 public:
  explicit reducer(Op op) noexcept : op_(op) {}

  /// Numbers need no coroutine, large ranges a graph.
  template <arithmetic T>
  mirrored<reduced_t<T, Op>> operator()(const per_replica<T>& values) const {
    return mirrored(reduce(op_, values));
  }
  template <class T>
    requires(tensor_like<T> && !arithmetic<T>)
  task<mirrored<reduced_t<T, Op>>> operator()(per_replica<T> values) const {
    return reduce_ranges(op_, std::move(values));
  }

  /// Everything else, leaves that are no tensors and structures of any leaves.
  template <class Regrouped>
  auto operator()(const Regrouped& values) const {
    return leaf_by_leaf<Op>{op_}(values);
  }

  static std::string verb() { return std::string("all_reduce ") + Op::name; }

  friend bool operator==(reducer, reducer) = default;

 private:
  [[no_unique_address]] Op op_;
};

/// Keeps what all_gather() is given whole: a vector of texts is structure elsewhere.
template <class T>
struct one_piece {
  T value;
};

/// The merge function of all_gather().
class gatherer {
 public:
  explicit gatherer(int axis) noexcept : axis_(axis) {}

  template <class T>
  auto operator()(const per_replica<T>& values) const {
    return mirrored(gather(values, axis_));
  }
  template <class T>
  auto operator()(per_replica<one_piece<T>> values) const {
    per_replica<T> all;
    all.reserve(values.size());
    for (auto& each : values) all.append(std::move(each.value));
    return mirrored(gather(all, axis_));
  }

  static std::string verb() { return "all_gather"; }

  friend bool operator==(gatherer, gatherer) = default;

 private:
  int axis_;
};

}  // namespace detail

template <class T>
auto replica_context::all_gather(T value, int axis) const {
  static_assert(!is_indexed_slices<T>,
                "troupe: all_gather does not support indexed_slices: all_reduce() them, or gather "
                "what to_dense() makes of them");
  static_assert(gatherable<T>,
                "troupe: what has an axis can be gathered: std::vector, std::array and tensor; "
                "give merge_call() a function of your own for other types");
  if constexpr (detail::structured<T>) {
    return merge_call(detail::gatherer(axis), detail::one_piece<T>{std::move(value)});
  } else {
    return merge_call(detail::gatherer(axis), std::move(value));
  }
}

template <class T>
auto replica_context::all_reduce(mean_op op, unweighted<T> value) const {
  return merge_call(detail::reducer<mean_op>(op), std::move(value));
}

template <class Op, class T>
auto replica_context::all_reduce(Op op, T value) const {
  static_assert(
      reduction<Op>,
      "troupe: the operation is reduce_op::sum or reduce_op::mean, min, max or product, or "
      "derives from own_reduction and has a name");
  static_assert(
      detail::all_reducible<Op, regrouped_t<T>>,
      "troupe: all_reduce() is defined for numbers, for std::vector, std::array and "
      "std::span of numbers, for tensor, weighted and indexed_slices, for what has a reduce(op, "
      "per_replica<T>) of its own, and for tuples, vectors, maps and described structs "
      "of them; give merge_call() a function of your own for other types, or specialise "
      "tensor_traits");
  return merge_call(detail::reducer<Op>(op), std::move(value));
}

}  // namespace troupe
