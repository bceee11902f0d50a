// timer.hpp - time that simulation can control.
//
//     co_await sleep_for(10ms);                         // in a task
//     timer t{rt.get_executor()};                       // anywhere in an Asio program
//     t.expires_after(1s);
//     t.async_wait(token);                              // void(std::error_code)
//
// A timer asks its executor's context for a `virtual_time` service. A simulated world
// has one, and there a sleep of an hour costs nothing; everywhere else the timer is an
// ordinary steady timer of Asio's.
//
// Guarantees
//   same      the same code runs in real and in virtual time;
//   cancel    cancel() and the cancellation slot complete the wait with
//             asio::error::operation_aborted; destroying the timer does too.
//
// On a pool_size runtime, real timers start Asio's one internal timer thread.

#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "troupe/runtime/asio.hpp"
#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/use_task.hpp"

namespace troupe {

using timer_handler = asio::any_completion_handler<void(std::error_code)>;

/// Where a timer's waits go; real or virtual.
class timer_source {
 public:
  virtual ~timer_source() = default;
  virtual void expires_after(std::chrono::nanoseconds delay) = 0;
  virtual void async_wait(timer_handler handler) = 0;
  virtual std::size_t cancel() = 0;
};

/// A clock that somebody turns by hand.
class virtual_clock {
 public:
  virtual ~virtual_clock() = default;
  virtual std::unique_ptr<timer_source> make_timer() = 0;
};

/// The service by which an execution context says that its time is virtual.
class virtual_time final : public asio::execution_context::service {
 public:
  using key_type = virtual_time;
  static asio::execution_context::id id;

  explicit virtual_time(asio::execution_context& context) : service(context) {}

  std::unique_ptr<virtual_clock> clock;

 private:
  void shutdown() noexcept override {}
};

class timer {
 public:
  using executor_type = asio::any_io_executor;

  explicit timer(asio::any_io_executor executor);

  executor_type get_executor() const noexcept { return executor_; }

  /// Sets the time of waits started from now on; cancels those pending.
  void expires_after(std::chrono::nanoseconds delay) { source_->expires_after(delay); }

  /// Cancels pending waits; returns their number.
  std::size_t cancel() { return source_->cancel(); }

  template <class Token>
  auto async_wait(Token&& token) {
    return asio::async_initiate<Token, void(std::error_code)>(start_wait(*this), token);
  }

 private:
  /// A task that waits has nothing to do with what other operations touch. What another handler
  /// does nobody knows, and those of one deadline are called in the order they came in.
  class start_wait {
   public:
    using touches_itself_only = void;
    explicit start_wait(timer& of) noexcept : timer_(&of) {}

    template <class Handler>
    void operator()(Handler handler) const {
      if constexpr (!std::same_as<Handler, detail::asio_handler<std::error_code>>) {
        footprint::touches(&asio::query(timer_->executor_, asio::execution::context),
                           touch::change);
      }
      timer_->source_->async_wait(timer_handler(std::move(handler)));
    }

   private:
    timer* timer_;
  };

  executor_type executor_;
  std::unique_ptr<timer_source> source_;
};

/// Completes `delay` from now, on `executor`'s clock. Its own timer, no object to keep.
template <class Token>
auto sleep_for(asio::any_io_executor executor, std::chrono::nanoseconds delay, Token&& token) {
  return asio::async_initiate<Token, void(std::error_code)>(
      [](auto handler, asio::any_io_executor where, std::chrono::nanoseconds how_long) {
        auto own = std::make_unique<timer>(std::move(where));
        own->expires_after(how_long);
        timer& t = *own;
        auto slot = asio::get_associated_cancellation_slot(handler);
        auto completes_on = asio::get_associated_executor(handler, t.get_executor());
        t.async_wait(asio::bind_executor(
            completes_on,
            asio::bind_cancellation_slot(slot, [own = std::move(own), handler = std::move(handler)](
                                                   std::error_code ec) mutable {
              own.reset();
              std::move(handler)(ec);
            })));
      },
      token, std::move(executor), delay);
}

/// What sleep_for() gives to a task: cold until awaited. No coroutine, so that a picture of who
/// waits shows the line that sleeps.
class sleep_operation final : public wait_as<sleep_operation> {
 public:
  using awaitable_in_task = void;
  using value_type = void;

  explicit sleep_operation(std::chrono::nanoseconds delay) noexcept : delay_(delay) {}
  /// \pre Not awaited yet.
  sleep_operation(sleep_operation&& other) noexcept
      : first_await_(std::move(other.first_await_)), delay_(other.delay_) {}
  sleep_operation& operator=(sleep_operation&&) = delete;

  bool await_ready() const noexcept { return false; }

  template <std::derived_from<detail::chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> sleeper) {
    first_await_.take("a sleep_for()", sleeper);
    activity& self = *activity::current();
    alarm_.emplace(detail::executor_of(self));
    alarm_->expires_after(delay_);
    ring_.emplace(alarm_->async_wait(use_task));
    if (!ring_->await_suspend(sleeper)) return false;
    self.park(sleeper, *this);  // In place of what rings: it is the sleep that others see.
    return true;
  }
  void await_resume() {
    if (ring_) ring_->await_resume();
  }

  void cancel_wait() noexcept {
    if (ring_) ring_->cancel_wait();
  }
  std::string describe_wait() const { return "sleep_for()"; }

 private:
  using ring = decltype(std::declval<timer&>().async_wait(use_task));

  detail::first_await first_await_;
  std::chrono::nanoseconds delay_;
  std::optional<timer> alarm_;
  std::optional<ring> ring_;  // Ends before the timer.
};

/// `co_await sleep_for(10ms)`: in the time of the runtime that runs the task.
inline sleep_operation sleep_for(std::chrono::nanoseconds delay) { return sleep_operation(delay); }

}  // namespace troupe
