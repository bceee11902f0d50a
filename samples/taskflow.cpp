// taskflow.cpp - a Taskflow graph awaited in a task, in Asio's coroutine, and given up.
//
// Four stripes of a picture are worked on by Taskflow's threads; the coroutines that wait for
// them block none. The program fails if a stripe was left out, or worked on after the end.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <exception>
#include <future>
#include <iostream>
#include <semaphore>
#include <string>
#include <system_error>
#include <taskflow/taskflow.hpp>
#include <troupe/runtime/adaptors/taskflow.hpp>
#include <troupe/troupe.hpp>
#include <utility>

namespace {

using namespace troupe;

int failures = 0;

void expect(const std::string& what, long got, long wanted) {
  std::cout << what << ": " << got << "\n";
  if (got == wanted) return;
  ++failures;
  std::cerr << what << " was " << got << ", not " << wanted << "\n";
}

/// Blurs four stripes, two of them at a time, and puts them together.
tf::Taskflow picture(std::atomic<int>* done) {
  tf::Taskflow flow;
  tf::Task together = flow.emplace([done] { *done += 10; });
  for (int stripe = 0; stripe < 4; ++stripe) {
    flow.emplace([done] { ++*done; }).precede(together);
  }
  return flow;
}

// [task]
/// The task waits, its thread does not.
task<int> blurred(tf::Executor* workers) {
  std::atomic<int> done = 0;
  tf::Taskflow flow = picture(&done);
  co_await async_run(*workers, flow, use_task);
  co_await async_run(*workers, flow, use_task);  // It can run again.
  co_return done;
}
// [/task]

asio::awaitable<int> blurred_in_asio(tf::Executor* workers) {
  std::atomic<int> done = 0;
  co_await async_run(*workers, picture(&done), asio::use_awaitable);
  co_return done;
}

void give_up(asio::io_context& io, tf::Executor& workers) {
  std::atomic<int> done = 0;
  std::binary_semaphore looked_at{0}, begun{0};
  tf::Taskflow flow;
  tf::Task look = flow.emplace([&] { begun.release(), looked_at.acquire(); });
  look.precede(flow.emplace([&] { ++done; }));
  std::exception_ptr outcome;
  // [given_up]
  asio::cancellation_signal signal;
  const auto note = [&outcome](std::exception_ptr e) { outcome = e; };
  async_run(workers, flow,
            asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io, note)));
  begun.acquire();                                 // The first task runs, …
  signal.emit(asio::cancellation_type::terminal);  // … the second one never will.
  looked_at.release();
  io.run();
  // [/given_up]
  try {
    if (outcome) std::rethrow_exception(outcome);
    expect("the outcome of what was given up", 0, 1);
  } catch (const std::system_error& e) {
    expect("given up", e.code() == asio::error::operation_aborted, 1);
  }
  expect("what ran after that", done, 0);
}

}  // namespace

int main() {
  try {
    asio::io_context io;
    runtime rt{io.get_executor()};
    tf::Executor workers(2);
    expect("a task that awaits a taskflow twice", block_on(rt, blurred(&workers)), 28);

    io.restart();
    std::future<int> in_asio = asio::co_spawn(io, blurred_in_asio(&workers), asio::use_future);
    io.run();
    expect("an awaitable that awaits one", in_asio.get(), 14);

    io.restart();
    give_up(io, workers);
  } catch (const std::exception& e) {
    std::cerr << "taskflow: " << e.what() << "\n";
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
