// reduce_nest.hpp - tensors, alone or anywhere in a nest, reduced in one pass; for all_reduce.hpp
// and extended.hpp.
//
// First all leaves of a nest are looked at, so that what is wrong with one is found while all are
// whole; then the tensors among them are reduced together (fused_pass.hpp); then the results are
// put in their places. Leaves that are no tensors are reduced by the reduce() of their type.

#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/strategy/reductions/fused_pass.hpp"
#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/structure.hpp"

namespace troupe::detail {

/// Whose elements are its own, and go with it when it is moved. What replicas have given away is
/// reduced where it is: memory that is there need not be asked for.
template <class T>
inline constexpr bool owns_elements = false;
template <arithmetic T, class A>
inline constexpr bool owns_elements<std::vector<T, A>> = true;
template <arithmetic T>
inline constexpr bool owns_elements<tensor<T>> = true;

/// Whether the result fits where the values are.
template <class Op, class T>
inline constexpr bool in_place = false;
template <class Op, reducible T>
  requires owns_elements<T>
inline constexpr bool in_place<Op, T> = std::same_as<T, reduced_t<T, Op>>;

template <reduction Op, class T, class R>
task<> reduce_ranges_into(Op op, const per_replica<T>* values, std::span<R> out) {
  const reduction_into whole(op, *values, out);
  fused_pass pass;
  pass.add(whole);
  co_await pass.run();
}

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

template <class T>
concept tensor_leaf = tensor_like<T> && !arithmetic<T>;

template <class Regrouped>
inline constexpr bool has_tensors = false;
template <tensor_leaf T>
inline constexpr bool has_tensors<per_replica<T>> = true;
template <class Types>
inline constexpr bool any_has_tensors = false;
template <class... Ts>
inline constexpr bool any_has_tensors<std::tuple<Ts...>> = (has_tensors<Ts> || ...);
template <structured T>
inline constexpr bool has_tensors<T> = any_has_tensors<typename parts<T>::types>;

/// Who gets the result of a reduction.
enum class receiver { caller, each_replica };

/// A tensor of a nest while its reduction is under way: whoever gets it gets a copy of what is
/// made.
template <reduction Op, tensor_leaf T, receiver To>
class tensor_in_hand {
 public:
  using result = reduced_t<T, Op>;

  tensor_in_hand(Op op, per_replica<T>& values)
      : room_(room_for_result<Op>(values)), reduction_(op, values, elements_of_result(room_)) {}

  const leaf_reduction& reduction() const noexcept { return reduction_; }
  mirrored<result> take() { return mirrored(std::move(room_)); }

 private:
  result room_;
  reduction_into<Op, T, element_t<result>> reduction_;
};

/// Each gets back what it gave, with other elements.
template <reduction Op, tensor_leaf T>
  requires in_place<Op, T>
class tensor_in_hand<Op, T, receiver::each_replica> {
 public:
  tensor_in_hand(Op op, per_replica<T>& values)
      : values_(checked(values)), reduction_(op, values_) {}

  const leaf_reduction& reduction() const noexcept { return reduction_; }
  per_replica<T> take() { return std::move(values_); }

 private:
  static per_replica<T>& checked(per_replica<T>& values) {
    require_same_shape(values);
    return values;
  }

  per_replica<T>& values_;
  reduction_for_all<Op, per_replica<T>> reduction_;
};

/// The caller gets what the first replica gave.
template <reduction Op, tensor_leaf T>
  requires in_place<Op, T>
class tensor_in_hand<Op, T, receiver::caller> {
 public:
  tensor_in_hand(Op op, per_replica<T>& values)
      : room_(checked(values)[0]), reduction_(op, values, elements_of_result(room_)) {}

  const leaf_reduction& reduction() const noexcept { return reduction_; }
  mirrored<T> take() { return mirrored(std::move(room_)); }

 private:
  static per_replica<T>& checked(per_replica<T>& values) {
    require_same_shape(values);
    return values;
  }

  T& room_;
  reduction_into<Op, T, element_t<T>> reduction_;
};

/// What needs no pass.
template <class R>
struct reduced_already {
  mirrored<R> value;
};

/// A regrouped nest -> the same nest of what is in hand; its tensors are added to the pass.
template <reduction Op, receiver To>
struct hand_out {
  template <tensor_leaf T>
  auto operator()(per_replica<T>& leaf) const {
    auto made = std::make_unique<tensor_in_hand<Op, T, To>>(op, leaf);
    pass->add(made->reduction());
    return made;
  }
  template <class T>
  auto operator()(per_replica<T>& leaf) const {
    using result = decltype(reduce(op, leaf));
    return reduced_already<result>(mirrored(reduce(op, leaf)));
  }
  template <structured T>
  auto operator()(T& regrouped) const {
    return parts<T>::rebuild(regrouped, *this);
  }

  [[no_unique_address]] Op op;
  fused_pass* pass;
};

/// That nest -> its results.
struct hand_in {
  template <class Op, class T, receiver To>
  auto operator()(std::unique_ptr<tensor_in_hand<Op, T, To>>& leaf) const {
    return leaf->take();
  }
  template <class R>
  mirrored<R> operator()(reduced_already<R>& leaf) const {
    return std::move(leaf.value);
  }
  template <structured T>
  auto operator()(T& nest) const {
    return parts<T>::rebuild(nest, *this);
  }
};

template <reduction Op, receiver To, class Nest>
using nest_in_hand = std::invoke_result_t<const hand_out<Op, To>&, Nest&>;

/// A nest may be a single tensor.
template <receiver To, reduction Op, class Nest>
task<std::invoke_result_t<const hand_in&, nest_in_hand<Op, To, Nest>&>> reduce_nest(Op op,
                                                                                    Nest values) {
  fused_pass pass;
  const hand_out<Op, To> give(op, &pass);
  auto in_hand = give(values);
  co_await pass.run();
  const hand_in take;
  co_return take(in_hand);
}

}  // namespace troupe::detail
