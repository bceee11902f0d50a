// variable_handle.hpp - what the kinds of variables have in common as values: they stay
// themselves when they are passed on, and stand for their components when they are written.

#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include "troupe/strategy/structure.hpp"
#include "troupe/strategy/variables/aggregation.hpp"
#include "troupe/strategy/variables/variable_state.hpp"

namespace troupe {

template <class T, class Aggregation = no_aggregation>
class variable;

template <class T, class Aggregation = sum_op>
class sync_on_read_variable;

template <class T>
inline constexpr bool is_variable = false;
template <class T, class A>
inline constexpr bool is_variable<variable<T, A>> = true;
template <class T>
inline constexpr bool is_sync_on_read_variable = false;
template <class T, class A>
inline constexpr bool is_sync_on_read_variable<sync_on_read_variable<T, A>> = true;

/// A handle on a variable, of either kind.
template <class V>
concept variable_handle = is_variable<V> || is_sync_on_read_variable<V>;

namespace detail {

/// Whether a value of this type is the same on all replicas, by what its type says.
template <class V>
inline constexpr bool same_everywhere = is_mirrored<V> || is_variable<V>;

/// Numbers may become other numbers, but must not lose what is behind the point.
template <class V, class T>
inline constexpr bool writable =
    std::convertible_to<selected_t<V>, T> && !(fractional<selected_t<V>> && std::integral<T>);
template <class U, class A, class T>
inline constexpr bool writable<variable<U, A>, T> = std::same_as<U, T>;

/// \throws errc::shape_mismatch unless the value fits the variable.
template <class Write, class T, class V>
void require_writable(const variable_state<T>& state, const V& value) {
  if constexpr (requires { Write::require_valid(value, state.shape()); }) {
    Write::require_valid(value, state.shape());
  } else {
    state.require_shape(value);
  }
}

/// Of a value to be written, the part for one component. On the component's line.
template <class T, class V>
decltype(auto) value_for(std::size_t replica, const V& value) {
  if constexpr (is_variable<V>) {
    return std::as_const(value.state()->component(replica));
  } else {
    return structure<V>::select(replica, value);
  }
}

template <class T, class V>
T value_for_replica(const replica_context& ctx, const V& value) {
  if constexpr (is_variable<V>) value.state()->require_replica(ctx, "read()");
  // A context that is not current is not looked into; it is refused when the write is awaited.
  const bool current = ctx.is_current();
  if (current) require_components(value, static_cast<std::size_t>(ctx.num_replicas_in_sync()));
  const auto id = static_cast<std::size_t>(current ? ctx.replica_id() : 0);
  return static_cast<T>(value_for<T>(id, value));
}

}  // namespace detail

/// A variable stays itself: run() and merge_call() pass the handle, not its components.
template <class V>
  requires variable_handle<V>
struct structure<V> {
  static constexpr bool plain = true;
  using regrouped = V;
  using selected = V;

  static V regroup(per_replica<V>&& all) {
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (!(all[i] == all[0])) detail::throw_different_variables(i, all[0].name(), all[i].name());
    }
    return std::move(all[0]);
  }
  static const V& select(std::size_t, const V& value) noexcept { return value; }
  static const V& take(std::size_t, V& value) noexcept { return value; }
};

}  // namespace troupe
