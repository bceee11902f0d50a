// coroutine.hpp - the least a compiler makes of a coroutine.
//
// The limits this benchmark compares with are written with it: no result, no exception, no
// continuation, a frame straight from the C library's allocator.

#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>

#include "bench/harness/allocations.hpp"

namespace troupe::bench {

/// Suspended at its start and at its end; whoever holds it resumes and destroys it.
class hand_coroutine {
 public:
  struct promise_type {
    hand_coroutine get_return_object() noexcept {
      return hand_coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }

    static void* operator new(std::size_t bytes) { return allocate_uncounted(bytes); }
    static void operator delete(void* frame, std::size_t) noexcept { free_uncounted(frame); }
  };

  hand_coroutine() = default;
  hand_coroutine(hand_coroutine&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  hand_coroutine& operator=(hand_coroutine&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~hand_coroutine() {
    if (frame_) {
      frame_.destroy();
    }
  }

  std::coroutine_handle<> handle() const noexcept { return frame_; }
  void resume() const { frame_.resume(); }

 private:
  explicit hand_coroutine(std::coroutine_handle<> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<> frame_;
};

}  // namespace troupe::bench
