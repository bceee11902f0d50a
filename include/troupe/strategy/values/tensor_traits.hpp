// tensor_traits.hpp - which types are tensors, and how they are seen as one.
//
// A number is a tensor of rank zero; std::vector, std::array and std::span of numbers have
// rank one; tensor<T> has any. For a type of your own specialise tensor_traits with the
// members of those below:
//
//     element           the type of a number in it
//     rank              how many axes it has, where the type knows
//     of<U>             what holds a result with elements U and the same axes
//     along<U>          what is left when an axis is gone; absent where there is none
//     values(t)         its elements, row-major, as a span; also of a mutable of<U>
//     shape(t)          its tensor_shape
//     make<R>(shape)    an R = of<U> of that shape
//     make_for_overwrite<R>(shape)   the same, where elements may be left without values;
//                       optional

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "troupe/strategy/values/tensor.hpp"

namespace troupe {

template <class T>
struct tensor_traits {};

template <arithmetic T>
struct tensor_traits<T> {
  static constexpr std::size_t rank = 0;
  using element = T;
  template <class U>
  using of = U;

  static std::span<const T> values(const T& value) noexcept { return {&value, 1}; }
  static std::span<T> values(T& value) noexcept { return {&value, 1}; }
  static tensor_shape shape(const T&) { return {}; }
  template <class R>
  static R make(const tensor_shape&) noexcept {
    return R();
  }
};

template <arithmetic T>
struct tensor_traits<tensor<T>> {
  using element = T;
  template <class U>
  using of = tensor<U>;
  template <class U>
  using along = tensor<U>;

  static std::span<const T> values(const tensor<T>& value) noexcept { return value.values(); }
  static std::span<T> values(tensor<T>& value) noexcept { return value.values(); }
  static const tensor_shape& shape(const tensor<T>& value) noexcept { return value.shape(); }
  template <class R>
  static R make(const tensor_shape& shape) {
    return R(shape);
  }
  template <class R>
  static R make_for_overwrite(const tensor_shape& shape) {
    return R::for_overwrite(shape);
  }
};

namespace detail {

/// Contiguous ranges of numbers: rank one.
template <class Range, class T>
struct range_traits {
  static constexpr std::size_t rank = 1;
  using element = T;
  template <class U>
  using along = U;

  static std::span<const T> values(const Range& value) noexcept { return value; }
  static tensor_shape shape(const Range& value) { return {value.size()}; }
};

}  // namespace detail

template <arithmetic T, class A>
struct tensor_traits<std::vector<T, A>> : detail::range_traits<std::vector<T, A>, T> {
  template <class U>
  using of = std::conditional_t<std::same_as<T, U>, std::vector<T, A>, std::vector<U>>;

  using detail::range_traits<std::vector<T, A>, T>::values;
  static std::span<T> values(std::vector<T, A>& value) noexcept { return value; }
  template <class R>
  static R make(const tensor_shape& shape) {
    return R(shape[0]);
  }
};

template <arithmetic T, std::size_t N>
struct tensor_traits<std::array<T, N>> : detail::range_traits<std::array<T, N>, T> {
  template <class U>
  using of = std::array<U, N>;

  using detail::range_traits<std::array<T, N>, T>::values;
  static std::span<T> values(std::array<T, N>& value) noexcept { return value; }
  template <class R>
  static R make(const tensor_shape&) noexcept {
    return R{};
  }
};

/// Numbers that live elsewhere: what is made of them is a vector.
template <class T, std::size_t N>
  requires arithmetic<std::remove_const_t<T>>
struct tensor_traits<std::span<T, N>>
    : detail::range_traits<std::span<T, N>, std::remove_const_t<T>> {
  template <class U>
  using of = std::vector<U>;

  template <class R>
  static R make(const tensor_shape& shape) {
    return R(shape[0]);
  }
};

template <class T>
concept tensor_like = requires { typename tensor_traits<T>::element; };

template <tensor_like T>
using element_t = typename tensor_traits<T>::element;

}  // namespace troupe
