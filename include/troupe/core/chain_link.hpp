// chain_link.hpp - a coroutine's place in a chain of them, and where the innermost one waits.

#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "troupe/core/place.hpp"

namespace troupe::detail {

/// What every coroutine of an activity keeps about its place in the chain: the beginning of its
/// promise.
struct chain_link {
  std::coroutine_handle<chain_link> continuation;  ///< Who awaits it; null for the root.
  /// Its current or latest co_await, but of those that say so themselves (placed_wait); line 0 if
  /// another one's is to be told.
  place at;

  const chain_link* parent() const noexcept {
    return continuation ? &continuation.promise() : nullptr;
  }
};

/// Whether the link is found where a frame is known and its type is not: a promise with an
/// alignment of its own would lie elsewhere.
template <class Promise>
inline constexpr bool has_link_in_place = alignof(Promise) <= 2 * sizeof(void*);

template <class Promise>
std::coroutine_handle<chain_link> to_link(std::coroutine_handle<Promise> coroutine) noexcept {
  static_assert(has_link_in_place<Promise>);
  return std::coroutine_handle<chain_link>::from_address(coroutine.address());
}

/// The coroutine with which an activity goes on, or none, in one word.
class parking {
 public:
  parking() noexcept = default;
  /// Says by itself that the activity waits.
  static parking told(std::coroutine_handle<> coroutine) noexcept {
    return parking(static_cast<std::byte*>(coroutine.address()) + not_in_row);
  }
  /// Stays as it is while the activity goes on in a row: then it is told by who is current.
  static parking in_row(std::coroutine_handle<> coroutine) noexcept {
    return parking(coroutine.address());
  }

  explicit operator bool() const noexcept { return bits() != not_in_row; }
  bool is_in_row() const noexcept { return (bits() & not_in_row) == 0; }

  std::coroutine_handle<chain_link> coroutine() const noexcept {
    return handle_of(static_cast<std::byte*>(frame_) - (bits() & not_in_row));
  }
  /// \pre It is in a row.
  std::coroutine_handle<chain_link> coroutine_in_row() const noexcept { return handle_of(frame_); }

 private:
  static constexpr std::uintptr_t not_in_row = 1;  // Frames are aligned to more than that.

  explicit parking(void* frame) noexcept : frame_(frame) {}
  static std::coroutine_handle<chain_link> handle_of(void* frame) noexcept {
    return std::coroutine_handle<chain_link>::from_address(frame);
  }
  std::uintptr_t bits() const noexcept { return reinterpret_cast<std::uintptr_t>(frame_); }

  void* frame_ = reinterpret_cast<void*>(not_in_row);
};

}  // namespace troupe::detail
