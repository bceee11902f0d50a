// block_on.hpp - from ordinary code into a task and back.
//
//     int n = block_on(rt, answer());
//     auto r = block_on(rt, strategy.run(step, 3));
//
// On an io_context the calling thread runs the context until the task is done, so that
// a program needs no thread but its own. On other executors and on pools it sleeps; a pool
// with_waiters() it helps while the work is short.
//
// Guarantees
//   honest   from inside the runtime it throws errc::would_block instead of hanging;
//   verdict  when the io_context runs out of work first, nothing can ever finish the
//            task: errc::deadlock, at once, with a line for each waiting coroutine.

#pragma once

#include <atomic>
#include <concepts>
#include <coroutine>
#include <exception>
#include <utility>

#include "troupe/runtime/root_task.hpp"
#include "troupe/runtime/runtime.hpp"

namespace troupe {

namespace detail {

template <class T>
class blocking_root final : public root_task<T> {
 public:
  using root_task<T>::root_task;
  // After an early end the frame goes while this is still whole: what it awaits may look.
  ~blocking_root() {
    this->state->delist(*this);  // Another thread may be about to end the runtime.
    this->drop_body();
  }

  T run() {
    if (!this->state->enlist(*this)) std::rethrow_exception(runtime_gone());
    this->set_ambient(activity::ambient_here());  // The contexts of the code that waits.
    this->state->run_until(*this, done_);
    if (failure_) std::rethrow_exception(failure_);
    return this->body_.take();
  }

  void abandon() noexcept override {
    this->drop_body();
    failure_ = runtime_gone();
    this->state->finish(done_);
  }

 private:
  void root_ended() noexcept override {
    // The waiter may destroy *this as soon as it sees the flag.
    const auto keep = this->state;
    keep->delist(*this);
    keep->finish(done_);
  }

  std::atomic<bool> done_{false};
  std::exception_ptr failure_;
};

/// Awaits an operation as the code at another line does: there it waits, in pictures.
template <class Operation>
class awaited_at {
 public:
  using awaitable_in_task = void;
  using awaited_in_passing = void;  // It says itself where.

  awaited_at(Operation& operation, place_pointer here) noexcept
      : operation_(operation), here_(here) {}

  bool await_ready() const { return operation_.await_ready(); }
  template <std::derived_from<chain_link> Promise>
  auto await_suspend(std::coroutine_handle<Promise> waiting) const {
    if constexpr (requires { operation_.stand_at(here_); }) {
      operation_.stand_at(here_);
    } else {
      waiting.promise().at = place_of(here_);
    }
    return operation_.await_suspend(waiting);
  }
  decltype(auto) await_resume() const { return operation_.await_resume(); }

 private:
  Operation& operation_;
  place_pointer here_;
};

/// The task that awaits one operation for the code at `here`.
template <class Operation>
task<typename Operation::value_type> as_task(Operation operation, place_pointer here) {
  awaited_at<Operation> there(operation, here);
  co_return co_await there;
}

template <class T>
task<T> as_task(task<T> already, place_pointer) {
  return already;
}

}  // namespace detail

/// Runs `operation`, a task or an operation of troupe's, to its end; returns its result.
/// \throws what it throws; errc::would_block; errc::deadlock; errc::runtime_gone.
template <class Operation>
typename Operation::value_type block_on(runtime& rt, Operation operation,
                                        place_pointer here = __builtin_source_location()) {
  using result = typename Operation::value_type;
  detail::blocking_root<result> root(rt.state(), detail::as_task(std::move(operation), here));
  return root.run();
}

}  // namespace troupe
