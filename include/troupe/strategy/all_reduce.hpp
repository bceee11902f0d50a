// all_reduce.hpp - ctx.all_reduce(op, value): the merge whose function is a reduction.
//
//     float mean = co_await ctx.all_reduce(reduce_op::mean, loss);
//     gradient   = co_await ctx.all_reduce(reduce_op::sum, std::move(gradient));

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "troupe/runtime/step_graph.hpp"
#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reduce.hpp"

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
  const std::size_t bytes = values.size() * result.size() * sizeof(typename elements<T>::type);
  if (bytes < graph_pays_from) {
    reduce_elements<Op>(values, result, 0, result.size());
  } else {
    const std::size_t steps = (bytes + bytes_per_step - 1) / bytes_per_step;
    const std::size_t stretch = (result.size() + steps - 1) / steps;
    step_graph graph;
    for (std::size_t first = 0; first < result.size(); first += stretch) {
      const std::size_t last = std::min(first + stretch, result.size());
      graph.add(
          [&values, &result, first, last] { reduce_elements<Op>(values, result, first, last); });
    }
    co_await troupe::run(graph);
  }
  co_return mirrored(std::move(result));
}

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
    requires(!arithmetic<T>)
  task<mirrored<reduced_t<T, Op>>> operator()(per_replica<T> values) const {
    return reduce_ranges<Op>(std::move(values));
  }

  static std::string verb() { return std::string("all_reduce ") + Op::name; }

  friend bool operator==(reducer, reducer) = default;

 private:
  [[no_unique_address]] Op op_;
};

}  // namespace detail

template <class Op, class T>
auto replica_context::all_reduce(Op op, T value) const {
  static_assert(reduction<Op>, "troupe: the operation is reduce_op::sum or reduce_op::mean");
  static_assert(reducible<T>,
                "troupe: all_reduce() is defined for numbers and for std::vector and std::array "
                "of numbers; give merge_call() a function of your own for other types");
  return merge_call(detail::reducer<Op>(op), std::move(value));
}

}  // namespace troupe
