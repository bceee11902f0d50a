#include "troupe/runtime/runtime.hpp"

#include <algorithm>
#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>

#include "tests/support/census.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/minimal_executor.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// One that has been joined is listed for a moment longer.
std::ptrdiff_t threads_that_stay() {
  std::ptrdiff_t fewest = threads_of_this_process();
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fewest = std::min(fewest, threads_of_this_process());
  }
  return fewest;
}

int sum(const per_replica<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }
task<int> step(replica_context ctx, int three) {
  const int v = three + ctx.replica_id();
  const int s = co_await ctx.merge_call(sum, v);
  co_return s + v;
}
const per_replica<int> expected = {10, 11};

/// Runs the step on `rt`, which `drive` drives, and returns what came out.
template <class Drive>
per_replica<int> run_step(runtime& rt, Drive drive) {
  mirrored_strategy strategy(rt, 2);
  per_replica<int> got;
  strategy.async_run(step, std::tuple(3),
                     [&](std::exception_ptr, per_replica<int> r) { got = std::move(r); });
  drive();
  return got;
}

TEST_CASE("quiet: a runtime on an io_context starts no thread, nor does a run on it") {
  const auto before = threads_of_this_process();
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy(rt, 4);
  block_on(rt, strategy.run(step, 3));
  CHECK(threads_of_this_process() == before);
}

TEST_CASE("a pool brings as many threads as it is told to, and takes them with it") {
  std::thread([] {}).join();  // with the first thread a sanitizer starts one of its own
  const auto before = threads_that_stay();
  {
    runtime rt{pool_size{3}};
    CHECK(threads_of_this_process() == before + 3);
  }
  CHECK(threads_that_stay() == before);
}

TEST_CASE("a runtime on an executor has one line, a pool one for each thread") {
  asio::io_context io;
  CHECK(runtime{io.get_executor()}.lines() == 1);
  CHECK(runtime{pool_size{3}}.lines() == 3);
}

TEST_CASE("a runtime runs on an io_context") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(run_step(rt, [&] { io.run(); }) == expected);
}

TEST_CASE("a runtime runs on a strand") {
  asio::io_context io;
  runtime rt{asio::make_strand(io)};
  CHECK(run_step(rt, [&] { io.run(); }) == expected);
}

TEST_CASE("a runtime runs on a thread pool of Asio's") {
  asio::thread_pool pool(2);
  runtime rt{pool.get_executor()};
  CHECK(run_step(rt, [&] { pool.join(); }) == expected);
}

TEST_CASE("a runtime runs on an executor that a user wrote") {
  hand_driven_context context;
  runtime rt{context.get_executor()};
  CHECK(run_step(rt, [&] { context.run_all(); }) == expected);
}

TEST_CASE("a runtime runs on an io_context driven one handler at a time") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(run_step(rt, [&] {
          while (io.poll_one() != 0) continue;
        }) == expected);
}

TEST_CASE("two runtimes may share an io_context") {
  asio::io_context io;
  runtime first{io.get_executor()}, second{io.get_executor()};
  CHECK(run_step(first, [&] { io.run(); }) == expected);
  io.restart();
  CHECK(run_step(second, [&] { io.run(); }) == expected);
}

TEST_CASE("a runtime needs an executor") {
  CHECK(is(thrown_by([] { runtime{asio::any_io_executor()}; }), errc::invalid_device));
}

TEST_CASE("a pool needs a thread") {
  CHECK(is(thrown_by([] { runtime{pool_size{0}}; }), errc::invalid_device));
}

TEST_CASE("a pool of more threads than any machine has is refused, and told how many it may have") {
  for (const std::size_t n : {pool_size::most_threads + 1, ~std::size_t{0}}) {
    const auto refused = as<error>(thrown_by([n] { runtime{pool_size{n}}; }));
    REQUIRE(refused);
    CHECK(refused->code() == errc::invalid_device);
    CHECK(std::string(refused->what()).find(std::to_string(n) + " threads") != std::string::npos);
  }
}

// -- wake-ups ----------------------------------------------------------------------------------

TEST_CASE("counted: a launched run of any size wakes its executor once") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  run_step(rt, [&] { io.run(); });
  CHECK(rt.wake_ups() == 1);
}

TEST_CASE("counted: block_on on an io_context wakes nobody") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy(rt, 8);
  block_on(rt, strategy.run(step, 3));
  CHECK(rt.wake_ups() == 0);
}

TEST_CASE("counted: a runtime that has not run was not woken") {
  CHECK(runtime{pool_size{2}}.wake_ups() == 0);
}

// -- closing -----------------------------------------------------------------------------------

task<> hang(gate* never, census* frames) {
  const guest here(*frames);
  co_await never->async_pass(use_task);
}

TEST_CASE("closing: a run awaited elsewhere fails with errc::runtime_gone when its runtime ends") {
  asio::io_context near, far;
  auto there = std::make_optional<runtime>(far.get_executor());
  gate never;
  census frames;
  std::exception_ptr failure;
  launch(*there, hang(&never, &frames),
         asio::bind_executor(near.get_executor(), [&](std::exception_ptr e) { failure = e; }));
  far.poll();
  REQUIRE(frames.entered == 1);
  there.reset();
  near.run();
  CHECK(is(failure, errc::runtime_gone));
  CHECK(frames.balanced());
}

TEST_CASE("closing: destroying a runtime destroys the frames of a run under way, once") {
  asio::io_context io;
  census frames;
  gate gates[2];
  {
    runtime rt{io.get_executor()};
    mirrored_strategy strategy(rt, 2);
    strategy.async_run(
        [](replica_context ctx, gate* g, census* c) -> task<> {
          const guest here(*c);
          if (ctx.replica_id() == 1) co_await hang(g, c);
          co_await ctx.merge_call([] {});
        },
        std::tuple(&gates[0], &frames), [](std::exception_ptr) {});
    io.poll();
    REQUIRE(frames.entered == 3);
  }
  CHECK(frames.left == 3);
}

TEST_CASE("closing: destroying the io_context first destroys the frames, once") {
  census frames;
  gate never;
  auto io = std::make_optional<asio::io_context>();
  runtime rt{io->get_executor()};
  mirrored_strategy strategy(rt, 1);
  strategy.async_run(hang, std::tuple(&never, &frames), [](std::exception_ptr) {});
  io->poll();
  REQUIRE(frames.entered == 1);
  io.reset();
  CHECK(frames.left == 1);
}

TEST_CASE("closing: a strategy on a runtime that has ended throws errc::runtime_gone") {
  asio::io_context near, far;
  runtime here{near.get_executor()};
  auto there = std::make_optional<runtime>(far.get_executor());
  mirrored_strategy strategy(*there, 2);
  there.reset();
  CHECK(is(thrown_by([&] { block_on(here, strategy.run(step, 3)); }), errc::runtime_gone));
}

TEST_CASE("closing: a runtime that has ended lets its strategies be destroyed after it") {
  asio::io_context io;
  auto rt = std::make_optional<runtime>(io.get_executor());
  auto strategy = std::make_unique<mirrored_strategy>(*rt, 2);
  block_on(*rt, strategy->run(step, 3));
  rt.reset();
  CHECK_NOTHROW(strategy.reset());
}

TEST_CASE("closing: a pool ends while its replicas wait, and every frame is destroyed once") {
  census frames;
  gate never;
  {
    runtime rt{pool_size{2}};
    mirrored_strategy strategy(rt, 1);
    bool entered = false;
    launch(rt, hang(&never, &frames), [](std::exception_ptr) {});
    // A run that has ended was posted after the hanging one on the same line.
    block_on(rt, strategy.run([&entered] { entered = true; }));
    REQUIRE(entered);
  }
  CHECK(frames.balanced());
}

// -- what waits --------------------------------------------------------------------------------

TEST_CASE("waiting() has a line for each coroutine that waits") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  gate never;
  census frames;
  launch(rt, hang(&never, &frames), [](std::exception_ptr) {});
  io.poll();
  CHECK(rt.waiting().size() == 1);
  never.open();
  io.run();
  CHECK(rt.waiting().empty());
}

task<int> open_first(gate* opened) {
  co_await opened->async_pass(use_task);
  co_return 1;
}
constexpr int line_of_lone_merge = __LINE__ + 5;
task<> merge_alone(gate* never) {
  co_await sleep_for(std::chrono::nanoseconds(1));  // At another place.
  const replica_context ctx = *get_replica_context();
  const auto slow = [never] { return open_first(never); };
  co_await ctx.merge_call(slow);
}

TEST_CASE("waiting() names the merge of one, outside of all runs, whose function waits") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  gate never;
  launch(rt, merge_alone(&never), [](std::exception_ptr) {});
  while (!never.waited_for()) io.run_one();
  REQUIRE(rt.waiting().size() == 1);
  CHECK(rt.waiting().front().find("runtime.test.cpp:" + std::to_string(line_of_lone_merge)) !=
        std::string::npos);
  never.open();
  io.run();
  CHECK(rt.waiting().empty());
}

}  // namespace
}  // namespace troupe::test
