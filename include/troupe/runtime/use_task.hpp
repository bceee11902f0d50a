// use_task.hpp - the completion token with which a task awaits any Asio operation.
//
//     std::size_t n = co_await socket.async_read_some(buffer, use_task);
//     co_await timer.async_wait(use_task);
//     auto [ec, n] = co_await socket.async_read_some(buffer, asio::as_tuple(use_task));
//
// An error_code becomes an asio::system_error (std::system_error), an exception_ptr is
// rethrown; one further value is returned as such, several as a tuple.
//
// Guarantees
//   home         the task goes on where it ran before, whatever thread completes;
//   cancellable  when the task is stopped, the operation's cancellation slot is fired;
//   steady       the operation's memory is recycled.

#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/core/recycling.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/asio.hpp"
#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe {

struct use_task_t {
  constexpr use_task_t() = default;
};

/// `co_await operation(..., use_task)` inside a troupe::task.
inline constexpr use_task_t use_task;

namespace detail {

template <class T>
inline constexpr bool is_asio_error =
    std::is_same_v<T, std::error_code> || std::is_same_v<T, std::exception_ptr>;

inline void throw_if_failed(const std::error_code& code) {
  if (code) throw std::system_error(code);
}
inline void throw_if_failed(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

/// One value as such, several as a tuple.
template <class... Values>
auto asio_values(Values... values) {
  std::tuple<Values...> all(std::move(values)...);
  if constexpr (sizeof...(Values) == 1) {
    return std::get<0>(std::move(all));
  } else if constexpr (sizeof...(Values) != 0) {
    return all;
  }
}

/// An Asio handler's arguments as a task sees them: the error part thrown, the rest given.
inline void asio_outcome() {}
template <class First, class... Rest>
auto asio_outcome(First first, Rest... rest) {
  if constexpr (is_asio_error<First>) {
    throw_if_failed(first);
    return asio_values(std::move(rest)...);
  } else {
    return asio_values(std::move(first), std::move(rest)...);
  }
}

/// What an operation and its awaiter share. Either may go first: the handler when the
/// executor ends, the awaiter when the task's frame is destroyed.
template <class... Args>
struct pending_asio {
  static pending_asio* make() {
    return new (recycling_allocate(sizeof(pending_asio))) pending_asio();
  }
  void release() noexcept {
    if (holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->~pending_asio();
    recycling_free(this, sizeof(pending_asio));
  }

  std::atomic<int> holders{2};
  /// The handler and the end of the awaiting frame may be on two threads.
  enum class phase : std::uint8_t { waiting, waking, over };
  std::atomic<phase> at{phase::waiting};
  activity* self = nullptr;
  std::optional<std::tuple<std::decay_t<Args>...>> result;
  asio::cancellation_signal cancel;
};

/// The executor of the runtime that runs `self`, and where its awaits complete.
asio::any_io_executor executor_of(const activity& self);
asio::any_io_executor completions_of(const activity& self);
/// A simulation cannot know what an operation of Asio's touches: all touch one thing.
void touch_asio(const activity& self) noexcept;

template <class... Args>
class asio_handler {
 public:
  using allocator_type = recycling_allocator<std::byte>;
  using executor_type = asio::any_io_executor;
  using cancellation_slot_type = asio::cancellation_slot;

  asio_handler(pending_asio<Args...>* shared, const activity& self)
      : shared_(shared), where_(completions_of(self)) {}
  asio_handler(asio_handler&& other) noexcept
      : shared_(std::exchange(other.shared_, nullptr)), where_(std::move(other.where_)) {}
  asio_handler& operator=(asio_handler&&) = delete;
  ~asio_handler() {
    if (shared_) settle();  // Destroyed unrun: the executor has ended.
  }

  template <class... Actual>
  void operator()(Actual&&... results) {
    shared_->result.emplace(std::forward<Actual>(results)...);
    settle();
  }

  allocator_type get_allocator() const noexcept { return {}; }
  executor_type get_executor() const noexcept { return where_; }
  cancellation_slot_type get_cancellation_slot() const noexcept { return shared_->cancel.slot(); }

 private:
  void settle() noexcept {
    auto* const shared = std::exchange(shared_, nullptr);
    using phase = typename pending_asio<Args...>::phase;
    // If the awaiter's frame has gone there is nobody to wake; it does not go meanwhile.
    phase before = phase::waiting;
    if (shared->at.compare_exchange_strong(before, phase::waking)) {
      shared->self->wake();
      shared->at.store(phase::over, std::memory_order_release);
    }
    shared->release();
  }

  pending_asio<Args...>* shared_;
  asio::any_io_executor where_;
};

[[noreturn]] void throw_operation_lost();

/// The awaitable that an initiating function returns for use_task: cold until awaited.
template <class Initiation, class Bound, class... Args>
class asio_operation final : public wait_as<asio_operation<Initiation, Bound, Args...>> {
 public:
  using awaitable_in_task = void;
  using value_type = decltype(asio_outcome(std::declval<std::decay_t<Args>>()...));

  asio_operation(Initiation initiation, Bound bound)
      : initiation_(std::move(initiation)), bound_(std::move(bound)) {}
  /// \pre Not awaited yet, or ended.
  asio_operation(asio_operation&& other) noexcept
      : first_await_(std::move(other.first_await_)),
        initiation_(std::move(other.initiation_)),
        bound_(std::move(other.bound_)) {}
  asio_operation& operator=(asio_operation&&) = delete;
  ~asio_operation() {
    if (!shared_) return;
    using phase = typename pending_asio<Args...>::phase;
    phase before = phase::waiting;
    // What is still under way ends with the socket or timer it belongs to, or by itself.
    if (!shared_->at.compare_exchange_strong(before, phase::over)) {
      while (shared_->at.load(std::memory_order_acquire) != phase::over) std::this_thread::yield();
    }
    shared_->release();
  }

  bool await_ready() const noexcept { return false; }

  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    first_await_.take("an asynchronous operation", waiting);
    activity& self = *activity::current();
    if (self.stop_requested()) {
      self.mark_interrupted();
      return false;  // await_resume reports it.
    }
    if constexpr (!requires { typename Initiation::touches_itself_only; }) touch_asio(self);
    (shared_ = pending_asio<Args...>::make())->self = &self;
    self.park(waiting, *this);
    try {
      std::apply(
          [&](auto&&... arguments) {
            std::move(initiation_)(asio_handler<Args...>(shared_, self), std::move(arguments)...);
          },
          std::move(bound_));
    } catch (...) {
      failure_ = std::current_exception();  // The handler is gone: the wake-up is on its way.
    }
    return true;
  }

  value_type await_resume() {
    if (failure_) std::rethrow_exception(failure_);
    if (!shared_) throw std::system_error(std::error_code(asio::error::operation_aborted));
    if (!shared_->result) throw_operation_lost();
    return std::apply([](auto&&... all) { return asio_outcome(std::move(all)...); },
                      *std::move(shared_->result));
  }

  void cancel_wait() noexcept {
    shared_->self->mark_interrupted();
    shared_->cancel.emit(asio::cancellation_type::terminal);
  }
  std::string describe_wait() const { return "an asynchronous operation"; }

 private:
  first_await first_await_;
  Initiation initiation_;
  Bound bound_;
  pending_asio<Args...>* shared_ = nullptr;
  std::exception_ptr failure_;
};

}  // namespace detail

}  // namespace troupe

template <class R, class... Args>
class asio::async_result<troupe::use_task_t, R(Args...)> {
 public:
  template <class Initiation, class... Bound>
  static auto initiate(Initiation&& initiation, troupe::use_task_t, Bound&&... bound) {
    using arguments = std::tuple<std::decay_t<Bound>...>;
    return troupe::detail::asio_operation<std::decay_t<Initiation>, arguments, Args...>(
        std::forward<Initiation>(initiation), arguments(std::forward<Bound>(bound)...));
  }
};
