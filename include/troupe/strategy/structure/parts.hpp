// parts.hpp - what it is to be structure: the door for each kind of it.
//
// A kind of structure says what its parts are and how it is rebuilt of others; how it is split
// between replicas follows. The kinds are in the files beside this one, and structure.hpp has
// them all: what is a leaf must not depend on which of them a file includes.

#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/strategy/values/mirrored.hpp"
#include "troupe/strategy/values/per_replica.hpp"

namespace troupe {

namespace detail {

/// What a structure T is made of. Each kind of structure has
///
///     types                   the types of its parts, as a tuple
///     rebuild(value, make)    the same structure of what make(part) gives
///     regroup(all)            one T from each replica -> the same structure, regrouped
template <class T>
struct parts {};

/// What is taken apart.
template <class T>
concept structured = requires { typename parts<T>::types; };

}  // namespace detail

namespace detail {

[[noreturn]] void throw_wrong_number(std::size_t values, std::size_t replicas);

/// \throws errc::structure_mismatch unless each per_replica has one value for each replica.
template <class T>
void require_components(const T&, std::size_t) noexcept {}
template <class T>
void require_components(const per_replica<T>& value, std::size_t replicas) {
  if (value.size() != replicas) [[unlikely]]
    throw_wrong_number(value.size(), replicas);
}
template <class... Ts>
void require_components(const std::tuple<Ts...>& value, std::size_t replicas) {
  std::apply([&](const auto&... each) { (require_components(each, replicas), ...); }, value);
}
template <class A, class B>
void require_components(const std::pair<A, B>& value, std::size_t replicas) {
  require_components(value.first, replicas);
  require_components(value.second, replicas);
}

}  // namespace detail

/// How T is taken apart; specialise it for a structure of your own.
template <class T>
struct structure {
  /// Every replica gets the same of it.
  static constexpr bool plain = true;
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

struct selector {
  std::size_t replica;

  template <class T>
  auto operator()(const T& part) const -> decltype(structure<T>::select(0, part)) {
    return structure<T>::select(replica, part);
  }
};

struct taker {
  std::size_t replica;

  template <class T>
  auto operator()(T& part) const -> decltype(structure<T>::take(0, part)) {
    return structure<T>::take(replica, part);
  }
};

template <class T>
inline constexpr bool is_plain = requires { requires structure<T>::plain; };
template <class... Ts>
inline constexpr bool is_plain<std::tuple<Ts...>> = (is_plain<Ts> && ...);

template <class T>
struct selected_parts {
  using type = decltype(parts<T>::rebuild(std::declval<const T&>(), std::declval<selector>()));
};

/// A part of Whole, as const as that is.
template <class Whole, class Part>
using part_of = std::conditional_t<std::is_const_v<Whole>, const Part, Part>;

/// What `make` gives for a part of Whole, to be kept.
template <class Make, class Whole, class Part>
using made_of = std::remove_cvref_t<std::invoke_result_t<const Make&, part_of<Whole, Part>&>>;

}  // namespace detail

/// What is the same for all structures. One that has nothing of a single replica in it is
/// handed on as a whole, without a copy.
template <detail::structured T>
struct structure<T> {
  static constexpr bool plain = detail::is_plain<typename detail::parts<T>::types>;
  using regrouped = decltype(detail::parts<T>::regroup(std::declval<per_replica<T>>()));
  using selected =
      typename std::conditional_t<plain, std::type_identity<T>, detail::selected_parts<T>>::type;
  using handed = std::conditional_t<plain, const T&, selected>;

  /// \throws errc::structure_mismatch when the replicas' values differ in structure.
  static regrouped regroup(per_replica<T>&& all) {
    return detail::parts<T>::regroup(std::move(all));
  }
  static handed select(std::size_t i, const T& value) {
    if constexpr (plain) {
      return value;
    } else {
      return detail::parts<T>::rebuild(value, detail::selector{i});
    }
  }
  static handed take(std::size_t i, T& value) {
    if constexpr (plain) {
      return value;
    } else {
      return detail::parts<T>::rebuild(value, detail::taker{i});
    }
  }
};

template <class T>
using regrouped_t = typename structure<T>::regrouped;
template <class T>
using selected_t = typename structure<T>::selected;

}  // namespace troupe
