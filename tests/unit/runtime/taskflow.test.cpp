#include "troupe/runtime/adaptors/taskflow.hpp"

#include <asio/as_tuple.hpp>
#include <asio/co_spawn.hpp>
#include <asio/deferred.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/outcome.hpp"
#include "tests/support/taskflows.hpp"

namespace troupe::test {
namespace {

struct fixture {
  fixture() {
    flow.emplace([this] { ++ran; });
    faulty.emplace([] { throw std::out_of_range("as planned"); });
  }

  asio::io_context io;
  runtime rt{io.get_executor()};
  std::atomic<int> ran{0};
  tf::Taskflow flow, faulty;
  tf::Executor workers{2};  // Gone before the taskflows are.
};

// -- tokens ---------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "a callback is called on its executor, when the tasks have run") {
  ending how;
  int ran_before = 0;
  async_run(workers, flow, asio::bind_executor(io, [&](std::exception_ptr e) {
              ran_before = ran;
              how = e;
            }));
  io.run();
  CHECK(good(how));
  CHECK(ran_before == 1);
}

TEST_CASE_METHOD(fixture, "a callback on a strand is called inside the strand") {
  const auto strand = asio::make_strand(io);
  bool inside = false;
  async_run(workers, flow, asio::bind_executor(strand, [&](std::exception_ptr) {
              inside = strand.running_in_this_thread();
            }));
  io.run();
  CHECK(inside);
}

TEST_CASE_METHOD(fixture, "a callback without an executor is called by no worker and no caller") {
  const auto told = std::make_shared<std::promise<std::pair<int, std::thread::id>>>();
  auto tells = told->get_future();
  async_run(workers, flow, [this, told](std::exception_ptr) {
    told->set_value({workers.this_worker_id(), std::this_thread::get_id()});
  });
  const auto [worker, thread] = tells.get();
  CHECK(worker == -1);
  CHECK(thread != std::this_thread::get_id());
}

asio::awaitable<void> run_in_awaitable(tf::Executor* workers, tf::Taskflow* flow) {
  co_await async_run(*workers, *flow, asio::use_awaitable);
}

TEST_CASE_METHOD(fixture, "use_awaitable: an awaitable awaits a taskflow") {
  ending how;
  asio::co_spawn(io, run_in_awaitable(&workers, &flow), noting(io, how));
  io.run();
  CHECK(good(how));
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "use_awaitable: what a task throws is thrown by the co_await") {
  ending how;
  asio::co_spawn(io, run_in_awaitable(&workers, &faulty), noting(io, how));
  io.run();
  REQUIRE(how);
  CHECK(is_a<std::out_of_range>(*how));
}

TEST_CASE_METHOD(fixture, "use_future: a future becomes ready") {
  async_run(workers, flow, asio::use_future).get();
  CHECK(ran == 1);
  CHECK_THROWS_AS(async_run(workers, faulty, asio::use_future).get(), std::out_of_range);
}

TEST_CASE_METHOD(fixture, "deferred: nothing runs before the operation is started") {
  ending how;
  auto operation = async_run(workers, flow, asio::deferred);
  workers.wait_for_all();
  CHECK(ran == 0);
  std::move(operation)(noting(io, how));
  io.run();
  CHECK(good(how));
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "detached: the taskflow runs, and nobody is told") {
  async_run(workers, flow, asio::detached);
  workers.wait_for_all();
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "any_completion_handler: the kind of handler may be unknown") {
  ending how;
  using handler = asio::any_completion_handler<void(std::exception_ptr)>;
  async_run(workers, flow, handler(noting(io, how)));
  io.run();
  CHECK(good(how));
}

task<bool> run_in_task(tf::Executor* workers, tf::Taskflow* flow, asio::io_context* io) {
  co_await async_run(*workers, *flow, use_task);
  co_return io->get_executor().running_in_this_thread();
}

TEST_CASE_METHOD(fixture, "use_task: a task awaits a taskflow and goes on where it was") {
  CHECK(block_on(rt, run_in_task(&workers, &flow, &io)));
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "use_task: what a task of the taskflow throws is thrown by the await") {
  CHECK_THROWS_AS(block_on(rt, run_in_task(&workers, &faulty, &io)), std::out_of_range);
}

task<std::exception_ptr> run_as_tuple(tf::Executor* workers, tf::Taskflow* flow) {
  const auto [failure] = co_await async_run(*workers, *flow, asio::as_tuple(use_task));
  co_return failure;
}

TEST_CASE_METHOD(fixture, "as_tuple: what a task throws is given instead of thrown") {
  CHECK(is_a<std::out_of_range>(block_on(rt, run_as_tuple(&workers, &faulty))));
}

// -- failing --------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "failing: the exception is the task's, and what comes after is skipped") {
  ending how;
  tf::Taskflow chain;
  one_after_the_other(chain, [] { throw std::out_of_range("as planned"); }, [this] { ++ran; });
  async_run(workers, chain, noting(io, how));
  io.run();
  REQUIRE(how);
  const auto told = as<std::out_of_range>(*how);
  REQUIRE(told);
  CHECK(told->what() == std::string("as planned"));
  CHECK(ran == 0);
}

TEST_CASE_METHOD(fixture, "failing: what a task of a subflow throws comes out as well") {
  ending how;
  tf::Taskflow nested;
  nested.emplace(
      [](tf::Subflow& inner) { inner.emplace([] { throw std::out_of_range("as planned"); }); });
  async_run(workers, nested, noting(io, how));
  io.run();
  REQUIRE(how);
  CHECK(is_a<std::out_of_range>(*how));
}

TEST_CASE_METHOD(fixture, "failing: a taskflow that failed can run again, and then be good") {
  bool fail = true;
  tf::Taskflow moody;
  moody.emplace([&fail] {
    if (fail) throw std::out_of_range("as planned");
  });
  ending first, second;
  async_run(workers, moody, noting(io, first));
  io.run();
  fail = false;
  io.restart();
  async_run(workers, moody, noting(io, second));
  io.run();
  CHECK_FALSE(good(first));
  CHECK(good(second));
}

TEST_CASE_METHOD(fixture, "failing: no run that was cut short is good, whatever waits behind it") {
  tf::Executor one(1);
  bolt held;
  ending blocked, first, second;
  tf::Taskflow before;
  before.emplace([&held] { held(); });
  async_run(one, before, noting(io, blocked));
  async_run(one, faulty, noting(io, first));
  async_run(one, faulty, noting(io, second));
  held.draw();
  io.run();
  CHECK(good(blocked));
  REQUIRE(first);
  CHECK(*first);
  REQUIRE(second);
  CHECK(is_a<std::out_of_range>(*second));
}

}  // namespace
}  // namespace troupe::test
