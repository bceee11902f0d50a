#include "troupe/runtime/block_on.hpp"

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

task<int> answer() { co_return 42; }
task<> nothing() { co_return; }
task<std::unique_ptr<int>> owned() { co_return std::make_unique<int>(7); }

task<> fail() {
  co_await nothing();
  throw std::out_of_range("as planned");
}

TEST_CASE("block_on returns the task's value") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(block_on(rt, answer()) == 42);
}

TEST_CASE("block_on returns a value that can only be moved") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(*block_on(rt, owned()) == 7);
}

TEST_CASE("block_on throws what the task throws, with its own type") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK_THROWS_AS(block_on(rt, fail()), std::out_of_range);
}

TEST_CASE("block_on can be called again after a task has failed") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK_THROWS_AS(block_on(rt, fail()), std::out_of_range);
  CHECK(block_on(rt, answer()) == 42);
}

TEST_CASE("block_on works on a pool") {
  runtime rt{pool_size{2}};
  CHECK(block_on(rt, answer()) == 42);
}

TEST_CASE("block_on works on another library's thread pool") {
  asio::thread_pool pool(1);
  runtime rt{pool.get_executor()};
  CHECK(block_on(rt, answer()) == 42);
}

TEST_CASE("block_on of an empty task throws errc::empty_task") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(is(thrown_by([&] { block_on(rt, task<>()); }), errc::empty_task));
}

task<> block_inside(runtime* rt) {
  block_on(*rt, nothing());
  co_return;
}

TEST_CASE("honest: inside a task block_on throws errc::would_block") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(is(thrown_by([&] { block_on(rt, block_inside(&rt)); }), errc::would_block));
}

TEST_CASE("honest: inside a task on a pool block_on throws errc::would_block") {
  runtime rt{pool_size{1}};
  CHECK(is(thrown_by([&] { block_on(rt, block_inside(&rt)); }), errc::would_block));
}

TEST_CASE("honest: inside a handler of the same io_context block_on throws errc::would_block") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  std::exception_ptr thrown;
  asio::post(io, [&] { thrown = thrown_by([&] { block_on(rt, nothing()); }); });
  io.run();
  CHECK(is(thrown, errc::would_block));
}

TEST_CASE("honest: on a thread of the pool it waits for block_on throws errc::would_block") {
  asio::thread_pool pool(1);
  runtime rt{pool.get_executor()};
  std::exception_ptr thrown;
  asio::post(pool, [&] { thrown = thrown_by([&] { block_on(rt, nothing()); }); });
  pool.join();
  CHECK(is(thrown, errc::would_block));
}

TEST_CASE("block_on works inside a handler of another io_context") {
  asio::io_context io, other;
  runtime rt{io.get_executor()};
  int got = 0;
  asio::post(other, [&] { got = block_on(rt, answer()); });
  other.run();
  CHECK(got == 42);
}

constexpr unsigned wait_line = __LINE__ + 1;
task<> wait_at(gate* g) { co_await g->async_pass(use_task); }

TEST_CASE("verdict: what nothing can finish is errc::deadlock at once") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  gate never;
  CHECK(is(thrown_by([&] { block_on(rt, wait_at(&never)); }), errc::deadlock));
}

TEST_CASE("verdict: it has a line for each waiting coroutine, with its place") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  gate never;
  const auto verdict = as<error>(thrown_by([&] { block_on(rt, wait_at(&never)); }));
  REQUIRE(verdict);
  REQUIRE(verdict->waiting().size() == 1);
  const std::string at = "block_on.test.cpp:" + std::to_string(wait_line);
  CHECK(verdict->waiting().front().find(at) != std::string::npos);
}

TEST_CASE("verdict: a run whose replica waits forever is errc::deadlock, with all three named") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy(rt, 2);
  gate never;
  const auto verdict = as<error>(thrown_by([&] {
    block_on(rt, strategy.run(
                     [](replica_context ctx, gate* g) -> task<> {
                       if (ctx.replica_id() == 1) co_await wait_at(g);
                       co_await ctx.merge_call([] {});
                     },
                     &never));
  }));
  REQUIRE(verdict);
  CHECK(verdict->code() == errc::deadlock);
  CHECK(verdict->waiting().size() == 3);
}

TEST_CASE("verdict: the outermost run is shown at the line that blocks on it") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy(rt, 1);
  gate never;
  const unsigned line = __LINE__ + 1;
  const auto verdict = as<error>(thrown_by([&] { block_on(rt, strategy.run(wait_at, &never)); }));
  REQUIRE(verdict);
  const std::string& outermost = verdict->waiting().back();
  CHECK(outermost ==
        "task/0  waits for run() on 1 replicas  at block_on.test.cpp:" + std::to_string(line));
}

TEST_CASE("verdict: the runtime can be used after a deadlock") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  gate never;
  CHECK(is(thrown_by([&] { block_on(rt, wait_at(&never)); }), errc::deadlock));
  CHECK(block_on(rt, answer()) == 42);
}

TEST_CASE("block_on runs the handlers of others on the same io_context") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  gate g;
  asio::post(io, [&] { g.open(); });
  CHECK_NOTHROW(block_on(rt, wait_at(&g)));
}

TEST_CASE("block_on restarts an io_context that has run out of work before") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  io.run();
  REQUIRE(io.stopped());
  CHECK(block_on(rt, answer()) == 42);
}

TEST_CASE("block_on leaves handlers that are still to come in the io_context") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  bool called = false;
  block_on(rt, nothing());
  asio::post(io, [&] { called = true; });
  io.restart();
  io.run();
  CHECK(called);
}

}  // namespace
}  // namespace troupe::test
