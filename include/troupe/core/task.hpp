// task.hpp - a lazily started unit of asynchronous work.
//
//     task<int> answer() { co_return 42; }
//     task<>    show()   { std::cout << co_await answer(); }
//
// Guarantees
//   cold    nothing runs before the first co_await;
//   owned   destroying a task destroys its frame, finished or not;
//   flat    awaiting costs no stack, however often and however deep (activity.hpp);
//           only destroying an unfinished chain recurses, once for each frame;
//   single  one result, awaited once, by one awaiter;
//   steady  frames are recycled: a repeated task asks for no heap, but for an over-aligned result.
//
// A task belongs to the logical task that awaits it and runs where that one runs.
// It awaits tasks, troupe's own operations, and any Asio operation through
// `use_task`; anything else does not compile, because a foreign awaiter would resume
// it on a thread of its own choosing.

#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "troupe/core/activity.hpp"
#include "troupe/core/awaitable.hpp"
#include "troupe/core/contract.hpp"
#include "troupe/core/recycling.hpp"

namespace troupe {

template <class T = void>
class task;

namespace detail {

/// What a function that returns a T gives in the end.
template <class T>
struct task_value {
  using type = T;
};
template <class T>
struct task_value<task<T>> {
  using type = T;
};

struct task_promise_base : chain_link {
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    void await_resume() const noexcept {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      activity::current()->return_to(finished.promise().continuation);
    }
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  template <class T>
  typename task<T>::awaiter await_transform(task<T>&& child,
                                            place_pointer here = __builtin_source_location()) {
    at = place_of(here);
    return child.awaited_at(at);
  }

  // The type is deduced, so that the sentence comes before all other complaints.
  template <class A>
  auto await_transform(A&& awaitable, place_pointer here = __builtin_source_location()) noexcept {
    static_cast<void>(require_its_own<kind_of_await<A>()>());
    using operation = std::remove_cvref_t<A>;
    if constexpr (requires { awaitable.stand_at(here); }) {
      awaitable.stand_at(here);
    } else if constexpr (!requires { typename operation::awaited_in_passing; }) {
      at = place_of(here);
    }
    return awaiter_at<std::remove_reference_t<A>>(awaitable);
  }

  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { free_frame(frame, bytes); }
};

template <class T>
struct task_promise : task_promise_base {
  task<T> get_return_object() noexcept;
  void unhandled_exception() noexcept { failure = std::current_exception(); }

  template <class U = T>
    requires std::convertible_to<U, T>
  void return_value(U&& result) {
    if constexpr (in_frame)
      value.emplace(std::forward<U>(result));
    else
      value = std::make_unique<T>(std::forward<U>(result));
  }

  T take() {
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    TROUPE_ASSERT(static_cast<bool>(value));
    return std::move(*value);
  }

  static constexpr bool in_frame = has_link_in_place<std::optional<T>>;
  std::conditional_t<in_frame, std::optional<T>, std::unique_ptr<T>> value;
  std::exception_ptr failure;
};

template <>
struct task_promise<void> : task_promise_base {
  task<void> get_return_object() noexcept;
  void unhandled_exception() noexcept { failure = std::current_exception(); }
  void return_void() const noexcept {}

  void take() {
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }

  std::exception_ptr failure;
};

}  // namespace detail

/// A coroutine that yields one `T`, or one exception, to the code awaiting it.
template <class T>
class [[nodiscard("a task does nothing until it is awaited")]] task {
  static_assert(
      !std::is_reference_v<T>,
      "troupe: a task yields a value: yield a pointer, and see that it outlives the task");

 public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task() noexcept = default;
  task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  task& operator=(task&& other) noexcept {
    task taken(std::move(other));
    std::swap(frame_, taken.frame_);
    return *this;
  }
  ~task() {
    if (frame_) frame_.destroy();
  }

  /// False for a default-constructed or moved-from task, which cannot be awaited.
  explicit operator bool() const noexcept { return static_cast<bool>(frame_); }
  class awaiter {
   public:
    explicit awaiter(std::coroutine_handle<promise_type> child) noexcept : child_(child) {}

    bool await_ready() const noexcept { return false; }

    template <std::derived_from<detail::chain_link> Promise>
    void await_suspend(std::coroutine_handle<Promise> parent) const noexcept {
      child_.promise().continuation = detail::to_link(parent);
      activity::current()->continue_with(child_);
    }

    T await_resume() const { return child_.promise().take(); }

   private:
    std::coroutine_handle<promise_type> child_;
  };

  /// Starts the task and suspends the awaiter until it finishes.
  /// Awaiting consumes the task, hence the `&&`.
  /// \throws whatever escapes the coroutine body.
  ///         errc::empty_task when there is nothing to await.
  awaiter operator co_await() && { return awaited_at(place()); }
  awaiter awaited_at(const place& at) {
    require_cold(at);
    return awaiter(frame_);
  }
  /// \throws errc::empty_task if it is empty, or has ended.
  void require_cold(const place& at = place()) const {
    if (!frame_ || frame_.done()) detail::throw_empty_task(at);
  }

  /// For the code that owns an activity: hands the frame to it as its root.
  /// \pre The task is alive until the activity has ended.
  void begin_on(activity& self) noexcept { self.begin(frame_); }
  /// The root's outcome. \pre The activity has ended.
  T take() { return frame_.promise().take(); }

  /// For code that keeps frames as plain handles: the caller now owns the frame.
  std::coroutine_handle<> begin_detached(activity& self) {
    if (!frame_) detail::throw_empty_task(place());
    begin_on(self);
    return std::exchange(frame_, nullptr);
  }
  static promise_type& promise_of(std::coroutine_handle<> frame) noexcept {
    return std::coroutine_handle<promise_type>::from_address(frame.address()).promise();
  }

 private:
  friend promise_type;
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
  return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

inline task<void> detail::task_promise<void>::get_return_object() noexcept {
  return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace troupe
