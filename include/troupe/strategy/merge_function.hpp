// merge_function.hpp - how a merge function is told from others of its type, and how it may end.

#pragma once

#include <concepts>
#include <cstring>
#include <type_traits>

#include "troupe/core/task.hpp"

namespace troupe::detail {

/// What tells a function of the library from others of its type, as == does: the address of
/// something that it keeps alive.
struct told_by_address_of {
  const void* it;
};

/// Whether it says so itself: only functions of the library do.
template <class F>
concept says_what_tells_it = requires(const F& fn) {
  { fn.told_by() } noexcept -> std::same_as<told_by_address_of>;
};

/// Whether its bytes tell a function from others of its type.
template <class F>
inline constexpr bool is_told_by_bytes =
    !std::is_empty_v<F> && std::equality_comparable<F> && sizeof(F) <= sizeof(void*) &&
    std::has_unique_object_representations_v<F>;

/// Whether only the address of a copy does, which is as good as the copy.
template <class F>
inline constexpr bool is_told_by_address = !std::is_empty_v<F> && std::equality_comparable<F> &&
                                           !is_told_by_bytes<F> && !says_what_tells_it<F>;

/// What tells a function from others of its type: what it says; its bytes, if it is small; of one
/// that only == can compare, the address of this copy; and of one that needs none of that, nothing.
template <class F>
const void* told_by(const F& fn) noexcept {
  if constexpr (says_what_tells_it<F>) {
    return fn.told_by().it;
  } else if constexpr (is_told_by_bytes<F>) {
    const void* bytes = nullptr;
    std::memcpy(&bytes, &fn, sizeof fn);
    return bytes;
  } else if constexpr (is_told_by_address<F>) {
    return &fn;
  }
  return nullptr;
}
/// Whether `fn`, of a line's replica, is the one that is told by `told`, of the same line's first.
template <class F>
bool is_told_by(const void* told, const F& fn) noexcept {
  if constexpr (is_told_by_address<F>) return *static_cast<const F*>(told) == fn;
  return told == told_by(fn);
}

/// What a function of the library returns that is over at once, or else in a task: what is left to
/// do, perhaps nothing. There is no result besides.
struct rest_of_merge {
  task<> body;
};
template <>
struct task_value<rest_of_merge> {
  using type = void;
};

}  // namespace troupe::detail
