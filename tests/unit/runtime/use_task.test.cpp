#include "troupe/runtime/use_task.hpp"

#include <array>
#include <asio/as_tuple.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/thread_pool.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/census.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
};

/// An Asio operation that completes with exactly these arguments.
template <class Signature, class... Values>
auto async_yield(asio::io_context& io, Values... values) {
  return asio::async_initiate<const use_task_t&, Signature>(
      [&io](auto handler, auto... all) {
        asio::post(io, asio::append(std::move(handler), std::move(all)...));
      },
      use_task, std::move(values)...);
}

// -- results --------------------------------------------------------------------------------------

task<> await_nothing(asio::io_context* io) { co_await async_yield<void()>(*io); }

TEST_CASE_METHOD(fixture, "an operation without results can be awaited") {
  CHECK_NOTHROW(block_on(rt, await_nothing(&io)));
}

task<int> await_value(asio::io_context* io) { co_return co_await async_yield<void(int)>(*io, 5); }

TEST_CASE_METHOD(fixture, "one result is returned as such") {
  CHECK(block_on(rt, await_value(&io)) == 5);
}

task<int> await_two(asio::io_context* io) {
  const auto [number, text] =
      co_await async_yield<void(int, std::string)>(*io, 5, std::string("abc"));
  co_return number + static_cast<int>(text.size());
}

TEST_CASE_METHOD(fixture, "two results are returned as a tuple") {
  CHECK(block_on(rt, await_two(&io)) == 8);
}

task<int> await_code_and_value(asio::io_context* io) {
  co_return co_await async_yield<void(std::error_code, int)>(*io, std::error_code(), 5);
}

TEST_CASE_METHOD(fixture, "a good error_code disappears from the results") {
  CHECK(block_on(rt, await_code_and_value(&io)) == 5);
}

task<> await_code(asio::io_context* io, std::error_code code) {
  co_await async_yield<void(std::error_code)>(*io, code);
}

TEST_CASE_METHOD(fixture, "an error_code is thrown as a system_error with that code") {
  const auto refused = std::make_error_code(std::errc::connection_refused);
  const auto told =
      as<std::system_error>(thrown_by([&] { block_on(rt, await_code(&io, refused)); }));
  REQUIRE(told);
  CHECK(told->code() == refused);
}

task<> await_exception(asio::io_context* io) {
  co_await async_yield<void(std::exception_ptr)>(
      *io, std::make_exception_ptr(std::out_of_range("as planned")));
}

TEST_CASE_METHOD(fixture, "an exception_ptr is rethrown") {
  CHECK_THROWS_AS(block_on(rt, await_exception(&io)), std::out_of_range);
}

task<std::unique_ptr<int>> await_owned(asio::io_context* io) {
  const auto yield = [io](auto handler) {
    asio::post(*io, asio::append(std::move(handler), std::make_unique<int>(3)));
  };
  using signature = void(std::unique_ptr<int>);
  co_return co_await asio::async_initiate<const use_task_t&, signature>(yield, use_task);
}

TEST_CASE_METHOD(fixture, "a result may be one that can only be moved") {
  CHECK(*block_on(rt, await_owned(&io)) == 3);
}

task<std::error_code> await_as_tuple(gate* g) {
  const auto [code] = co_await g->async_pass(asio::as_tuple(use_task));
  co_return code;
}

TEST_CASE_METHOD(fixture, "as_tuple gives the error_code instead of throwing") {
  gate g;
  asio::post(io, [&] { g.open(); });
  CHECK_FALSE(block_on(rt, await_as_tuple(&g)));
}

task<> await_timer(asio::io_context* io) {
  asio::steady_timer timer(*io);
  timer.expires_after(std::chrono::nanoseconds(1));
  co_await timer.async_wait(use_task);
}

TEST_CASE_METHOD(fixture, "Asio's own timer can be awaited") {
  CHECK_NOTHROW(block_on(rt, await_timer(&io)));
}

task<> throw_while_starting() {
  co_await asio::async_initiate<const use_task_t&, void()>(
      [](auto) { throw std::out_of_range("while starting"); }, use_task);
}

TEST_CASE_METHOD(fixture, "what an initiation throws is thrown by the await") {
  CHECK_THROWS_AS(block_on(rt, throw_while_starting()), std::out_of_range);
}

task<int> throw_twice_and_go_on() {
  int caught = 0;
  for (int i = 0; i < 2; ++i) {
    try {
      co_await throw_while_starting();
    } catch (const std::out_of_range&) {
      ++caught;
    }
  }
  co_return caught;
}

TEST_CASE_METHOD(fixture, "a task goes on after an initiation threw") {
  CHECK(block_on(rt, throw_twice_and_go_on()) == 2);
}

task<bool> start_late(bool* started) {
  auto operation = asio::async_initiate<const use_task_t&, void()>(
      [started](auto handler) {
        *started = true;
        const auto where = asio::get_associated_executor(handler);
        asio::post(where, std::move(handler));
      },
      use_task);
  const bool before = *started;
  co_await std::move(operation);
  co_return !before && *started;
}

TEST_CASE_METHOD(fixture, "an operation starts when it is awaited, not when it is made") {
  bool started = false;
  CHECK(block_on(rt, start_late(&started)));
}

// -- guarantees -----------------------------------------------------------------------------------

task<bool> pass_and_look(gate* g, asio::io_context* io) {
  co_await g->async_pass(use_task);
  co_return io->get_executor().running_in_this_thread();
}

TEST_CASE_METHOD(fixture, "home: the task goes on on its own executor, whoever completes") {
  asio::thread_pool elsewhere(1);
  gate g;
  bool home = false;
  launch(rt, pass_and_look(&g, &io), [&](std::exception_ptr, bool h) { home = h; });
  io.poll();
  REQUIRE(g.waited_for());
  asio::post(elsewhere, [&] { g.open(); });
  elsewhere.join();
  io.run();
  CHECK(home);
}

task<> pass(gate* g, census* frames) {
  const guest here(*frames);
  co_await g->async_pass(use_task);
}

TEST_CASE_METHOD(fixture, "cancellable: stopping the task fires the operation's slot") {
  gate g;
  census frames;
  asio::cancellation_signal stop;
  std::exception_ptr failure;
  launch(rt, pass(&g, &frames),
         asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) { failure = e; }));
  io.poll();
  REQUIRE(g.waited_for());
  stop.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK_FALSE(g.waited_for());
  CHECK(failure);
}

task<int> pass_twice(gate* first, gate* second) {
  int cancelled = 0;
  const std::array<gate*, 2> gates = {first, second};
  for (gate* g : gates) {
    try {
      co_await g->async_pass(use_task);
    } catch (const std::system_error&) {
      ++cancelled;
    }
  }
  co_return cancelled;
}

TEST_CASE_METHOD(fixture, "cancellable: a stopped task's later operations do not start") {
  gate first, second;
  asio::cancellation_signal stop;
  int cancelled = 0;
  launch(
      rt, pass_twice(&first, &second),
      asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr, int n) { cancelled = n; }));
  io.poll();
  stop.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(cancelled == 2);
  CHECK_FALSE(second.waited_for());
}

TEST_CASE_METHOD(fixture, "an operation whose handler is destroyed unrun is errc::runtime_gone") {
  gate g;
  census frames;
  std::exception_ptr failure;
  launch(rt, pass(&g, &frames), [&](std::exception_ptr e) { failure = e; });
  io.poll();
  g.demolish();
  io.run();
  CHECK(is(failure, errc::runtime_gone));
  CHECK(frames.balanced());
}

TEST_CASE("an io_context that ends under a waiting task destroys its frame once") {
  census frames;
  gate g;
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    launch(rt, pass(&g, &frames), [](std::exception_ptr) {});
    io.poll();
  }
  CHECK(frames.entered == 1);
  CHECK(frames.left == 1);
}

TEST_CASE("an operation that outlives its task is harmless") {
  gate g;
  census frames;
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    launch(rt, pass(&g, &frames), [](std::exception_ptr) {});
    io.poll();
  }
  g.demolish();
  CHECK_FALSE(g.waited_for());
}

}  // namespace
}  // namespace troupe::test
