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

#include <concepts>
#include <string>
#include <tuple>
#include <utility>

#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reductions/all_reduce_in_place.hpp"
#include "troupe/strategy/reductions/gather.hpp"
#include "troupe/strategy/reductions/indexed_slices.hpp"
#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/reductions/reduce_nest.hpp"
#include "troupe/strategy/reductions/weighted.hpp"
#include "troupe/strategy/structure.hpp"

namespace troupe {

namespace detail {

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

/// The merge function: everybody gets the same result.
template <reduction Op>
class reducer {
 public:
  explicit reducer(Op op) noexcept : op_(op) {}

  /// Numbers need no coroutine, large tensors a graph.
  template <arithmetic T>
  mirrored<reduced_t<T, Op>> operator()(const per_replica<T>& values) const {
    return mirrored(reduce(op_, values));
  }
  /// Everything else.
  template <class Regrouped>
  auto operator()(Regrouped values) const {
    if constexpr (has_tensors<Regrouped>) {
      return reduce_nest<receiver::each_replica>(op_, std::move(values));
    } else {
      return leaf_by_leaf<Op>{op_}(values);
    }
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
  static_assert(!named_own_reduction<Op> || std::equality_comparable<Op>,
                "troupe: an operation that has members has an operator==, which tells whether the "
                "replicas have called the same");
  if constexpr (detail::in_place<Op, T>) {
    return detail::all_reduce_in_place<Op, T>(*this, op, std::move(value));
  } else {
    return merge_call(detail::reducer<Op>(op), std::move(value));
  }
}

}  // namespace troupe
