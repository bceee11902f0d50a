#include "troupe/runtime/await_asio.hpp"

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using texts = std::vector<std::string>;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
};

/// What the ambient queries answer here.
std::string where() {
  if (!has_strategy()) return "outside";
  if (in_cross_replica_context()) return "cross-replica";
  const auto ctx = get_replica_context();
  return (ctx->is_current() ? "replica " : "not replica ") + std::to_string(ctx->replica_id());
}

asio::awaitable<std::string> ask() { co_return where(); }

asio::awaitable<void> pass_time() {
  const auto here = co_await asio::this_coro::executor;
  asio::steady_timer timer(here, std::chrono::nanoseconds(1));
  co_await timer.async_wait(asio::use_awaitable);
}

/// Every way an awaitable has to be suspended and to go on.
asio::awaitable<texts> ask_again_and_again(asio::any_io_executor elsewhere) {
  texts seen(1, where());
  const auto here = co_await asio::this_coro::executor;
  co_await asio::post(here, asio::use_awaitable);
  seen.push_back(where());
  co_await pass_time();
  seen.push_back(where());
  co_await asio::post(elsewhere, asio::use_awaitable);
  seen.push_back(where());
  co_await sleep_for(here, std::chrono::nanoseconds(1), asio::use_awaitable);
  seen.push_back(where());
  const std::string below = co_await ask();
  seen.push_back(below);
  const std::string beside = co_await asio::co_spawn(here, ask(), asio::use_awaitable);
  seen.push_back(beside);
  co_return seen;
}

task<texts> asks(replica_context, asio::any_io_executor elsewhere) {
  texts seen = co_await await_asio(ask_again_and_again(elsewhere));
  seen.push_back(where());
  co_return seen;
}

void expect_inside(runtime& rt) {
  asio::thread_pool elsewhere(1);
  mirrored_strategy strategy(rt, 3);
  const auto seen = block_on(rt, strategy.run(asks, asio::any_io_executor(elsewhere.executor())));
  REQUIRE(seen.size() == 8);  // The leaves stand side by side: eight answers, of three replicas.
  for (const auto& each : seen) {
    CHECK(each == per_replica<std::string>({"replica 0", "replica 1", "replica 2"}));
  }
}

// -- inside ---------------------------------------------------------------------------------------

TEST_CASE("inside: an awaitable is in its replica, after every suspension") {
  asio::io_context io;
  runtime on_io{io.get_executor()};
  runtime on_pool{pool_size{2}};
  expect_inside(on_io);
  expect_inside(on_pool);
}

task<std::string> asks_in_scope(const mirrored_strategy* strategy) {
  const auto inside = strategy->scope();
  co_return co_await await_asio(ask());
}

task<std::string> asks_in_merge(replica_context ctx) {
  const auto ask_there = []() -> task<std::string> { co_return co_await await_asio(ask()); };
  co_return co_await ctx.merge_call(ask_there);
}

TEST_CASE_METHOD(fixture, "inside: an awaitable is in its task's scope, or merge function") {
  CHECK(block_on(rt, asks_in_scope(&strategy)) == "cross-replica");
  const auto merged = block_on(rt, strategy.run(asks_in_merge));
  CHECK(merged == per_replica<std::string>({"cross-replica", "cross-replica"}));
  CHECK(block_on(rt, await_asio(ask())) == "outside");
}

asio::awaitable<texts> enter_for_a_while(const mirrored_strategy* strategy) {
  const auto inside = strategy->scope();
  co_await pass_time();
  co_return texts(1, where());
}

task<texts> enters_for_a_while(const mirrored_strategy* strategy) {
  texts seen = co_await await_asio(enter_for_a_while(strategy));
  seen.push_back(where());
  co_return seen;
}

TEST_CASE_METHOD(fixture, "a scope that an awaitable opens is the awaitable's") {
  CHECK(block_on(rt, enters_for_a_while(&strategy)) == texts({"cross-replica", "outside"}));
}

asio::awaitable<std::string> ask_on(asio::any_io_executor there) {
  co_return co_await asio::co_spawn(there, ask(), asio::use_awaitable);
}

task<std::string> asks_on(replica_context, asio::any_io_executor there) {
  co_return co_await await_asio(ask_on(there));
}

TEST_CASE_METHOD(fixture, "what an awaitable gives to another executor is outside") {
  const auto seen = block_on(rt, strategy.run(asks_on, asio::any_io_executor(io.get_executor())));
  CHECK(seen == per_replica<std::string>({"outside", "outside"}));
}

// -- results --------------------------------------------------------------------------------------

asio::awaitable<std::unique_ptr<int>> give(int value) { co_return std::make_unique<int>(value); }

TEST_CASE_METHOD(fixture, "an awaitable's result is the await's, also if it can only be moved") {
  CHECK(*block_on(rt, await_asio(give(3))) == 3);
}

asio::awaitable<int> fail() {
  co_await pass_time();
  throw std::out_of_range("as planned");
}

task<std::string> catches_and_asks(replica_context) {
  const std::exception_ptr thrown = co_await outcome_of(await_asio(fail()));
  co_return describe(thrown) + ", " + where();
}

TEST_CASE_METHOD(fixture, "what an awaitable throws is thrown by the await") {
  CHECK_THROWS_AS(block_on(rt, await_asio(fail())), std::out_of_range);
  const auto seen = block_on(rt, strategy.run(catches_and_asks));
  CHECK(seen == per_replica<std::string>({"as planned, replica 0", "as planned, replica 1"}));
}

// -- where it runs --------------------------------------------------------------------------------

asio::awaitable<bool> stay_on(std::thread::id home, asio::any_io_executor elsewhere) {
  const bool begins = std::this_thread::get_id() == home;
  co_await asio::post(elsewhere, asio::use_awaitable);
  co_return begins&& std::this_thread::get_id() == home;
}

task<bool> stays(asio::any_io_executor elsewhere) {
  const auto home = std::this_thread::get_id();
  const bool stayed = co_await await_asio(stay_on(home, elsewhere));
  co_return stayed&& std::this_thread::get_id() == home;
}

TEST_CASE("home: an awaitable goes on where its task is, whoever completes") {
  asio::thread_pool elsewhere(1);
  runtime rt{pool_size{2}};
  mirrored_strategy strategy(rt, 4);
  const auto stayed =
      block_on(rt, strategy.run(stays, asio::any_io_executor(elsewhere.executor())));
  CHECK(stayed == per_replica<bool>({true, true, true, true}));
}

TEST_CASE_METHOD(fixture, "counted: nothing is out of work while an awaitable is elsewhere") {
  asio::io_context far;
  bool back = false;
  const auto go_there = [](asio::io_context* there, bool* done) -> asio::awaitable<void> {
    co_await asio::post(*there, asio::use_awaitable);
    *done = true;
  };
  launch(rt, await_asio(go_there(&far, &back)), [](std::exception_ptr) {});
  io.poll();
  CHECK_FALSE(io.stopped());
  far.run();
  io.run();
  CHECK(back);
}

}  // namespace
}  // namespace troupe::test
