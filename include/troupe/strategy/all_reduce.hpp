// all_reduce.hpp - ctx.all_reduce(op, value), ctx.all_gather(value): the merges whose function
// is a reduction, or puts everybody's value after the other's.
//
//     float mean = co_await ctx.all_reduce(reduce_op::mean, loss);
//     gradient   = co_await ctx.all_reduce(reduce_op::sum, std::move(gradient));

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "troupe/runtime/step_graph.hpp"
#include "troupe/strategy/gather.hpp"
#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reduce.hpp"
#include "troupe/strategy/structure.hpp"
#include "troupe/strategy/weighted.hpp"

namespace troupe {

namespace detail {

/// Below this many bytes of input a reduction is done where it is: a graph costs more.
inline constexpr std::size_t graph_pays_from = 256 * 1024;
/// What one step of a reduction graph reads and writes: it fits a core's own cache.
inline constexpr std::size_t bytes_per_step = 64 * 1024;

/// Reduces ranges: large ones as a graph of steps over disjoint stretches of elements. Each
/// stretch is added up in replica order, so that the bits do not depend on the split.
template <reduction Op, class T>
task<mirrored<reduced_t<T, Op>>> reduce_ranges(per_replica<T> values) {
  auto result = room_for_result<Op>(values);
  const auto out = elements_of_result(result);
  const std::size_t bytes = values.size() * out.size() * sizeof(element_t<T>);
  if (bytes < graph_pays_from) {
    reduce_elements<Op>(values, out, 0, out.size());
  } else {
    const std::size_t steps = (bytes + bytes_per_step - 1) / bytes_per_step;
    const std::size_t stretch = (out.size() + steps - 1) / steps;
    step_graph graph;
    for (std::size_t first = 0; first < out.size(); first += stretch) {
      const std::size_t last = std::min(first + stretch, out.size());
      graph.add([&values, out, first, last] { reduce_elements<Op>(values, out, first, last); });
    }
    co_await troupe::run(graph);
  }
  co_return mirrored(std::move(result));
}

template <class T>
inline constexpr bool all_reducible = reducible<T> || is_weighted<T>;
template <class... Ts>
inline constexpr bool all_reducible<std::tuple<Ts...>> = (all_reducible<Ts> && ...);
template <class A, class B>
inline constexpr bool all_reducible<std::pair<A, B>> = all_reducible<A> && all_reducible<B>;

/// The merge function: everybody gets the same result.
template <reduction Op>
class reducer {
 public:
  explicit reducer(Op op) noexcept : op_(op) {}

  template <arithmetic T>
  mirrored<reduced_t<T, Op>> operator()(const per_replica<T>& values) const {
    return mirrored(reduce(op_, values));
  }
  template <class T>
    requires(tensor_like<T> && !arithmetic<T>)
  task<mirrored<reduced_t<T, Op>>> operator()(per_replica<T> values) const {
    return reduce_ranges<Op>(std::move(values));
  }

  template <class T>
  auto operator()(const per_replica<weighted<T>>& values) const {
    return mirrored(reduce(op_, values));
  }

  /// Leaf by leaf: what the replicas brought as a tuple goes back as one.
  template <class... Ts>
  auto operator()(const std::tuple<Ts...>& leaves) const {
    return leaf(leaves);
  }
  template <class A, class B>
  auto operator()(const std::pair<A, B>& leaves) const {
    return leaf(leaves);
  }

  static std::string verb() { return std::string("all_reduce ") + Op::name; }

  friend bool operator==(reducer, reducer) = default;

 private:
  template <class T>
  auto leaf(const per_replica<T>& values) const {
    return mirrored(reduce(op_, values));
  }
  template <class A, class B>
  auto leaf(const std::pair<A, B>& both) const {
    auto first = leaf(both.first);
    auto second = leaf(both.second);
    return std::pair<decltype(first), decltype(second)>(std::move(first), std::move(second));
  }
  template <class... Ts>
  auto leaf(const std::tuple<Ts...>& leaves) const {
    return std::apply(
        [this](const auto&... each) {
          return std::tuple<decltype(this->leaf(each))...>(this->leaf(each)...);
        },
        leaves);
  }

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
  static_assert(gatherable<T>,
                "troupe: what has an axis can be gathered: std::vector, std::array and tensor; "
                "give merge_call() a function of your own for other types");
  if constexpr (detail::structured<T>) {
    return merge_call(detail::gatherer(axis), detail::one_piece<T>{std::move(value)});
  } else {
    return merge_call(detail::gatherer(axis), std::move(value));
  }
}

template <class Op, class T>
auto replica_context::all_reduce(Op op, T value) const {
  static_assert(reduction<Op>, "troupe: the operation is reduce_op::sum or reduce_op::mean");
  static_assert(detail::all_reducible<T>,
                "troupe: all_reduce() is defined for numbers, for std::vector, std::array and "
                "std::span of numbers, for tensor and weighted, and for tuples and pairs of them; "
                "give merge_call() a function of your own for other types, or specialise "
                "tensor_traits");
  return merge_call(detail::reducer<Op>(op), std::move(value));
}

}  // namespace troupe
