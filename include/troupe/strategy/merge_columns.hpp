// merge_columns.hpp - the arguments of a round, taken as their replicas arrive.
//
// Where all replicas are on one line, and a merge's arguments are copied as bytes, each replica
// puts its own beside those of the first one when it arrives: its frame is in the cache then, and
// needs not be visited a second time when all have come.

#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/actors/merge_request.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/strategy/structure.hpp"

namespace troupe::detail {

/// Copied as often as one likes, which costs less than another look at the frame.
template <class T>
inline constexpr bool is_small_value = std::is_trivially_copyable_v<T> && sizeof(T) <= 64 &&
                                       alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// Whether it can be compared where nothing may throw. Lambdas without captures can.
template <class F>
inline constexpr bool is_compared_quietly = true;
template <std::equality_comparable F>
inline constexpr bool is_compared_quietly<F> =
    noexcept(static_cast<bool>(std::declval<const F&>() == std::declval<const F&>()));

/// Whether a merge of these is taken on arrival.
template <class F, class... Args>
inline constexpr bool taken_on_arrival = sizeof...(Args) <= merge_intake::columns_max &&
                                         (is_small_value<Args> && ...) && is_compared_quietly<F>;

/// Whether there is room for one value of each argument from each of `all` replicas.
template <class... Args>
bool has_columns(const merge_intake& in, std::size_t all) noexcept {
  [[maybe_unused]] std::size_t i = 0;
  [[maybe_unused]] const auto fits = [&](std::size_t bytes) {
    const auto& c = in.columns[i++];
    return c.values && c.bytes == bytes;
  };
  return (fits(all * sizeof(Args)) && ...);
}

/// Makes it; false if the heap has none.
template <class... Args>
[[gnu::noinline]] bool open_columns(merge_intake& in, std::size_t all) noexcept {
  in.drop();
  try {
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] const auto open = [&](std::size_t bytes) {
      in.columns[i].bytes = bytes;
      in.columns[i++].values = recycling_allocate(bytes);
    };
    (open(all * sizeof(Args)), ...);
    return true;
  } catch (...) {
    return false;  // Then the merge will ask for it, and say so.
  }
}

template <class... Args>
void put_in_columns(merge_intake& in, std::size_t replica, const std::tuple<Args...>& args) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (std::construct_at(static_cast<Args*>(in.columns[I].values) + replica, std::get<I>(args)), ...);
  }(std::index_sequence_for<Args...>());
}

/// What was put there by `all` replicas.
template <class... Args>
void take_columns(merge_intake& from, std::size_t all, std::tuple<per_replica<Args>...>& into) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((std::get<I>(into) = per_replica<Args>::from_memory(
          static_cast<Args*>(std::exchange(from.columns[I].values, nullptr)), all)),
     ...);
  }(std::index_sequence_for<Args...>());
}

/// The next round fills the same memory, unless the merge function has kept it.
template <class... Args>
void give_columns_back(merge_intake& to, std::size_t all, std::tuple<per_replica<Args>...>& from) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((to.columns[I].values = std::get<I>(from).to_memory(all)), ...);
  }(std::index_sequence_for<Args...>());
}

/// What the merge function gets: structures of columns, for columns of structures.
template <class... Args>
std::tuple<regrouped_t<Args>...> regroup_columns(std::tuple<per_replica<Args>...>&& from) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<regrouped_t<Args>...>(
        structure<Args>::regroup(std::get<I>(std::move(from)))...);
  }(std::index_sequence_for<Args...>());
}

/// What each replica gets of a merge's result.
template <class T>
struct share_of {
  using type = selected_t<T>;
};
template <>
struct share_of<void> {
  using type = void;
};

/// Why the running replica's merge has no result. `who` null: the round will not happen.
[[noreturn]] void throw_merge_failure(const replica_actor* who);

}  // namespace troupe::detail
