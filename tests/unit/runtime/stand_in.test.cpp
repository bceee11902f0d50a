// Who waits for a pool whose threads sleep takes their steps while they are short, if that is
// wanted.

#include <algorithm>
#include <asio/post.hpp>
#include <atomic>
#include <barrier>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;
using ids = std::vector<std::thread::id>;

int first_of(const per_replica<int>& values) { return values[0]; }

task<> note_thread(replica_context ctx, ids* seen) {
  co_await ctx.merge_call(first_of, 1);
  seen->at(static_cast<std::size_t>(ctx.replica_id())) = std::this_thread::get_id();
}

/// Long enough for a worker to fall asleep, not for it to stop dozing.
void let_them_sleep() { std::this_thread::sleep_for(500us); }

/// Whether `attempt` is true at last, with a pool of its own each time. A machine that is busy
/// takes the processor from us for as long as a loan lasts, now and then; not a hundred times in a
/// row.
template <class F>
bool at_last(std::size_t threads, F attempt) {
  for (int i = 0; i < 100; ++i) {
    runtime rt{pool_size{threads}.with_waiters()};
    mirrored_strategy strategy{rt, 4};
    ids seen(4);
    block_on(rt, strategy.run(note_thread, &seen));
    let_them_sleep();
    if (attempt(rt, strategy, seen)) return true;
  }
  return false;
}

TEST_CASE("a short run on a pool that sleeps wakes nobody: who waits takes its steps") {
  for (const std::size_t threads : {1u, 2u, 4u}) {
    CHECK(at_last(threads, [](runtime& rt, mirrored_strategy& strategy, ids& seen) {
      const auto before = rt.wake_ups();
      block_on(rt, strategy.run(note_thread, &seen));
      return rt.wake_ups() == before && std::ranges::count(seen, std::this_thread::get_id()) == 4;
    }));
  }
}

TEST_CASE("a pool that was not asked to keeps its steps from those who wait") {
  runtime rt{pool_size{2}};
  mirrored_strategy strategy{rt, 2};
  ids seen(2);
  for (int i = 0; i < 20; ++i) {
    let_them_sleep();
    block_on(rt, strategy.run(note_thread, &seen));
    CHECK(std::ranges::count(seen, std::this_thread::get_id()) == 0);
  }
}

TEST_CASE("where nobody has waited for long, workers sleep until they are woken") {
  CHECK(at_last(2, [](runtime& rt, mirrored_strategy& strategy, ids& seen) {
    std::this_thread::sleep_for(200ms);
    const auto before = rt.wake_ups();
    block_on(rt, strategy.run(note_thread, &seen));
    return rt.wake_ups() > before;
  }));
}

void note_strategy(const std::shared_ptr<std::promise<bool>>& told) {
  told->set_value(has_strategy());
}

TEST_CASE("what is posted to the pool does not see the scope of who waits") {
  CHECK(at_last(2, [](runtime& rt, mirrored_strategy& strategy, ids& seen) {
    const auto in = strategy.scope();
    const auto told = std::make_shared<std::promise<bool>>();
    const auto here = std::make_shared<ids>(1);
    auto answer = told->get_future();
    asio::post(rt.get_executor(), [told, here] {
      here->front() = std::this_thread::get_id();
      note_strategy(told);
    });
    block_on(rt, strategy.run(note_thread, &seen));
    CHECK_FALSE(answer.get());
    return true;
  }));
}

task<> meet_without_awaiting(replica_context, std::barrier<>* all) {
  all->arrive_and_wait();
  co_return;
}

TEST_CASE("replicas that block until the other has come are on threads of their own in time") {
  runtime rt{pool_size{2}.with_waiters()};
  mirrored_strategy strategy{rt, 2};
  ids seen(2);
  std::barrier<> both(2);
  for (int i = 0; i < 30; ++i) {
    block_on(rt, strategy.run(note_thread, &seen));
    let_them_sleep();
    block_on(rt, strategy.run(meet_without_awaiting, &both));
  }
  SUCCEED("nobody waits for ever");
}

task<> work_for(replica_context ctx, std::chrono::microseconds how_long, ids* seen) {
  const auto until = std::chrono::steady_clock::now() + how_long;
  while (std::chrono::steady_clock::now() < until) {
  }
  seen->at(static_cast<std::size_t>(ctx.replica_id())) = std::this_thread::get_id();
  co_return;
}

TEST_CASE("after runs that lasted longer than a wake-up the workers are asked again") {
  runtime rt{pool_size{2}.with_waiters()};
  mirrored_strategy strategy{rt, 2};
  ids seen(2);
  const auto here = std::this_thread::get_id();
  int taken_by_workers = 0;
  for (int i = 0; i < 40; ++i) {
    let_them_sleep();
    block_on(rt, strategy.run(work_for, 200us, &seen));
    taken_by_workers += std::ranges::count(seen, here) == 0 ? 1 : 0;
  }
  CHECK(taken_by_workers >= 10);
}

task<> fail_here(replica_context ctx) {
  if (ctx.replica_id() == 1) throw std::out_of_range("as planned");
  co_await ctx.merge_call(first_of, 1);
}

TEST_CASE("what a replica throws on a borrowed line reaches who waits") {
  runtime rt{pool_size{2}.with_waiters()};
  mirrored_strategy strategy{rt, 2};
  ids seen(2);
  for (int i = 0; i < 20; ++i) {
    let_them_sleep();
    CHECK_THROWS_AS(block_on(rt, strategy.run(fail_here)), std::out_of_range);
    let_them_sleep();
    block_on(rt, strategy.run(note_thread, &seen));
  }
}

task<> blocks_inside(replica_context, runtime* rt) {
  block_on(*rt, [](int) -> task<> { co_return; }(0));
  co_return;
}

TEST_CASE("a replica on a borrowed line that blocks is told so") {
  runtime rt{pool_size{2}.with_waiters()};
  mirrored_strategy strategy{rt, 2};
  for (int i = 0; i < 20; ++i) {
    let_them_sleep();
    CHECK(
        is(thrown_by([&] { block_on(rt, strategy.run(blocks_inside, &rt)); }), errc::would_block));
  }
}

task<> run_graph(step_graph& graph) { co_await run(graph); }

task<> nothing() { co_return; }

// A pool of its own each time: an earlier graph, whose last worker has not come yet because the
// machine is busy, would be in the way, and then a graph is run by who starts it.
TEST_CASE("a graph with an order that starts on a borrowed line is run by the workers") {
  for (int i = 0; i < 20; ++i) {
    runtime rt{pool_size{2}.with_waiters()};
    block_on(rt, nothing());
    let_them_sleep();
    step_graph graph;
    std::atomic<int> before{0};
    std::atomic<bool> in_order{true};
    std::atomic<bool> by_workers{true};
    const auto count = [&, here = std::this_thread::get_id()] {
      if (std::this_thread::get_id() == here) by_workers = false;
      ++before;
    };
    for (int k = 0; k < 8; ++k) graph.add(count);
    const auto last = graph.add([&] { in_order = before == 8; });
    for (step_graph::id k = 0; k < last; ++k) graph.precede(k, last);
    block_on(rt, run_graph(graph));
    CHECK(in_order);
    CHECK(by_workers);
  }
}

task<> step_for_a_while(replica_context ctx, std::latch* begun) {
  if (ctx.replica_id() == 0) begun->count_down();
  for (;;) co_await ctx.merge_call(first_of, 1);
}

TEST_CASE("a runtime that is closed while somebody stands in ends what he waits for") {
  for (int i = 0; i < 20; ++i) {
    runtime rt{pool_size{2}.with_waiters()};
    mirrored_strategy strategy{rt, 2};
    ids seen(2);
    block_on(rt, strategy.run(note_thread, &seen));
    let_them_sleep();
    std::latch begun(1);
    const auto closed = std::async(std::launch::async, [&] {
      begun.wait();
      if (i % 2 != 0) let_them_sleep();
      rt.state()->close();
    });
    CHECK(is(thrown_by([&] { block_on(rt, strategy.run(step_for_a_while, &begun)); }),
             errc::runtime_gone));
  }
}

}  // namespace
}  // namespace troupe::test
