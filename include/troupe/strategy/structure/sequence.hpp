// sequence.hpp - std::array and std::vector are structure, unless they hold numbers.
//
// A range of numbers is one value, a tensor; so is one of bools or bytes, which nobody wants
// to have apart.

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/strategy/structure/parts.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe::detail {

/// A range of elements T is taken apart, element by element.
template <class Range, class T>
concept sequence_of =
    !tensor_like<Range> && !std::is_arithmetic_v<T> && !std::same_as<T, std::byte>;

template <class A, class T>
using allocator_for = typename std::allocator_traits<A>::template rebind_alloc<T>;

/// \throws errc::structure_mismatch: `replica` is the first that has not as many as replica 0.
[[noreturn]] void throw_lengths_differ(std::size_t replica, std::size_t has, std::size_t first_has);

/// The j-th elements, taken out of the replicas' ranges.
template <class T, class Range>
per_replica<T> column_of(per_replica<Range>& all, std::size_t j) {
  per_replica<T> column;
  column.reserve(all.size());
  for (Range& each : all) column.append(std::move(each[j]));
  return column;
}

template <class T, std::size_t N>
  requires sequence_of<std::array<T, N>, T>
struct parts<std::array<T, N>> {
  using types = std::tuple<T>;
  using regrouped = std::array<regrouped_t<T>, N>;

  template <class Whole, class Make>
  static auto rebuild(Whole& value, const Make& make) -> std::array<made_of<Make, Whole, T>, N> {
    return made([&](std::size_t j) -> made_of<Make, Whole, T> { return make(value[j]); });
  }

  static regrouped regroup(per_replica<std::array<T, N>>&& all) {
    return made([&](std::size_t j) { return structure<T>::regroup(column_of<T>(all, j)); });
  }

 private:
  template <class At>
  static auto made(const At& at) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<std::invoke_result_t<const At&, std::size_t>, N>{at(I)...};
    }(std::make_index_sequence<N>());
  }
};

template <class T, class A>
  requires sequence_of<std::vector<T, A>, T>
struct parts<std::vector<T, A>> {
  template <class U>
  using of = std::vector<U, allocator_for<A, U>>;
  using types = std::tuple<T>;
  using regrouped = of<regrouped_t<T>>;

  template <class Whole, class Make>
  static auto rebuild(Whole& value, const Make& make) -> of<made_of<Make, Whole, T>> {
    of<made_of<Make, Whole, T>> made;
    made.reserve(value.size());
    for (auto& part : value) made.emplace_back(make(part));
    return made;
  }

  static regrouped regroup(per_replica<std::vector<T, A>>&& all) {
    regrouped whole;
    if (all.empty()) return whole;
    const std::size_t length = all[0].size();
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i].size() != length) throw_lengths_differ(i, all[i].size(), length);
    }
    whole.reserve(length);
    for (std::size_t j = 0; j < length; ++j) {
      whole.emplace_back(structure<T>::regroup(column_of<T>(all, j)));
    }
    return whole;
  }
};

}  // namespace troupe::detail
