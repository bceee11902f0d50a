// chain_link.hpp - a coroutine's place in a chain of them, and where the innermost one waits.

#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "troupe/core/place.hpp"

namespace troupe {

class activity;

}  // namespace troupe

namespace troupe::detail {

/// What every coroutine of an activity keeps about its place in the chain: the beginning of its
/// promise.
struct chain_link {
  activity* self = nullptr;
  std::coroutine_handle<> continuation;  ///< Who awaits this coroutine; null for the root.
  chain_link* parent = nullptr;
  place at;  ///< Its current or latest co_await; line 0 if another one's is to be told.
};

/// Whether the link is found where a frame is known and its type is not: a promise with an
/// alignment of its own would lie elsewhere.
template <class Promise>
inline constexpr bool has_link_in_place = alignof(Promise) <= 2 * sizeof(void*);

/// The coroutine with which an activity goes on, in one word.
class parking {
 public:
  parking() noexcept = default;
  /// Says by itself that the activity waits.
  static parking told(std::coroutine_handle<> coroutine) noexcept {
    return parking(static_cast<std::byte*>(coroutine.address()) + told_bit);
  }
  /// Stays as it is while the activity goes on in a row: then it is told by who is current.
  static parking in_row(std::coroutine_handle<> coroutine) noexcept {
    return parking(coroutine.address());
  }

  explicit operator bool() const noexcept { return frame_ != nullptr; }
  bool is_told() const noexcept { return (bits() & told_bit) != 0; }

  std::coroutine_handle<chain_link> coroutine() const noexcept {
    return handle_of(static_cast<std::byte*>(frame_) - (bits() & told_bit));
  }
  /// \pre It is not told.
  std::coroutine_handle<chain_link> coroutine_in_row() const noexcept { return handle_of(frame_); }

 private:
  static constexpr std::uintptr_t told_bit = 1;  // Frames are aligned to more than that.

  explicit parking(void* frame) noexcept : frame_(frame) {}
  static std::coroutine_handle<chain_link> handle_of(void* frame) noexcept {
    return std::coroutine_handle<chain_link>::from_address(frame);
  }
  std::uintptr_t bits() const noexcept { return reinterpret_cast<std::uintptr_t>(frame_); }

  void* frame_ = nullptr;
};

}  // namespace troupe::detail
