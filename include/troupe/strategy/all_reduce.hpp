// all_reduce.hpp - ctx.all_reduce(op, value): the merge whose function is a reduction.
//
//     float mean = co_await ctx.all_reduce(reduce_op::mean, loss);

#pragma once

#include <string>
#include <utility>

#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reduce.hpp"

namespace troupe {

namespace detail {

/// The merge function: everybody gets the same result.
template <reduction Op>
class reducer {
 public:
  explicit reducer(Op op) noexcept : op_(op) {}

  template <class T>
  auto operator()(const per_replica<T>& values) const {
    return mirrored(reduce(op_, values));
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
