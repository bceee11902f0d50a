// barrier.hpp - the fastest cyclic barrier for coroutines of one thread that we can write.
//
// Waiters form a list through their frames, in order of arrival. The last to arrive runs the
// merge and turns the list into the ready list; from then on every suspension hands control
// straight to the next ready coroutine, by symmetric transfer, without a scheduler in between.
//
// It is the limit, not a design: it cannot be observed, cancelled, mixed with other work or
// simulated, and its chain of frames needs a compiler that emits tail calls.

#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

namespace troupe::bench {

/// \tparam Merge called without arguments, once a round.
template <class Merge>
class hand_barrier {
  struct waiter {
    waiter* next = nullptr;
    std::coroutine_handle<> frame;
  };

 public:
  hand_barrier(std::size_t participants, Merge merge)
      : participants_(participants), missing_(participants), merge_(std::move(merge)) {}
  hand_barrier(const hand_barrier&) = delete;
  hand_barrier& operator=(const hand_barrier&) = delete;

  class arrival : waiter {
   public:
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> suspended) noexcept {
      this->frame = suspended;
      this->next = nullptr;
      *barrier_.tail_ = this;
      barrier_.tail_ = &this->next;
      if (--barrier_.missing_ == 0) {
        barrier_.release();
      }
      return barrier_.next_ready();
    }
    void await_resume() const noexcept {}

   private:
    friend hand_barrier;
    explicit arrival(hand_barrier& barrier) noexcept : barrier_(barrier) {}

    hand_barrier& barrier_;
  };

  /// `co_await barrier.arrive()` returns when everybody has arrived and the merge has run.
  arrival arrive() noexcept { return arrival(*this); }

  /// A participant that ends breaks the chain of transfers: resumes those still ready behind it.
  void finish() {
    while (ready_ != nullptr) {
      next_ready().resume();
    }
  }

 private:
  void release() noexcept {
    merge_();
    missing_ = participants_;
    ready_ = std::exchange(arrived_, nullptr);
    tail_ = &arrived_;
  }

  std::coroutine_handle<> next_ready() noexcept {
    if (ready_ == nullptr) {
      return idle_;
    }
    return std::exchange(ready_, ready_->next)->frame;
  }

  std::size_t participants_;
  std::size_t missing_;
  waiter* arrived_ = nullptr;
  waiter** tail_ = &arrived_;
  waiter* ready_ = nullptr;
  std::coroutine_handle<> idle_ = std::noop_coroutine();  // Back to whoever called resume().
  Merge merge_;
};

}  // namespace troupe::bench
