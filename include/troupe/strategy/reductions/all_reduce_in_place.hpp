// all_reduce_in_place.hpp - an all_reduce() of a tensor whose elements are its own.
//
// What a replica gives away stays in its frame, and its elements are reduced where they are: what
// comes to the merge is where it lies. When the merge has ended the replica gets back what it gave.
// A small reduction is over at once and makes no coroutine; a large one is a pass (fused_pass.hpp).

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reductions/fused_pass.hpp"
#include "troupe/strategy/reductions/reduce_nest.hpp"

namespace troupe::detail {

/// A value that stays where it is until the merge has ended, and where its elements are: on another
/// processor each is asked for, and comes, for itself.
template <class T>
struct lent {
  T* value = nullptr;
  const element_t<T>* elements = nullptr;
};

template <class T>
struct written_as<lent<T>> {
  using type = T;
};

/// Those of all replicas.
template <class T>
class lent_row {
 public:
  using value_type = T;

  explicit lent_row(const per_replica<lent<T>>& row) noexcept : row_(row) {}

  std::size_t size() const noexcept { return row_.size(); }
  T& operator[](std::size_t i) const noexcept { return *row_[i].value; }

 private:
  const per_replica<lent<T>>& row_;
};

/// The merge function.
template <reduction Op, class T>
class in_place_reducer {
 public:
  explicit in_place_reducer(Op op) noexcept : op_(op) {}

  rest_of_merge operator()(const per_replica<lent<T>>& values) const {
    const lent_row<T> row(values);
    const std::size_t bytes = tensor_traits<T>::values(row[0]).size_bytes();
    fetch(values, bytes);
    require_same_shape(row);
    if (fused_pass::is_large(bytes * row.size())) return {in_steps(op_, values)};
    const reduction_for_all<Op, const lent_row<T>> all(op_, row);
    all.run(0, all.elements());
    return {};
  }

  static std::string verb() { return std::string("all_reduce ") + Op::name; }

  friend bool operator==(in_place_reducer, in_place_reducer) = default;

 private:
  /// Has the first bytes of a few brought into this processor's cache, if others have written them;
  /// before it is known whether all have as many.
  [[gnu::always_inline]] static void fetch(const per_replica<lent<T>>& values,
                                           std::size_t bytes) noexcept {
    for (std::size_t i = 1; i < values.size() && i < 4; ++i) {
      const auto begin = reinterpret_cast<std::uintptr_t>(values[i].elements);
      for (std::size_t at = 0; at < bytes && at < 1024; at += 64) {
        __builtin_prefetch(reinterpret_cast<const void*>(begin + at));
      }
    }
  }
  static task<> in_steps(Op op, per_replica<lent<T>> values) {
    const lent_row<T> row(values);
    const reduction_for_all<Op, const lent_row<T>> all(op, row);
    fused_pass pass;
    pass.add(all);
    co_await pass.run();
  }

  [[no_unique_address]] Op op_;
};

/// What a replica awaits.
template <reduction Op, class T>
class all_reduce_in_place {
 public:
  using awaitable_in_task = void;
  using value_type = T;

  all_reduce_in_place(replica_context ctx, Op op, T value)
      : merge_(ctx, in_place_reducer<Op, T>(op), lent<T>()), value_(std::move(value)) {}

  void stand_at(place_pointer here) noexcept { merge_.stand_at(here); }
  bool await_ready() const noexcept { return false; }
  template <std::derived_from<chain_link> Promise>
  void await_suspend(std::coroutine_handle<Promise> replica) {
    std::get<0>(merge_.arguments()) = {&value_, tensor_traits<T>::values(value_).data()};
    merge_.await_suspend(replica);
  }
  T await_resume() {
    merge_.await_resume();
    return std::move(value_);
  }

 private:
  merge_operation<in_place_reducer<Op, T>, lent<T>> merge_;
  T value_;
};

}  // namespace troupe::detail
