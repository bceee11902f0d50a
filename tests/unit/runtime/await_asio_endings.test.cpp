// How the await of an asio::awaitable ends, and what is left of the awaitable then.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <string>
#include <system_error>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/census.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
};

asio::awaitable<void> pass(gate* g, census* frames, std::string* seen = nullptr) {
  const guest here(*frames);
  co_await g->async_pass(asio::use_awaitable);
  if (seen) *seen = has_strategy() ? "inside" : "outside";
}

task<> passes(gate* g, census* frames, std::string* seen = nullptr) {
  co_await await_asio(pass(g, frames, seen));
}

TEST_CASE_METHOD(fixture, "cancellable: stopping the task fires the awaitable's slot") {
  gate g;
  census frames;
  asio::cancellation_signal stop;
  std::exception_ptr failure;
  launch(rt, passes(&g, &frames),
         asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) { failure = e; }));
  io.poll();
  REQUIRE(g.waited_for());
  stop.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(as<std::system_error>(failure)->code() == asio::error::operation_aborted);
  CHECK(frames.entered == 1);
  CHECK(frames.balanced());
}

task<> passes_twice(gate* g, census* frames) {
  co_await outcome_of(await_asio(pass(g, frames)));
  co_await await_asio(pass(g, frames));
}

TEST_CASE_METHOD(fixture, "cancellable: an awaitable does not begin in a task that was stopped") {
  gate g;
  census frames;
  asio::cancellation_signal stop;
  std::exception_ptr failure;
  launch(rt, passes_twice(&g, &frames),
         asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) { failure = e; }));
  io.poll();
  stop.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(as<std::system_error>(failure)->code() == asio::error::operation_aborted);
  CHECK(frames.entered == 1);
}

asio::awaitable<void> leave_behind(gate* g, census* frames, std::string* seen) {
  const auto here = co_await asio::this_coro::executor;
  asio::co_spawn(here, pass(g, frames, seen), asio::detached);
}

task<> leaves_behind(replica_context ctx, gate* g, census* frames, std::string* seen) {
  if (ctx.replica_id() == 0) co_await await_asio(leave_behind(g, frames, seen));
}

TEST_CASE_METHOD(fixture, "cut: what an awaitable leaves behind is outside") {
  gate g;
  census frames;
  std::string seen;
  block_on(rt, strategy.run(leaves_behind, &g, &frames, &seen));
  io.restart();
  io.poll();
  REQUIRE(g.waited_for());
  g.open();
  io.restart();
  io.run();
  CHECK(seen == "outside");
}

TEST_CASE("an awaitable that outlives its runtime ends with what it waits for") {
  asio::io_context io;
  gate g;
  census frames;
  std::string seen;
  {
    runtime rt{io.get_executor()};
    launch(rt, passes(&g, &frames, &seen), [](std::exception_ptr) {});
    io.poll();
    REQUIRE(g.waited_for());
  }
  CHECK(frames.left == 0);
  g.open();
  io.restart();
  io.run();
  CHECK(frames.left == 1);
  CHECK(seen.empty());
}

asio::awaitable<void> sleep_long(census* frames, std::atomic<bool>* sleeps) {
  const guest here(*frames);
  const auto executor = co_await asio::this_coro::executor;
  sleeps->store(true);
  sleeps->notify_one();
  co_await sleep_for(executor, std::chrono::hours(1), asio::use_awaitable);
}

TEST_CASE("an awaitable whose io_context or pool ends is destroyed once") {
  census frames;
  std::atomic<bool> sleeps{false};
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    launch(rt, await_asio(sleep_long(&frames, &sleeps)), [](std::exception_ptr) {});
    io.poll();
  }
  CHECK(frames.left == 1);
  sleeps = false;
  {
    runtime rt{pool_size{1}};
    launch(rt, await_asio(sleep_long(&frames, &sleeps)), [](std::exception_ptr) {});
    sleeps.wait(false);
  }
  CHECK(frames.left == 2);
}

constexpr unsigned await_line = __LINE__ + 1;
task<> shows_where(gate* g, census* frames) { co_await await_asio(pass(g, frames)); }

TEST_CASE_METHOD(fixture, "who waits for an awaitable is shown with the line that awaits it") {
  gate g;
  census frames;
  launch(rt, shows_where(&g, &frames), [](std::exception_ptr) {});
  io.poll();
  CHECK(rt.waiting() ==
        std::vector<std::string>(
            1, "task/0  waits for an asio::awaitable  at await_asio_endings.test.cpp:" +
                   std::to_string(await_line)));
  g.open();
  io.run();
}

}  // namespace
}  // namespace troupe::test
