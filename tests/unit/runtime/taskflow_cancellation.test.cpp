#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <troupe/troupe.hpp>
#include <utility>
#if __has_include(<asio/cancel_after.hpp>)
#include <asio/cancel_after.hpp>
#endif

#include "tests/support/outcome.hpp"
#include "tests/support/taskflows.hpp"

namespace troupe::test {
namespace {

using asio::cancellation_type;

/// A taskflow that stops in the middle: what comes behind the bolt is counted.
struct fixture {
  fixture() {
    one_after_the_other(stuck, [this] { held(); }, [this] { ++ran; });
    flow.emplace([this] { ++ran; });
  }
  ~fixture() { held.draw(); }

  auto cancellable(ending& e) { return asio::bind_cancellation_slot(cancel.slot(), noting(io, e)); }

  asio::io_context io;
  asio::cancellation_signal cancel;
  std::atomic<int> ran{0};
  bolt held;
  tf::Taskflow stuck, flow;
  tf::Executor workers{1};  // Gone before the taskflows are.
};

TEST_CASE_METHOD(fixture, "a run that is cancelled before its first task runs none") {
  ending before, how;
  async_run(workers, stuck, noting(io, before));
  async_run(workers, flow, cancellable(how));
  held.wait_until_begun();
  cancel.emit(cancellation_type::terminal);
  held.draw();
  io.run();
  CHECK(good(before));
  CHECK(aborted(how));
  CHECK(ran == 1);  // The other one's.
}

TEST_CASE_METHOD(fixture, "a cancelled run completes when the tasks that run have ended") {
  ending how;
  async_run(workers, stuck, cancellable(how));
  held.wait_until_begun();
  cancel.emit(cancellation_type::terminal);
  CHECK(io.poll() == 0);
  CHECK_FALSE(how);
  held.draw();
  io.run();
  CHECK(aborted(how));
  CHECK(ran == 0);
}

TEST_CASE_METHOD(fixture, "partial cancellation is heeded") {
  ending how;
  async_run(workers, stuck, cancellable(how));
  held.wait_until_begun();
  cancel.emit(cancellation_type::partial);
  held.draw();
  io.run();
  CHECK(aborted(how));
  CHECK(ran == 0);
}

TEST_CASE_METHOD(fixture, "total cancellation is not: a run that has begun may have had effects") {
  ending how;
  async_run(workers, stuck, cancellable(how));
  held.wait_until_begun();
  cancel.emit(cancellation_type::total);
  held.draw();
  io.run();
  CHECK(good(how));
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "a cancellation after the last task changes nothing") {
  ending how;
  async_run(workers, flow, cancellable(how));
  workers.wait_for_all();
  cancel.emit(cancellation_type::terminal);
  io.run();
  CHECK(good(how));
}

TEST_CASE_METHOD(fixture, "a cancellation after completion finds nothing, not even the taskflow") {
  ending how;
  {
    tf::Taskflow own;
    own.emplace([this] { ++ran; });
    async_run(workers, std::move(own), cancellable(how));
  }
  io.run();
  CHECK(good(how));
  cancel.emit(cancellation_type::terminal);
  io.restart();
  CHECK(io.poll() == 0);
}

TEST_CASE_METHOD(fixture, "a cancellation reaches one run of a taskflow, not those behind it") {
  ending first, second;
  async_run(workers, stuck, cancellable(first));
  async_run(workers, stuck, noting(io, second));
  held.wait_until_begun();
  cancel.emit(cancellation_type::terminal);
  held.draw();
  io.run();
  CHECK(aborted(first));
  CHECK(good(second));
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "a taskflow that was cancelled can run again") {
  ending first, second;
  async_run(workers, stuck, cancellable(first));
  held.wait_until_begun();
  cancel.emit(cancellation_type::terminal);
  held.draw();
  io.run();
  io.restart();
  async_run(workers, stuck, cancellable(second));
  io.run();
  CHECK(aborted(first));
  CHECK(good(second));
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "what a task throws is told even if the run was cancelled") {
  ending how;
  tf::Taskflow fails;
  fails.emplace([this] {
    held();
    throw std::out_of_range("as planned");
  });
  async_run(workers, fails, cancellable(how));
  held.wait_until_begun();
  cancel.emit(cancellation_type::terminal);
  held.draw();
  io.run();
  REQUIRE(how);
  CHECK(is_a<std::out_of_range>(*how));
}

// -- through a coroutine --------------------------------------------------------------------------

asio::awaitable<void> hold_and_let_go(bolt* held) {
  held->wait_until_begun();
  held->draw();
  co_return;
}

/// The taskflow against something that is done first; and the taskflow again.
asio::awaitable<std::size_t> race(fixture* f) {
  using namespace asio::experimental::awaitable_operators;
  tf::Taskflow loop;  // Goes on until it is cancelled.
  tf::Task begin = loop.emplace([f] { f->held(); });
  tf::Task again = loop.emplace([] { return 0; });
  begin.precede(again);
  again.precede(again);
  auto run = async_run(f->workers, loop, asio::use_awaitable);
  const auto first = co_await (std::move(run) || hold_and_let_go(&f->held));
  co_await async_run(f->workers, f->flow, asio::use_awaitable);
  co_return first.index();
}

TEST_CASE_METHOD(fixture,
                 "use_awaitable: the loser of || is cancelled, and the coroutine goes on") {
  std::size_t first = 0;
  asio::co_spawn(io, race(this),
                 asio::bind_executor(io, [&](std::exception_ptr, std::size_t i) { first = i; }));
  io.run();
  CHECK(first == 1);
  CHECK(ran == 1);
}

task<std::exception_ptr> run_in_task(fixture* f) {
  co_return co_await outcome_of(async_run(f->workers, f->stuck, use_task));
}

TEST_CASE_METHOD(fixture,
                 "use_task: a task that is stopped cancels its taskflow and waits for it") {
  runtime rt{io.get_executor()};
  std::exception_ptr inside;
  launch(rt, run_in_task(this),
         asio::bind_cancellation_slot(
             cancel.slot(), [&](std::exception_ptr, std::exception_ptr e) { inside = e; }));
  io.poll();
  held.wait_until_begun();
  cancel.emit(cancellation_type::terminal);
  io.poll();
  CHECK_FALSE(inside);
  held.draw();
  io.run();
  CHECK(aborted(inside));
  CHECK(ran == 0);
}

#if __has_include(<asio/cancel_after.hpp>)

TEST_CASE_METHOD(fixture, "cancel_after: the time is up, and the rest of the taskflow is skipped") {
  ending how;
  tf::Taskflow loop;  // Goes on until it is cancelled.
  tf::Task begin = loop.emplace([] {});
  tf::Task again = loop.emplace([] { return 0; });
  begin.precede(again);
  again.precede(again);
  async_run(workers, loop, asio::cancel_after(std::chrono::milliseconds(1), noting(io, how)));
  io.run();
  CHECK(aborted(how));
}

#endif

}  // namespace
}  // namespace troupe::test
