// reply.hpp - one answer to one question, across actors.
//
//     struct get { reply<int> to; };
//
//     answer<int> total;                        // in the asking task
//     counter.tell(get(total.to()));
//     int n = co_await total;
//
// The reply travels in the message; the answer stays with who asked. Setting a reply
// posts the asker: nothing of the asker runs inside set().
//
// Guarantees
//   once      a reply is set once, by set(), by fail(), or by being dropped;
//   never     a dropped reply is errc::broken_reply, not a wait without end;
//   safe      either half may go first.
//
// Threading: each half belongs to one actor or task; the halves may be on two lines.

#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "troupe/core/activity.hpp"
#include "troupe/core/error.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/footprint.hpp"

namespace troupe {

namespace detail {

[[noreturn]] void throw_reply_cancelled();
std::exception_ptr broken_reply();

/// What both halves share. Counted: the last one frees it.
template <class T>
struct reply_state {
  enum phase : int { open, awaited, settled, given_up };

  static reply_state* make() {
    auto* const made = new (recycling_allocate(sizeof(reply_state))) reply_state();
    footprint::made(made);
    return made;
  }
  void release() noexcept {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->~reply_state();
    recycling_free(this, sizeof(reply_state));
  }

  /// The value or the failure is in place; wakes who waits for it.
  void settle() noexcept {
    footprint::touches(this, touch::change);
    if (at.exchange(settled, std::memory_order_acq_rel) == awaited) asker->wake();
  }

  std::atomic<int> holders{2};
  std::atomic<int> at{open};
  activity* asker = nullptr;
  std::optional<std::conditional_t<std::is_void_v<T>, char, T>> value;
  std::exception_ptr failure;
};

}  // namespace detail

/// The answering half. Move-only.
template <class T = void>
class reply {
 public:
  reply(reply&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  reply& operator=(reply&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~reply() {
    if (state_) fail(detail::broken_reply());
  }

  /// Answers. A second answer is ignored.
  template <class... U>
    requires(std::is_void_v<T> ? sizeof...(U) == 0 : sizeof...(U) == 1)
  void set(U&&... value) {
    if (!state_) return;
    state_->value.emplace(std::forward<U>(value)...);
    auto* const state = std::exchange(state_, nullptr);
    state->settle();
    state->release();
  }

  /// Answers with an exception, which the asker's co_await throws.
  void fail(std::exception_ptr why) noexcept {
    auto* const state = std::exchange(state_, nullptr);
    if (!state) return;
    state->failure = std::move(why);
    state->settle();
    state->release();
  }

 private:
  template <class>
  friend class answer;
  explicit reply(detail::reply_state<T>* state) noexcept : state_(state) {}

  detail::reply_state<T>* state_;
};

/// The asking half: make it, send to(), await it.
template <class T = void>
class answer : public wait_as<answer<T>> {
  using shared = detail::reply_state<T>;

 public:
  using awaitable_in_task = void;
  using value_type = T;

  answer() : state_(shared::make()) {}
  answer(const answer&) = delete;
  answer& operator=(const answer&) = delete;
  ~answer() {
    if (to_is_ours_) state_->release();
    state_->at.store(shared::given_up, std::memory_order_release);
    state_->release();
  }

  /// The half to send. \pre Called once.
  reply<T> to() {
    TROUPE_ASSERT(to_is_ours_);
    to_is_ours_ = false;
    return reply<T>(state_);
  }

  bool await_ready() const noexcept {
    if (!first_await_) return false;
    footprint::touches(state_, touch::look);
    return state_->at.load(std::memory_order_acquire) == shared::settled;
  }
  template <std::derived_from<detail::chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> asker) {
    first_await_.take("a reply", asker);
    state_->asker = activity::current();
    int expected = shared::open;
    if (!state_->at.compare_exchange_strong(expected, shared::awaited, std::memory_order_acq_rel)) {
      return false;  // It came meanwhile.
    }
    // Not too late, if it comes now: its event is taken after we have returned.
    state_->asker->park(asker, *this);
    if (state_->asker->stop_requested()) cancel_wait();
    return true;
  }
  T await_resume() {
    first_await_.end();
    if (state_->at.load(std::memory_order_acquire) != shared::settled) {
      detail::throw_reply_cancelled();
    }
    if (state_->failure) std::rethrow_exception(state_->failure);
    if constexpr (!std::is_void_v<T>) return *std::move(state_->value);
  }

  void cancel_wait() noexcept {
    footprint::touches(state_, touch::change);
    int expected = shared::awaited;
    if (state_->at.compare_exchange_strong(expected, shared::given_up, std::memory_order_acq_rel)) {
      state_->asker->mark_interrupted();
      state_->asker->wake();
    }
  }
  std::string describe_wait() const { return "a reply"; }

 private:
  shared* state_;
  bool to_is_ours_ = true;
  detail::first_await first_await_;
};

namespace detail {

/// An answer that a coroutine of the library awaits for whoever awaits that coroutine.
template <class T = void>
class answer_in_passing final : public answer<T> {
 public:
  using awaited_in_passing = void;
};

}  // namespace detail

}  // namespace troupe
