// launch.hpp - starts a task from any Asio program, with any completion token.
//
//     launch(rt, train(strategy), asio::detached);
//     int n = co_await launch(rt, answer(), asio::use_awaitable);   // in an asio::awaitable
//
// The signature is void(std::exception_ptr, T), or void(std::exception_ptr).
//
// Guarantees (those of Asio's own asynchronous operations)
//   deferred     nothing runs inside the initiating call;
//   associated   completes on the handler's associated executor, the runtime's by
//                default, and takes memory from its associated allocator;
//   cancellable  the handler's cancellation slot stops the task: what it waits for is
//                cancelled, and it completes with what it then throws, or returns;
//   counted      keeps both executors' contexts busy until it has completed;
//   told         on a runtime that has ended it completes with errc::runtime_gone, deferred
//                and on the same executor as otherwise. If the handler has none and the
//                runtime's has ended as well (a pool's with the pool, any other with the
//                context under it), that is Asio's system executor, as for whatever has
//                none in Asio; it has threads of its own.

#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "troupe/runtime/block_on.hpp"
#include "troupe/runtime/root_task.hpp"
#include "troupe/runtime/runtime.hpp"

namespace troupe {

namespace detail {

template <class T>
struct launch_signature {
  using type = void(std::exception_ptr, T);
};
template <>
struct launch_signature<void> {
  using type = void(std::exception_ptr);
};

/// A pending operation: the task, its handler and the way between their executors.
template <class T, class Handler>
class launched final : public root_task<T> {
  using handler_allocator = asio::associated_allocator_t<Handler, recycling_allocator<std::byte>>;
  using allocator =
      typename std::allocator_traits<handler_allocator>::template rebind_alloc<launched>;

 public:
  static void start(std::shared_ptr<runtime_state> on, task<T> body, Handler handler) {
    allocator memory(asio::get_associated_allocator(handler, recycling_allocator<std::byte>()));
    auto* const self = std::allocator_traits<allocator>::allocate(memory, 1);
    try {
      new (self) launched(std::move(on), std::move(body), std::move(handler));
    } catch (...) {
      std::allocator_traits<allocator>::deallocate(memory, self, 1);
      throw;
    }
    held made(self);
    self->watch_slot();
    made.release()->wake();
  }

  void abandon() noexcept override {
    give_up();
    complete();
  }

 private:
  launched(std::shared_ptr<runtime_state> on, task<T> body, Handler handler)
      : root_task<T>(std::move(on), std::move(body), &launched::take_step),
        stop_(*this),
        handler_(std::move(handler)),
        memory_(asio::get_associated_allocator(handler_, recycling_allocator<std::byte>())),
        runtime_work_(
            asio::prefer(this->state->executor(), asio::execution::outstanding_work.tracked)),
        handler_work_(asio::prefer(asio::get_associated_executor(handler_, this->state->executor()),
                                   asio::execution::outstanding_work.tracked)) {}

  /// The first step begins, on the line: the runtime does not end meanwhile, or has not taken it.
  static void take_step(event& self, event::turn how) noexcept {
    auto& me = static_cast<launched&>(self);
    if (!std::exchange(me.begun_, true) && (how == event::turn::drop || !me.state->enlist(me))) {
      me.refuse();
    } else if (how == event::turn::take) {
      me.resume();
    }
  }

  void give_up() noexcept {
    this->drop_body();
    failure_ = runtime_gone();
  }

  /// The runtime has ended before anything began, perhaps before the initiating call, and perhaps
  /// inside of it: the handler must not be.
  void refuse() noexcept {
    give_up();
    runtime_work_ = asio::any_io_executor();
    asio::post(handlers_executor(), completion{held(this)});
  }

  /// Carries a cancellation to the task's own line.
  struct stop_event final : event {
    explicit stop_event(launched& o) noexcept : event(&stop_event::run, o.owner()), op(o) {}
    static void run(event& self, turn how) noexcept {
      auto& op = static_cast<stop_event&>(self).op;
      if (how == turn::take) op.stop();
      op.release();
    }
    launched& op;
  };

  void watch_slot() {
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([this](asio::cancellation_type type) {
      // A task that has begun may have had effects: that excludes only `total`.
      constexpr auto heeded = asio::cancellation_type::terminal | asio::cancellation_type::partial;
      if ((type & heeded) == asio::cancellation_type::none || stop_posted_) return;
      stop_posted_ = true;
      holders_.fetch_add(1, std::memory_order_relaxed);
      this->owner().on->post(stop_);
    });
  }

  void root_ended() noexcept override {
    this->state->delist(*this);  // Its runtime may end before the handler has been called.
    complete();
  }

  struct releaser {
    void operator()(launched* op) const noexcept { op->release(); }
  };
  using held = std::unique_ptr<launched, releaser>;

  /// Sends the outcome to the handler's executor. The handler is called there.
  struct completion {
    using allocator_type = handler_allocator;

    held op;

    allocator_type get_allocator() const noexcept { return allocator_type(op->memory_); }
    void operator()() { deliver(std::move(op)); }
  };

  void complete() noexcept {
    // The runtime's context may be gone before the handler is called; the handler's may be
    // as soon as the handler is posted. Work on either is given back where it still is.
    runtime_work_ = asio::any_io_executor();
    const auto where = handlers_executor();
    if (where == this->state->executor()) {
      asio::post(where, completion{held(this)});
    } else {
      // Another executor decides itself; a future's runs the handler here and needs no thread.
      asio::dispatch(where, completion{held(this)});
    }
  }

  asio::any_io_executor handlers_executor() const {
    return asio::prefer(handler_work_, asio::execution::outstanding_work.untracked);
  }

  static void deliver(held op) {
    if (auto slot = asio::get_associated_cancellation_slot(op->handler_); slot.is_connected()) {
      slot.clear();
    }
    Handler handler(std::move(op->handler_));
    auto keep_context_busy = op->handler_work_;
    std::exception_ptr failure = op->failure_;
    if constexpr (std::is_void_v<T>) {
      if (!failure) failure = op->outcome();
      op.reset();  // Memory comes back before the handler asks for more.
      std::move(handler)(failure);
    } else {
      std::optional<T> value;
      if (!failure) failure = op->outcome(value);
      op.reset();
      std::move(handler)(failure, value ? *std::move(value) : T());
    }
  }

  template <class... Value>
  std::exception_ptr outcome(Value&... value) noexcept {
    try {
      if constexpr (std::is_void_v<T>) {
        this->body_.take();
      } else {
        (value.emplace(this->body_.take()), ...);
      }
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  /// The completion holds the operation, and so does a stop event on its way.
  void release() noexcept {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    allocator memory(memory_);
    this->~launched();
    std::allocator_traits<allocator>::deallocate(memory, this, 1);
  }

  stop_event stop_;
  Handler handler_;
  allocator memory_;
  asio::any_io_executor runtime_work_;
  asio::any_io_executor handler_work_;
  std::exception_ptr failure_;
  std::atomic<int> holders_{1};
  bool stop_posted_ = false;  // Touched where the handler runs only.
  bool begun_ = false;        // By who takes or drops its steps.
};

}  // namespace detail

/// Starts `operation`, a task or an operation of troupe's; `token` learns how it ended.
template <class Operation, class Token>
auto launch(std::shared_ptr<runtime_state> on, Operation operation, Token&& token,
            place_pointer here = __builtin_source_location()) {
  using result = typename Operation::value_type;
  static_assert(std::is_void_v<result> || std::is_default_constructible_v<result>,
                "troupe: a completion handler needs a value even beside an error, "
                "so the result must be default constructible");
  return asio::async_initiate<Token, typename detail::launch_signature<result>::type>(
      [state = std::move(on)](auto handler, task<result> body) {
        using operation_type = detail::launched<result, decltype(handler)>;
        operation_type::start(state, std::move(body), std::move(handler));
      },
      token, detail::as_task(std::move(operation), here));
}
template <class Operation, class Token>
auto launch(runtime& rt, Operation operation, Token&& token,
            place_pointer here = __builtin_source_location()) {
  return launch(rt.state(), std::move(operation), std::forward<Token>(token), here);
}

}  // namespace troupe
