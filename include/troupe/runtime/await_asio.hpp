// await_asio.hpp - a task awaits somebody's asio::awaitable, as a part of itself.
//
//     asio::awaitable<std::string> fetch(std::string url);      // asks get_replica_context()
//
//     task<std::size_t> step(replica_context ctx, std::string url) {
//       const std::string page = co_await await_asio(fetch(url));
//       co_return page.size();
//     }
//
// asio::co_spawn(executor, fetch(url), use_task) would do as well, but for what the awaitable
// sees: there it is outside of everything, here it is where the task is.
//
// Guarantees
//   inside       get_replica_context(), get_strategy() and the other ambient queries answer in
//                the awaitable, and in what it awaits, as in the task, after every suspension;
//   home         it runs on the task's line: nothing of the task runs at the same time;
//   cancellable  when the task is stopped, the awaitable's cancellation slot is fired;
//   counted      it keeps the runtime's executor busy until it has ended, wherever it waits;
//   cut          once the await has ended, early or not, what still runs is outside.
//
// The awaitable's executor, this_coro::executor, carries the context: what runs on it is inside,
// and so are the handlers of operations that the awaitable awaits. What is given to another
// executor is outside. A scope() opened in the awaitable is the awaitable's and what runs on its
// executor, not the task's. Replicas meet in tasks only: an awaitable cannot await a merge.
//
// If the runtime ends first, the awaitable ends with the operation it waits for, which may be
// later than the task's frame: give it values, not references into the task.

#pragma once

#include <concepts>
#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "troupe/runtime/asio.hpp"
#include "troupe/runtime/use_task.hpp"

namespace troupe {

namespace detail {

template <class T, class Executor>
inline constexpr bool is_asio_awaitable<asio::awaitable<T, Executor>> = true;

class guest_activity;

/// What an awaitable runs as while its task waits; shared with everything that the awaitable
/// leaves behind.
class asio_guest {
 public:
  asio_guest() = default;
  asio_guest(const asio_guest&) = delete;
  asio_guest& operator=(const asio_guest&) = delete;
  ~asio_guest() { leave(); }

  /// Where the awaitable runs: on the line of `host`, and in its contexts until leave().
  asio::any_io_executor enter(activity& host);
  void leave() noexcept;

 private:
  std::shared_ptr<guest_activity> as_;
};

}  // namespace detail

/// What await_asio() returns: cold until awaited. No coroutine, so that a picture of who waits
/// shows the line that awaits.
template <class T>
class asio_await final : public wait_as<asio_await<T>> {
  static_assert(std::is_void_v<T> || std::is_default_constructible_v<T>,
                "troupe: Asio hands on the result of an awaitable beside its exception, so it must "
                "be default constructible: let the awaitable return a std::optional");

 public:
  using awaitable_in_task = void;
  using value_type = T;

  explicit asio_await(asio::awaitable<T> body) noexcept : body_(std::move(body)) {}
  /// \pre Not awaited yet.
  asio_await(asio_await&& other) noexcept
      : first_await_(std::move(other.first_await_)), body_(std::move(other.body_)) {}
  asio_await& operator=(asio_await&&) = delete;

  bool await_ready() const noexcept { return false; }

  template <std::derived_from<detail::chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    first_await_.take("an asio::awaitable", waiting);
    activity& self = *activity::current();
    running_.emplace(asio::co_spawn(guest_.enter(self), std::move(body_), use_task));
    if (!running_->await_suspend(waiting)) return false;
    self.park(waiting, *this);  // In place of what it is made of, for those who look.
    return true;
  }
  T await_resume() {
    guest_.leave();
    return running_->await_resume();
  }

  void cancel_wait() noexcept { running_->cancel_wait(); }
  std::string describe_wait() const { return "an asio::awaitable"; }

 private:
  using operation = decltype(asio::co_spawn(std::declval<asio::any_io_executor>(),
                                            std::declval<asio::awaitable<T>>(), use_task));

  detail::first_await first_await_;
  asio::awaitable<T> body_;
  detail::asio_guest guest_;
  std::optional<operation> running_;
};

/// Runs `body` where the task runs that awaits this, and as a part of it.
/// \return when awaited: what it returns.
/// \throws when awaited: what it throws; operation_aborted if the task has been stopped before;
///         errc::runtime_gone if the executor ends.
template <class T>
[[nodiscard("co_await it: nothing runs before")]] asio_await<T> await_asio(
    asio::awaitable<T> body) {
  return asio_await<T>(std::move(body));
}

}  // namespace troupe
