// An operation is awaited once: whoever awaits it again is told so, and where.

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};

  /// What a second await of `operation` throws; the first ends well.
  template <class Operation>
  std::exception_ptr again(Operation operation);
  /// What the await of `operation` throws, in which another one's data are by now.
  template <class Operation>
  std::exception_ptr moved_away(Operation operation);
};

constexpr unsigned awaited_again_at = __LINE__ + 6;
template <class Operation>
task<std::exception_ptr> await_twice(Operation operation) {
  std::exception_ptr thrown;
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(co_await std::move(operation));
      if (i == 1) co_return nullptr;
    } catch (...) {
      thrown = std::current_exception();
    }
    if (i == 0 && thrown) std::rethrow_exception(thrown);
  }
  co_return thrown;
}

template <class Operation>
std::exception_ptr fixture::again(Operation operation) {
  return block_on(rt, await_twice(std::move(operation)));
}

template <class Operation>
std::exception_ptr fixture::moved_away(Operation operation) {
  static_cast<void>(block_on(rt, outcome_of(std::move(operation))));
  return block_on(rt, outcome_of(std::move(operation)));
}

/// Whether `thrown` says that `what` has been awaited before.
bool tells(const std::exception_ptr& thrown, const std::string& what) {
  INFO(describe(thrown));
  const auto e = as<error>(thrown);
  REQUIRE(e);
  CHECK(e->code() == errc::empty_task);
  CHECK(e->facts().what == what + " was awaited that has been awaited before");
  return !e->fix().empty();
}

task<int> one() { co_return 1; }
task<> nothing() { co_return; }
asio::awaitable<int> four() { co_return 4; }

std::vector<task<int>> ones(std::size_t n) {
  std::vector<task<int>> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(one());
  return all;
}

TEST_CASE_METHOD(fixture, "when_all() is awaited once") {
  CHECK(tells(again(when_all(one(), nothing())), "a when_all()"));
  CHECK(tells(again(when_all(ones(3))), "a when_all()"));
  CHECK(tells(again(when_all(ones(0))), "a when_all()"));
  CHECK(tells(moved_away(when_all(one(), one())), "a when_all()"));
  CHECK(tells(moved_away(when_all(ones(3))), "a when_all()"));
}

TEST_CASE_METHOD(fixture, "an asio::awaitable is awaited once") {
  CHECK(tells(again(await_asio(four())), "an asio::awaitable"));
  CHECK(tells(moved_away(await_asio(four())), "an asio::awaitable"));
}

std::size_t size_of_hand(const std::vector<int>& hand) { return hand.size(); }

per_replica<std::vector<int>> deal() {
  return per_replica<std::vector<int>>({std::vector<int>(3), std::vector<int>(4)});
}

TEST_CASE_METHOD(fixture, "a run is awaited once: its arguments went to the replicas") {
  CHECK(tells(again(strategy.run(size_of_hand, deal())), "a run()"));
  CHECK(tells(moved_away(strategy.run(size_of_hand, deal())), "a run()"));
}

task<std::size_t> await_after_it_was_awaited(const mirrored_strategy* strategy) {
  auto run = strategy->run(size_of_hand, deal());
  static_cast<void>(co_await std::move(run));
  auto moved = std::move(run);  // NOLINT(bugprone-use-after-move)
  const auto sizes = co_await std::move(moved);
  co_return sizes[0];
}

TEST_CASE_METHOD(fixture, "what was moved out of an awaited run is not awaited again") {
  CHECK(tells(thrown_by([&] { block_on(rt, await_after_it_was_awaited(&strategy)); }), "a run()"));
}

TEST_CASE_METHOD(fixture, "an operation of Asio's is awaited once") {
  timer t(rt.get_executor());
  t.expires_after(1ns);
  CHECK(tells(again(t.async_wait(use_task)), "an asynchronous operation"));
  CHECK(tells(moved_away(t.async_wait(use_task)), "an asynchronous operation"));
  CHECK(tells(again(launch(rt, one(), use_task)), "an asynchronous operation"));
  CHECK(tells(again(strategy.async_run(size_of_hand, std::tuple(deal()), use_task)),
              "an asynchronous operation"));
}

TEST_CASE_METHOD(fixture,
                 "a run of a graph is awaited once, and the graph run as often as wanted") {
  int taken = 0;
  step_graph graph;
  CHECK(tells(again(run(graph)), "a run() of a graph"));  // Without a step, too.
  graph.add([&] { ++taken; });
  CHECK(tells(again(run(graph)), "a run() of a graph"));
  CHECK_NOTHROW(block_on(rt, run(graph)));
  CHECK(taken == 2);
}

TEST_CASE_METHOD(fixture, "a sleep is awaited once") {
  CHECK(tells(again(sleep_for(1ns)), "a sleep_for()"));
}

task<> tell_later(reply<int> to) {
  co_await sleep_for(1ns);
  to.set(3);
}
task<int> wait_for(answer<int>* number) { co_return co_await *number; }

task<std::exception_ptr> ask_twice() {
  answer<int> number;
  number.to().set(3);
  co_await number;
  co_return co_await outcome_of(wait_for(&number));
}

task<std::exception_ptr> ask_twice_and_wait() {
  answer<int> number;
  co_await when_all(wait_for(&number), tell_later(number.to()));
  co_return co_await outcome_of(wait_for(&number));
}

TEST_CASE_METHOD(fixture, "a reply is awaited once") {
  CHECK(tells(block_on(rt, ask_twice()), "a reply"));
  CHECK(tells(block_on(rt, ask_twice_and_wait()), "a reply"));
}

task<std::exception_ptr> ask_side_by_side() {
  answer<int> number;
  auto [first, second, none] =
      co_await when_all(wait_for(&number), outcome_of(wait_for(&number)), tell_later(number.to()));
  static_cast<void>(none);
  if (first != 3) co_return nullptr;
  co_return second;
}

TEST_CASE_METHOD(fixture, "who awaits a reply first gets it, whoever else awaits it meanwhile") {
  CHECK(tells(block_on(rt, ask_side_by_side()), "a reply"));
}

using each_its_own = variable<int, no_aggregation>;

task<std::exception_ptr> add_twice(replica_context ctx, each_its_own v) {
  co_return co_await await_twice(v.assign_add(ctx, 1));
}

TEST_CASE_METHOD(fixture, "an operation on a variable is awaited once, and done once") {
  const each_its_own v(strategy, 3);
  CHECK(tells(again(v.assign_add(1)), "an operation on variables"));
  CHECK(tells(moved_away(v.assign_add(1)), "an operation on variables"));
  CHECK(tells(again(v.read()), "an operation on variables"));
  for (const auto& thrown : block_on(rt, strategy.run(add_twice, v))) {
    CHECK(tells(thrown, "a write to a variable"));
  }
  CHECK(block_on(rt, v.components()) == per_replica<int>({6, 6}));
}

task<std::exception_ptr> end_then_give(runtime* rt) {
  task<int> once = one();
  static_cast<void>(co_await std::move(once));
  task<int> ended = std::move(once);  // NOLINT(bugprone-use-after-move)
  co_return co_await outcome_of(launch(*rt, std::move(ended), use_task));
}

task<std::exception_ptr> end_then_branch() {
  task<int> once = one();
  static_cast<void>(co_await std::move(once));
  co_return co_await outcome_of(when_all(one(), std::move(once)));
}

TEST_CASE_METHOD(fixture, "a task that has ended is no branch, and not launched") {
  CHECK(is(block_on(rt, end_then_branch()), errc::empty_task));
  CHECK(is(block_on(rt, end_then_give(&rt)), errc::empty_task));
}

task<std::exception_ptr> awaits_twice(replica_context ctx) {
  if (ctx.replica_id() == 0) co_return nullptr;
  co_return co_await await_twice(when_all(one(), one()));
}

TEST_CASE_METHOD(fixture, "who awaited it again is told, and where") {
  const auto thrown = block_on(rt, strategy.run(awaits_twice));
  const auto e = as<error>(thrown[1]);
  REQUIRE(e);
  CHECK(e->facts().note ==
        "awaited by replica/1 at awaited_before.test.cpp:" + std::to_string(awaited_again_at));
}

}  // namespace
}  // namespace troupe::test
