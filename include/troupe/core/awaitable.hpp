// awaitable.hpp - what a task can await, how it does so, and what it says of everything else.

#pragma once

#include <coroutine>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "troupe/core/place.hpp"

namespace troupe {

template <class T>
class task;

namespace detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// Whether it is an asio::awaitable, of which this layer knows nothing.
template <class A>
inline constexpr bool is_asio_awaitable = false;

/// What some coroutine or other can await.
template <class A>
concept awaitable_somewhere = requires(A&& a) { a.await_ready(); } || requires(A&& a) {
  static_cast<A&&>(a).operator co_await();
} || requires(A&& a) { operator co_await(static_cast<A&&>(a)); };

}  // namespace detail

/// An awaitable that keeps troupe's promises: it parks the activity and wakes it. A type says so
/// with `using awaitable_in_task = void;`. A task is one as long as nobody else has it.
template <class A>
concept awaitable_in_task =
    detail::is_task<A> || requires { typename std::remove_cvref_t<A>::awaitable_in_task; };

namespace detail {

/// \throws errc::empty_task, with who awaits, and where, if that is told.
[[noreturn]] void throw_nothing_to_await(std::string what, std::string fix, const place& at);
[[noreturn]] void throw_empty_task(const place& at);
[[noreturn]] void throw_awaited_before(const char* what, const place& at);  ///< "a when_all()"

/// What an operation has until it is awaited, or moved away.
class first_await {
 public:
  first_await() = default;
  first_await(first_await&& other) noexcept : left_(std::exchange(other.left_, false)) {}
  first_await& operator=(first_await&&) = delete;

  explicit operator bool() const noexcept { return left_; }
  /// \throws errc::empty_task if it has gone: of `what`, "a when_all()", that `waiting` awaits.
  template <class Promise>
  void require(const char* what, std::coroutine_handle<Promise> waiting) const {
    if (!left_) [[unlikely]]
      throw_awaited_before(what, waiting.promise().at);
  }
  /// An await that is refused before that may be made again, where it is right.
  void end() noexcept { left_ = false; }
  template <class Promise>
  void take(const char* what, std::coroutine_handle<Promise> waiting) {
    require(what, waiting);
    end();
  }

 private:
  bool left_ = true;
};

enum class await_of : std::uint8_t { its_own, kept_task, asio_awaitable, value, foreign };

template <class A>
consteval await_of kind_of_await() {
  using type = std::remove_cvref_t<A>;
  if (awaitable_in_task<A>) return await_of::its_own;
  if (is_task<type>) return await_of::kept_task;
  if (is_asio_awaitable<type>) return await_of::asio_awaitable;
  return awaitable_somewhere<A> ? await_of::foreign : await_of::value;
}

/// One sentence for each mistake. A class, because GCC instantiates that on the spot.
template <await_of Kind>
struct require_its_own {
  static_assert(Kind != await_of::kept_task,
                "troupe: a task is awaited once: co_await std::move(t)");
  static_assert(Kind != await_of::asio_awaitable,
                "troupe: a task awaits an asio::awaitable as a part of itself: "
                "co_await await_asio(...)");
  static_assert(Kind != await_of::value,
                "troupe: this is a value already: leave out co_await. "
                "An operation of Asio's is given the completion token troupe::use_task.");
  static_assert(Kind != await_of::foreign,
                "troupe: a task cannot await this: it would resume the task on a foreign thread. "
                "Give the operation the completion token troupe::use_task.");
};

/// Awaits an operation where it is: in the awaiting expression, which outlives the await.
/// GCC copies an awaiter that await_transform returns by reference.
template <class A>
class awaiter_at {
 public:
  explicit awaiter_at(A& operation) noexcept : operation_(operation) {}

  bool await_ready() const noexcept { return operation_.await_ready(); }
  template <class Promise>
  auto await_suspend(std::coroutine_handle<Promise> waiting) const {
    return operation_.await_suspend(waiting);
  }
  decltype(auto) await_resume() const { return operation_.await_resume(); }

 private:
  A& operation_;
};

}  // namespace detail

}  // namespace troupe
