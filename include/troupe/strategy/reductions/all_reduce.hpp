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
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

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
/// What one step of a reduction graph reads and writes: it fits a core's own cache.
inline constexpr std::size_t bytes_per_step = 64 * 1024;

/// Reduces ranges: large ones as a graph of steps over disjoint stretches of elements. Each
/// stretch is added up in replica order, so that the bits do not depend on the split.
template <reduction Op, class T>
task<mirrored<reduced_t<T, Op>>> reduce_ranges(Op op, per_replica<T> values) {
  auto result = room_for_result<Op>(values);
  const auto out = elements_of_result(result);
  const element_reduction whole(op, values, out);
  const std::size_t bytes = values.size() * out.size() * sizeof(element_t<T>);
  if (bytes < graph_pays_from) {
    whole.run(0, out.size());
  } else {
    const std::size_t steps = (bytes + bytes_per_step - 1) / bytes_per_step;
    const std::size_t stretch = (out.size() + steps - 1) / steps;
    step_graph graph;
    for (std::size_t first = 0; first < out.size(); first += stretch) {
      const std::size_t last = std::min(first + stretch, out.size());
      graph.add([&whole, first, last] { whole.run(first, last); });
    }
    co_await troupe::run(graph);
  }
  co_return mirrored(std::move(result));
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
  static_assert(reduction<Op>,
                "troupe: the operation is reduce_op::sum or reduce_op::mean, min, max or product");
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
