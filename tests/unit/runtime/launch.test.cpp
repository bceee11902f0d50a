#include "troupe/runtime/launch.hpp"

#include <asio/as_tuple.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/deferred.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

task<int> answer() { co_return 42; }
task<> note(bool* ran) {
  *ran = true;
  co_return;
}
task<int> fail() {
  co_await sleep_for(std::chrono::nanoseconds(0));
  throw std::out_of_range("as planned");
}

task<> sleep() { co_await sleep_for(std::chrono::hours(1)); }

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
};

TEST_CASE_METHOD(fixture, "launch takes a callback") {
  int got = 0;
  launch(rt, answer(), [&](std::exception_ptr thrown, int value) { got = thrown ? -1 : value; });
  io.run();
  CHECK(got == 42);
}

TEST_CASE_METHOD(fixture, "launch of a task without a value takes a callback with an error only") {
  bool ran = false, completed = false;
  launch(rt, note(&ran), [&](std::exception_ptr thrown) { completed = !thrown; });
  io.run();
  CHECK(ran);
  CHECK(completed);
}

TEST_CASE_METHOD(fixture, "launch gives a callback what the task throws, with its own type") {
  std::exception_ptr failure;
  launch(rt, fail(), [&](std::exception_ptr thrown, int) { failure = thrown; });
  io.run();
  CHECK(is_a<std::out_of_range>(failure));
}

asio::awaitable<void> await_launch(runtime* rt, int* got) {
  *got = co_await launch(*rt, answer(), asio::use_awaitable);
}

TEST_CASE_METHOD(fixture, "launch takes use_awaitable") {
  int got = 0;
  asio::co_spawn(io, await_launch(&rt, &got), asio::detached);
  io.run();
  CHECK(got == 42);
}

asio::awaitable<void> await_failure(runtime* rt, bool* caught) {
  try {
    static_cast<void>(co_await launch(*rt, fail(), asio::use_awaitable));
  } catch (const std::out_of_range&) {
    *caught = true;
  }
}

TEST_CASE_METHOD(fixture, "launch with use_awaitable throws what the task throws") {
  bool caught = false;
  asio::co_spawn(io, await_failure(&rt, &caught), asio::detached);
  io.run();
  CHECK(caught);
}

TEST_CASE_METHOD(fixture, "launch takes use_future") {
  auto got = launch(rt, answer(), asio::use_future);
  io.run();
  CHECK(got.get() == 42);
}

TEST_CASE_METHOD(fixture, "launch with use_future rethrows what the task throws") {
  auto got = launch(rt, fail(), asio::use_future);
  io.run();
  CHECK_THROWS_AS(got.get(), std::out_of_range);
}

TEST_CASE_METHOD(fixture, "launch takes deferred, and starts nothing before that is started") {
  bool ran = false;
  auto later = launch(rt, note(&ran), asio::deferred);
  io.run();
  CHECK_FALSE(ran);
  std::move(later)(asio::detached);
  io.restart();
  io.run();
  CHECK(ran);
}

TEST_CASE_METHOD(fixture, "launch takes detached") {
  bool ran = false;
  launch(rt, note(&ran), asio::detached);
  io.run();
  CHECK(ran);
}

asio::awaitable<void> await_as_tuple(runtime* rt, bool* failed) {
  const auto [thrown, value] = co_await launch(*rt, fail(), asio::as_tuple(asio::use_awaitable));
  *failed = is_a<std::out_of_range>(thrown) && value == 0;
}

TEST_CASE_METHOD(fixture, "launch takes as_tuple") {
  bool failed = false;
  asio::co_spawn(io, await_as_tuple(&rt, &failed), asio::detached);
  io.run();
  CHECK(failed);
}

task<int> await_from_a_task(runtime* other) {
  co_return co_await launch(*other, answer(), use_task);
}

TEST_CASE_METHOD(fixture, "launch takes use_task, across runtimes") {
  runtime other{pool_size{1}};
  CHECK(block_on(rt, await_from_a_task(&other)) == 42);
}

TEST_CASE_METHOD(fixture, "async_run takes the arguments as a tuple") {
  mirrored_strategy strategy(rt, 2);
  per_replica<int> got;
  strategy.async_run([](replica_context ctx, int n) { return ctx.replica_id() + n; }, std::tuple(3),
                     [&](std::exception_ptr, per_replica<int> values) { got = values; });
  io.run();
  CHECK(got == per_replica<int>({3, 4}));
}

/// Where the task is that waits for what `start` starts; it never ends.
template <class Start>
std::string place_of_task(Start start) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  start(rt);
  while (rt.waiting().empty()) io.run_one();
  const std::string line = rt.waiting().back();
  return line.substr(line.rfind("  at ") + 5);
}

TEST_CASE("a run that was started is shown at the line that starts it") {
  unsigned line = 0;
  const auto found = place_of_task([&](runtime& rt) {
    line = __LINE__ + 1;
    mirrored_strategy(rt, 1).async_run(sleep, std::tuple(), asio::detached);
  });
  CHECK(found == "launch.test.cpp:" + std::to_string(line));
}

TEST_CASE("an operation that was launched is shown at the line that launches it") {
  unsigned line = 0;
  const auto found = place_of_task([&](runtime& rt) {
    line = __LINE__ + 1;
    launch(rt, sleep_for(std::chrono::hours(1)), asio::detached);
  });
  CHECK(found == "launch.test.cpp:" + std::to_string(line));
}

}  // namespace
}  // namespace troupe::test
