// structure.hpp - how values are split between replicas and put together again.
//
//     regroup    one T from each replica -> one value    per_replica<T>, leaf by leaf
//     select     one value -> what replica i gets        the inverse
//
// Leaves are whole values, a vector or a string as much as an int. std::tuple and
// std::pair are structure: a function that returns tuple<A, B> on every replica yields
// tuple<per_replica<A>, per_replica<B>>.
//
// Guarantees
//   inverse    select(i, regroup(values)) is values[i];
//   typed      the structure follows from types alone; nothing collapses at run time:
//              one replica gives a per_replica of one.

#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/strategy/mirrored.hpp"
#include "troupe/strategy/per_replica.hpp"

namespace troupe {

/// How T is taken apart; specialise it for a structure of your own.
template <class T>
struct structure {
  using regrouped = per_replica<T>;
  using selected = T;

  static regrouped regroup(per_replica<T>&& all) noexcept { return std::move(all); }

  /// A plain value goes to every replica as it is.
  static const T& select(std::size_t, const T& value) noexcept { return value; }
  static const T& take(std::size_t, T& value) noexcept { return value; }
};

template <class T>
struct structure<per_replica<T>> {
  using regrouped = per_replica<per_replica<T>>;
  using selected = T;

  static regrouped regroup(regrouped&& all) noexcept { return std::move(all); }
  static const T& select(std::size_t i, const per_replica<T>& value) noexcept { return value[i]; }
  /// Each replica's component is its own: it may be moved out.
  static T&& take(std::size_t i, per_replica<T>& value) noexcept { return std::move(value[i]); }
};

template <class T>
struct structure<mirrored<T>> {
  using regrouped = per_replica<mirrored<T>>;
  using selected = T;

  static regrouped regroup(regrouped&& all) noexcept { return std::move(all); }
  static const T& select(std::size_t, const mirrored<T>& value) noexcept { return value.get(); }
  static const T& take(std::size_t, mirrored<T>& value) noexcept {
    return std::as_const(value).get();
  }
};

namespace detail {

/// std::tuple and std::pair, which differ in name only.
template <template <class...> class Product, class... Ts>
struct product_structure {
  using whole = Product<Ts...>;
  using regrouped = Product<typename structure<Ts>::regrouped...>;
  using selected = Product<typename structure<Ts>::selected...>;

  static regrouped regroup(per_replica<whole>&& all) {
    return regroup(std::move(all), std::index_sequence_for<Ts...>());
  }
  static selected select(std::size_t i, const whole& value) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return selected(structure<Ts>::select(i, std::get<I>(value))...);
    }(std::index_sequence_for<Ts...>());
  }
  static selected take(std::size_t i, whole& value) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return selected(structure<Ts>::take(i, std::get<I>(value))...);
    }(std::index_sequence_for<Ts...>());
  }

 private:
  template <std::size_t... I>
  static regrouped regroup(per_replica<whole>&& all, std::index_sequence<I...>) {
    std::tuple<per_replica<Ts>...> columns;
    (std::get<I>(columns).reserve(all.size()), ...);
    for (whole& row : all) (std::get<I>(columns).append(std::get<I>(std::move(row))), ...);
    return regrouped(structure<Ts>::regroup(std::get<I>(std::move(columns)))...);
  }
};

}  // namespace detail

namespace detail {

template <class T>
inline constexpr bool is_product = false;
template <class... Ts>
inline constexpr bool is_product<std::tuple<Ts...>> = true;
template <class A, class B>
inline constexpr bool is_product<std::pair<A, B>> = true;

}  // namespace detail

template <class... Ts>
struct structure<std::tuple<Ts...>> : detail::product_structure<std::tuple, Ts...> {};
template <class A, class B>
struct structure<std::pair<A, B>> : detail::product_structure<std::pair, A, B> {};

template <class T>
using regrouped_t = typename structure<T>::regrouped;
template <class T>
using selected_t = typename structure<T>::selected;

/// What replica `i` gets of `value`.
template <class T>
decltype(auto) select_replica(std::size_t i, const T& value) {
  return structure<T>::select(i, value);
}

/// One value from each replica, put together.
template <class T>
regrouped_t<T> regroup(per_replica<T> all) {
  return structure<T>::regroup(std::move(all));
}

}  // namespace troupe
