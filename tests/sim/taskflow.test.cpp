// A simulated world refuses a taskflow, whose threads are real, and takes the refusal as a step of
// its own: on its own thread, where the operation's token says.

#include <asio/bind_executor.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <thread>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/taskflows.hpp"

namespace troupe::test {
namespace {

struct fixture {
  fixture() {
    flow.emplace([this] { ++ran; });
  }

  std::atomic<int> ran{0};
  int refused = 0;  // Not atomic: the world has one thread.
  tf::Taskflow flow;
  tf::Executor workers{1};

  /// A handler that counts a refusal on the world's thread.
  auto counting() {
    return [this, world = std::this_thread::get_id()](std::exception_ptr failure) {
      CHECK(is(failure, errc::foreign_runtime));
      CHECK(std::this_thread::get_id() == world);
      ++refused;
    };
  }
};

task<> run_in_task(fixture* f) {
  const auto failure = co_await outcome_of(async_run(f->workers, f->flow, use_task));
  f->counting()(failure);
}

TEST_CASE_METHOD(fixture, "a task of a world is refused a taskflow under every schedule") {
  explore_lines([this](world&) { return run_in_task(this); });
  CHECK(refused >= 1);
  CHECK(ran == 0);
}

asio::awaitable<void> run_in_awaitable(fixture* f) {
  std::exception_ptr failure;
  try {
    co_await async_run(f->workers, f->flow, asio::use_awaitable);
  } catch (const error&) {
    failure = std::current_exception();
  }
  f->counting()(failure);
}

task<> await_awaitable(fixture* f) { co_await await_asio(run_in_awaitable(f)); }

TEST_CASE_METHOD(fixture, "an awaitable of a world is refused a taskflow") {
  explore_lines([this](world&) { return await_awaitable(this); });
  CHECK(refused >= 1);
  CHECK(ran == 0);
}

/// Starts a run with each kind of handler, and gives the world time to tell them.
task<> run_with_callbacks(fixture* f, asio::any_io_executor world) {
  using unknown = asio::any_completion_handler<void(std::exception_ptr)>;
  const int before = f->refused;
  async_run(f->workers, f->flow, asio::bind_executor(world, f->counting()));
  async_run(f->workers, f->flow, f->counting());
  async_run(f->workers, f->flow, unknown(f->counting()));
  async_run(f->workers, f->flow, unknown(asio::bind_executor(world, f->counting())));
  co_await sleep_for(std::chrono::seconds(1));
  CHECK(f->refused == before + 4);
}

TEST_CASE_METHOD(fixture, "callbacks in a world are told by the world, with and without executor") {
  explore_seeds([this](world& w) { return run_with_callbacks(this, w.runtime().get_executor()); },
                20);
  CHECK(ran == 0);
}

TEST_CASE_METHOD(fixture, "a handler of a world is refused a taskflow that somebody else starts") {
  bool called = false;
  explore_lines([this, &called](world& w) {
    called = false;
    async_run(workers, flow,
              asio::bind_executor(w.runtime().get_executor(), [&called](std::exception_ptr e) {
                called = is(e, errc::foreign_runtime);
              }));
    return [](bool* told) -> task<> {
      co_await sleep_for(std::chrono::seconds(1));
      CHECK(*told);
    }(&called);
  });
  CHECK(called);
  CHECK(ran == 0);
}

}  // namespace
}  // namespace troupe::test
