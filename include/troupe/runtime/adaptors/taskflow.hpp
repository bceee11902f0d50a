// taskflow.hpp - a taskflow run as an Asio operation, for any completion token. Not in troupe.hpp:
// include it where Taskflow is, 3.9 or later, and link Taskflow::Taskflow.
//
//     tf::Executor workers;
//     tf::Taskflow flow;                                        // emplace(), precede(), …
//
//     co_await async_run(workers, flow, use_task);              // in a task
//     co_await async_run(workers, flow, asio::use_awaitable);   // in an asio::awaitable
//     async_run(workers, std::move(flow), [](std::exception_ptr failure) { … });
//
// Guarantees
//   nobody waits  no thread is blocked while the taskflow runs;
//   posted        the handler is posted to its associated executor, asio::system_executor if it
//                 has none: neither a worker nor the caller calls it. A taskflow without tasks
//                 completes at once, through the associated immediate executor;
//   released      when the handler is called, the run is over for Taskflow too: the taskflow may
//                 go, or run again. One that was moved in has gone, with all that its tasks hold;
//   in turn       runs of one taskflow take place one after the other, in the order of async_run();
//   failing       what a task throws is what the operation completes with; tasks that have not
//                 begun are skipped;
//   cancellable   terminal and partial cancellation: tasks that have not begun are skipped, the
//                 operation completes with asio::error::operation_aborted when those that run
//                 have ended. It changes nothing once every task has ended;
//   counted       until the handler is posted its executor has outstanding work, and `workers`
//                 has too: its wait_for_all() and its destructor come back afterwards;
//   steady        the operation's memory is the associated allocator's, and is given back before
//                 the handler is called, by a worker: the allocator has to stand that. Taskflow
//                 asks the heap for its own.
//
// Taskflow's threads are real, so none of this is for a simulated world: there the operation
// completes with errc::foreign_runtime, and no task runs.
//
// Taskflow forgets an exception when the same taskflow is to run again already. The operation then
// completes with operation_aborted: what it never does is to call a run good that was cut short.

#pragma once

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <system_error>
#include <taskflow/taskflow.hpp>
#include <utility>

#include "troupe/core/error.hpp"
#include "troupe/runtime/asio.hpp"
#include "troupe/runtime/runtime_state.hpp"
#include "troupe/runtime/timer.hpp"

namespace troupe {

namespace detail {

/// The simulated world that the caller is in, or null.
inline const runtime_state* world_here() {
  const scheduler* here = scheduler::current();
  if (!here || !asio::has_service<virtual_time>(here->home().context())) return nullptr;
  return &here->home();
}

/// Whether the handler is a simulated world's.
template <class Handler>
bool is_a_worlds(const Handler& handler) {
  const auto executor = asio::get_associated_executor(handler);
  if constexpr (asio::can_query_v<decltype(executor), asio::execution::context_t>) {
    return asio::has_service<virtual_time>(asio::query(executor, asio::execution::context));
  }
  return false;
}

inline std::exception_ptr taskflow_in_world() {
  return std::make_exception_ptr(
      error(errc::foreign_runtime, "async_run() of a taskflow in a simulated world",
            "Taskflow's threads are real: let a task of the world do what the taskflow does"));
}

/// Whether a handler's executor can promise never to call it here and now. That of an
/// any_completion_handler cannot: a thread of Asio's own hands over to it.
template <class Handler>
inline constexpr bool can_be_posted =
    asio::can_require_v<asio::associated_executor_t<Handler>, asio::execution::blocking_t::never_t>;

template <class Handler>
void post_completion(Handler handler, std::exception_ptr failure) {
  auto completion = asio::append(std::move(handler), std::move(failure));
  if constexpr (can_be_posted<Handler>) {
    asio::post(std::move(completion));
  } else {
    asio::post(asio::system_executor(), std::move(completion));
  }
}

/// For an operation that is over before its initiation is.
template <class Handler>
void complete_at_once(Handler handler, std::exception_ptr failure) {
  if constexpr (can_be_posted<Handler>) {
    const auto home = asio::get_associated_executor(handler);
    const auto on = asio::get_associated_immediate_executor(handler, home);
    asio::dispatch(on, asio::append(std::move(handler), std::move(failure)));
  } else {
    post_completion(std::move(handler), std::move(failure));
  }
}

/// What a cancellation slot keeps of a run. It may be fired after the run, and then does nothing.
struct taskflow_stop {
  void operator()(asio::cancellation_type type) noexcept {
    using asio::cancellation_type;
    const auto heeded = cancellation_type::terminal | cancellation_type::partial;
    if ((type & heeded) != cancellation_type::none) run.cancel();
  }
  tf::Future<void> run;
};

/// One run under way, which keeps itself. `Flow` is a tf::Taskflow, or a pointer to the user's.
template <class Handler, class Flow>
class taskflow_run {
 public:
  static void start(Handler handler, Flow flow, tf::Executor& workers) {
    const auto memory = asio::get_associated_allocator(handler);
    auto made = std::allocate_shared<taskflow_run>(memory, std::move(handler), std::move(flow));
    taskflow_run* const self = made.get();
    self->keep_ = std::move(made);
    try {
      self->begin(workers);
    } catch (...) {
      std::exchange(self->keep_, nullptr).reset();
      throw;
    }
    self->leave(workers);  // What a handler throws that is called here goes on to the caller.
  }

  taskflow_run(Handler&& handler, Flow&& flow)
      : handler_(std::move(handler)),
        work_(asio::make_work_guard(handler_)),
        flow_(std::move(flow)) {}

 private:
  static tf::Taskflow& taskflow(tf::Taskflow& own) noexcept { return own; }
  static tf::Taskflow& taskflow(tf::Taskflow* users) noexcept { return *users; }

  void begin(tf::Executor& workers) {
    taskflow_stop* stop = nullptr;
    auto slot = asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) stop = &slot.template emplace<taskflow_stop>();

    // Asked twice: before the run, and after it unless it was cut short. Not at all where there
    // are no tasks.
    tf::Future<void> future = workers.run_until(
        taskflow(flow_), [this] { return whole_ = std::exchange(begun_, true); },
        [this, &workers] { leave(workers); });
    ended_ = future.share();
    if (stop) stop->run = std::move(future);
  }

  /// The end of the run and that of its initiation: the later one completes.
  void leave(tf::Executor& workers) {
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (!begun_) return complete(true);
    // The end of a run is told before Taskflow has let go of the taskflow; what little is left of
    // it is waited for, by a worker, because nothing else tells when that is done.
    workers.silent_async([this] { complete(false); });
  }

  void complete(bool at_once) {
    std::exception_ptr failure = outcome();
    const auto work = std::move(work_);
    Handler handler = std::move(handler_);
    std::exchange(keep_, nullptr).reset();
    if (at_once) return complete_at_once(std::move(handler), std::move(failure));
    post_completion(std::move(handler), std::move(failure));
  }

  std::exception_ptr outcome() const noexcept {
    try {
      ended_.get();
    } catch (...) {
      return std::current_exception();
    }
    if (whole_ || !begun_) return nullptr;
    return std::make_exception_ptr(
        std::system_error(std::error_code(asio::error::operation_aborted)));
  }

  Handler handler_;
  asio::executor_work_guard<asio::associated_executor_t<Handler>> work_;
  Flow flow_;
  std::shared_ptr<taskflow_run> keep_;
  std::shared_future<void> ended_;
  std::atomic<int> parties_{2};
  bool begun_ = false;
  bool whole_ = false;
};

/// Not run before a handler is there: an operation may be cold.
class start_taskflow {
 public:
  using executor_type = asio::system_executor;

  explicit start_taskflow(tf::Executor& workers) noexcept : workers_(&workers) {}

  executor_type get_executor() const noexcept { return {}; }

  template <class Handler, class Flow>
  void operator()(Handler handler, Flow flow) const {
    if (const runtime_state* world = world_here()) {
      // Through the world, whatever the handler is: no other thread may be there.
      asio::post(world->executor(), asio::append(std::move(handler), taskflow_in_world()));
      return;
    }
    if (is_a_worlds(handler)) return post_completion(std::move(handler), taskflow_in_world());
    taskflow_run<Handler, Flow>::start(std::move(handler), std::move(flow), *workers_);
  }

 private:
  tf::Executor* workers_;
};

}  // namespace detail

/// Runs `flow` once on `workers`; the token's signature is void(std::exception_ptr).
/// \pre `flow` and `workers` stay until the operation has completed. The context on which the
///      handler is called, which may be stopped, outlives the workers: declare it before them.
///      Where a task may end early, with its runtime, what the taskflow needs is better moved
///      into it, and it into the operation.
template <class Token>
auto async_run(tf::Executor& workers, tf::Taskflow& flow, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr)>(  //
      detail::start_taskflow(workers), token, &flow);
}

/// The same with a taskflow that the operation keeps.
template <class Token>
auto async_run(tf::Executor& workers, tf::Taskflow&& flow, Token&& token) {
  return asio::async_initiate<Token, void(std::exception_ptr)>(  //
      detail::start_taskflow(workers), token, std::move(flow));
}

}  // namespace troupe
