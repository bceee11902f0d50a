// product.hpp - std::tuple and std::pair are structure, and differ in name only.

#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "troupe/strategy/structure/parts.hpp"
#include "troupe/strategy/values/per_replica.hpp"

namespace troupe::detail {

template <template <class...> class Product, class... Ts>
struct product_parts {
  using whole = Product<Ts...>;
  using types = std::tuple<Ts...>;
  using regrouped = Product<regrouped_t<Ts>...>;

  template <class Whole, class Make>
  static auto rebuild(Whole& value, const Make& make) -> Product<made_of<Make, Whole, Ts>...> {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Product<made_of<Make, Whole, Ts>...>(make(std::get<I>(value))...);
    }(std::index_sequence_for<Ts...>());
  }

  static regrouped regroup(per_replica<whole>&& all) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::tuple<per_replica<Ts>...> columns;
      (std::get<I>(columns).reserve(all.size()), ...);
      for (whole& row : all) (std::get<I>(columns).append(std::get<I>(std::move(row))), ...);
      return regrouped(structure<Ts>::regroup(std::get<I>(std::move(columns)))...);
    }(std::index_sequence_for<Ts...>());
  }
};

template <class... Ts>
struct parts<std::tuple<Ts...>> : product_parts<std::tuple, Ts...> {};
template <class A, class B>
struct parts<std::pair<A, B>> : product_parts<std::pair, A, B> {};

}  // namespace troupe::detail
