// reduce.hpp - sum, mean, min, max and product over the replicas, in replica order.
//
//     int total = reduce(reduce_op::sum, values);       // per_replica<int>
//     double m  = reduce(reduce_op::mean, values);      // true division: no integer mean
//
//     std::string s = reduce(longest(), words);         // yours: own_reduction in arithmetic.hpp
//
// What can be reduced: every tensor (tensor_traits.hpp), element by element. A type of another
// kind has functions of its own, reduce(sum_op, const per_replica<T>&) and the same for mean_op
// and others, which are found by their name wherever something is reduced.
//
// Guarantees
//   exact    ((v0 + v1) + v2) + …, whatever the schedule, executor or thread count: the
//            same bits always;
//   defined  sums of integers wrap around; a mean of integers does not: it is added up in
//            a wider type and given as a double (a float for types below 32 bits);
//            arithmetic.hpp says what NaN does.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "troupe/core/error.hpp"
#include "troupe/strategy/reductions/arithmetic.hpp"
#include "troupe/strategy/reductions/element_reduction.hpp"
#include "troupe/strategy/values/mirrored.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe {

namespace detail {

template <class T, class Op>
struct reduced {
  using type = typename tensor_traits<T>::template of<reduced_element<Op, element_t<T>>>;
};

/// \throws errc::shape_mismatch with every replica's shape, in replica order.
[[noreturn]] void throw_shape_mismatch(std::span<const tensor_shape> shapes);
[[noreturn]] void throw_nothing_to_reduce();

/// The same, of `n` values: `at(i)` is replica i's.
template <tensor_like T, class At>
[[noreturn]] void throw_shapes(std::size_t n, const At& at) {
  std::vector<tensor_shape> shapes;
  for (std::size_t i = 0; i < n; ++i) shapes.push_back(tensor_traits<T>::shape(at(i)));
  throw_shape_mismatch(shapes);
}

template <tensor_like T>
bool same_shape(const T& a, const T& b) {
  using traits = tensor_traits<T>;
  if constexpr (requires { requires traits::rank <= 1; }) {
    return traits::values(a).size() == traits::values(b).size();
  } else {
    return traits::shape(a) == traits::shape(b);
  }
}

/// \throws errc::shape_mismatch unless all have one shape, and there is one at least.
template <class Values>
void require_same_shape(const Values& values) {
  using T = typename Values::value_type;
  if (values.size() == 0) throw_nothing_to_reduce();
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (same_shape<T>(values[i], values[0])) continue;
    throw_shapes<T>(values.size(), [&](std::size_t k) -> const T& { return values[k]; });
  }
}

}  // namespace detail

/// What the operations are defined for.
template <class T>
concept reducible = tensor_like<T>;

template <reducible T, reduction Op>
using reduced_t = typename detail::reduced<T, Op>::type;

namespace detail {

/// An R of this shape, to be overwritten.
template <class R, class Traits = tensor_traits<R>>
R room_of_shape(const tensor_shape& shape) {
  if constexpr (requires { Traits::template make_for_overwrite<R>(tensor_shape()); }) {
    return Traits::template make_for_overwrite<R>(shape);
  } else {
    return Traits::template make<R>(shape);
  }
}

/// A result of the values' shape, to be overwritten. \throws errc::shape_mismatch unless they
/// have one.
template <class Op, class T>
reduced_t<T, Op> room_for_result(const per_replica<T>& values) {
  require_same_shape(values);
  using traits = tensor_traits<T>;
  return room_of_shape<reduced_t<T, Op>, traits>(traits::shape(values[0]));
}

/// The elements of a result, to be written.
template <class R>
auto elements_of_result(R& result) noexcept {
  return tensor_traits<R>::values(result);
}

}  // namespace detail

/// One value of all replicas', made by an operation of your own that takes it whole.
template <reduction Op, class T>
  requires(detail::combines<Op, T> && !reducible<T>)
T reduce(Op op, const per_replica<T>& values) {
  if (values.empty()) detail::throw_nothing_to_reduce();
  return detail::fold<T>(op, values.size(), [&](std::size_t i) -> const T& { return values[i]; });
}

/// One value of all replicas', element by element, in replica order.
/// \throws errc::shape_mismatch if shapes differ, or there is no value.
template <reduction Op, reducible T>
auto reduce(Op op, const per_replica<T>& values)
  requires(!named_own_reduction<Op> || detail::combines<Op, element_t<T>>)
{
  if constexpr (arithmetic<T>) {
    if (values.empty()) detail::throw_nothing_to_reduce();
    return detail::fold<T>(op, values.size(), [&](std::size_t i) { return values[i]; });
  } else {
    auto result = detail::room_for_result<Op>(values);
    const auto out = detail::elements_of_result(result);
    detail::element_reduction(op, values, out).run(0, out.size());
    return result;
  }
}

namespace detail {

/// What reduce() gives for a type that has none.
struct not_reducible {};
/// A leaf of which a reduction is made: by the function above, or by the type's own.
template <class Op, class T>
concept has_reduction = requires(Op op, const per_replica<T>& values) {
  reduce(op, values);
  requires !std::same_as<decltype(reduce(op, values)), not_reducible>;
};

/// For those who have a function of this name themselves.
template <class Op, class Value>
auto reduce_by_name(Op op, const Value& value) {
  return reduce(op, value);
}

}  // namespace detail

/// Here for the sake of the sentence.
template <reduction Op, class T>
detail::not_reducible reduce(Op, const per_replica<T>&) {
  static_assert(!named_own_reduction<Op>,
                "troupe: this operation makes no such value of two: its call takes two values of "
                "the type, or of a tensor's elements, and gives one");
  static_assert(reducible<T>,
                "troupe: sum, mean, min, max and product are defined for numbers, for std::vector, "
                "std::array and std::span of numbers and for tensor; give merge_call() a function "
                "of your own for "
                "other types, specialise tensor_traits, or declare reduce(op, per_replica<T>) "
                "beside the type");
  return {};
}

namespace detail {

[[noreturn]] void throw_plain_sum(std::size_t replicas);
[[noreturn]] void throw_plain_product(std::size_t replicas);

/// A plain value is the same on all `n` replicas: that is its mean, and the least and greatest.
/// Whether its sum is n times the value, and its product the n-th power, nobody can know.
template <reduction Op, class T>
T reduce_plain(Op, const T& value, std::size_t n) {
  static_assert(!named_own_reduction<Op>,
                "troupe: what an operation of your own makes of a plain value is not known: give a "
                "per_replica");
  if constexpr (std::same_as<Op, sum_op>) {
    if constexpr (arithmetic<T>) {
      if (value == T()) return value;
    }
    if (n != 1) throw_plain_sum(n);
  } else if constexpr (std::same_as<Op, product_op>) {
    if (n != 1) throw_plain_product(n);
  }
  return value;
}

}  // namespace detail

/// A mirrored value is the same everywhere: its mean is itself. Its sum is refused by the
/// type system, because n times the value is hardly ever meant.
template <reduction Op, class T>
T reduce(Op, const mirrored<T>& value)
  requires(!std::same_as<Op, sum_op> && !std::same_as<Op, product_op> && !named_own_reduction<Op>)
{
  return value.get();
}
template <class T>
void reduce(sum_op, const mirrored<T>&) = delete;
template <class T>
void reduce(product_op, const mirrored<T>&) = delete;

}  // namespace troupe
