// Taskflows as operations, on threads: every run completes once, and is over when it has.
//
// Asio's rule holds: the workers go before the context on which handlers are called.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/stress/places.hpp"
#include "tests/support/taskflows.hpp"

namespace troupe::test {
namespace {

/// Tasks in the shape of a diamond, each of which adds one.
void diamond(tf::Taskflow& flow, std::atomic<int>& ran) {
  const auto add = [&ran] { ran.fetch_add(1, std::memory_order_relaxed); };
  tf::Task first = flow.emplace(add), left = flow.emplace(add), right = flow.emplace(add);
  tf::Task last = flow.emplace(add);
  first.precede(left, right);
  last.succeed(left, right);
}

asio::awaitable<void> again_and_again(tf::Executor* workers, tf::Taskflow* flow, int times) {
  for (int i = 0; i < times; ++i) co_await async_run(*workers, *flow, asio::use_awaitable);
}

TEST_CASE("ten thousand runs of one taskflow, one after the other") {
  std::atomic<int> ran{0};
  tf::Taskflow flow;
  diamond(flow, ran);
  asio::io_context io;
  tf::Executor workers(2);
  ending how;
  asio::co_spawn(io, again_and_again(&workers, &flow, 10'000), noting(io, how));
  io.run();
  CHECK(good(how));
  CHECK(ran == 40'000);
}

TEST_CASE("ten thousand runs of one taskflow, asked for at once") {
  std::atomic<int> ran{0};
  tf::Taskflow flow;
  diamond(flow, ran);
  asio::io_context io;
  tf::Executor workers(2);
  int completed = 0, failed = 0;
  for (int i = 0; i < 10'000; ++i) {
    async_run(workers, flow, asio::bind_executor(io, [&](std::exception_ptr e) {
                ++completed;
                if (e) ++failed;
              }));
  }
  io.run();
  CHECK(completed == 10'000);
  CHECK(failed == 0);
  CHECK(ran == 40'000);
}

TEST_CASE("several threads share workers, each with a taskflow of its own") {
  constexpr int clients = 4, times = 1'000;
  std::atomic<int> ran{0};
  std::vector<tf::Taskflow> flows(clients);
  asio::thread_pool threads(2);
  tf::Executor workers(2);
  std::vector<std::future<void>> ends;
  for (tf::Taskflow& flow : flows) {
    diamond(flow, ran);
    ends.push_back(
        asio::co_spawn(threads, again_and_again(&workers, &flow, times), asio::use_future));
  }
  for (auto& end : ends) end.get();
  CHECK(ran == clients * times * 4);
}

task<int> step(replica_context ctx, tf::Executor* workers, std::atomic<int>* ran, int times) {
  tf::Taskflow flow;
  diamond(flow, *ran);
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    co_await async_run(*workers, flow, use_task);
    sum += co_await ctx.all_reduce(reduce_op::sum, 1);
  }
  co_return sum;
}

TEST_CASE("replicas run a taskflow each between their merges, wherever the runtime is") {
  constexpr int replicas = 3, times = 200;
  stress::on_every_place([](runtime& rt, const std::string& name) {
    INFO(name);
    tf::Executor workers(2);
    std::atomic<int> ran{0};
    const mirrored_strategy strategy(rt, replicas);
    const per_replica<int> sums = block_on(rt, strategy.run(step, &workers, &ran, times));
    CHECK(sums[0] == replicas * times);
    CHECK(ran == replicas * times * 4);
  });
}

TEST_CASE("a taskflow may go in its handler, while a worker still leaves it") {
  constexpr int times = 5'000;
  std::atomic<int> ran{0};
  std::atomic<int> completed{0};
  stress::threaded_context context(2);
  tf::Executor workers(2);
  for (int i = 0; i < times; ++i) {
    auto own = std::make_unique<tf::Taskflow>();
    diamond(*own, ran);
    tf::Taskflow& flow = *own;
    async_run(workers, flow,
              asio::bind_executor(context.io(),
                                  [&completed, own = std::move(own)](std::exception_ptr) mutable {
                                    own.reset();
                                    ++completed;
                                    completed.notify_all();
                                  }));
  }
  for (int n = completed; n != times; n = completed) completed.wait(n);
  CHECK(ran == times * 4);
}

TEST_CASE("workers start runs of other taskflows, which they take part in") {
  constexpr int times = 1'000;
  std::atomic<int> ran{0};
  asio::io_context io;
  tf::Executor workers(2);
  int completed = 0;
  tf::Taskflow starter;
  starter.emplace([&] {
    tf::Taskflow flow;
    diamond(flow, ran);
    async_run(workers, std::move(flow),
              asio::bind_executor(io, [&completed](std::exception_ptr) { ++completed; }));
  });
  for (int i = 0; i < times; ++i) async_run(workers, starter, asio::detached);
  workers.wait_for_all();
  io.run();
  CHECK(completed == times);
  CHECK(ran == times * 4);
}

TEST_CASE("a cancellation that races with the end leaves one completion, good or aborted") {
  constexpr int times = 3'000;
  std::atomic<int> ran{0};
  tf::Taskflow flow;
  diamond(flow, ran);
  asio::io_context io;
  tf::Executor workers(2);
  int well = 0, cancelled = 0, completed = 0;
  for (int i = 0; i < times; ++i) {
    asio::cancellation_signal cancel;
    const auto note = [&](std::exception_ptr e) {
      ++completed;
      if (!e) ++well;
      if (aborted(e)) ++cancelled;
    };
    io.restart();
    async_run(workers, flow,
              asio::bind_executor(io, asio::bind_cancellation_slot(cancel.slot(), note)));
    // From none of the tasks to all of them have begun.
    const int before = ran;
    for (int spins = 0; ran < before + i % 5 && spins < 1'000; ++spins) continue;
    cancel.emit(asio::cancellation_type::terminal);
    io.run();
  }
  CHECK(completed == times);
  CHECK(well + cancelled == times);
  CHECK(ran >= well * 4);
}

TEST_CASE("of queued runs that throw none is good") {
  constexpr int times = 2'000;
  tf::Taskflow faulty;
  faulty.emplace([] { throw std::out_of_range("as planned"); });
  asio::io_context io;
  tf::Executor workers(2);
  int thrown = 0, cut_short = 0;
  for (int i = 0; i < times; ++i) {
    async_run(workers, faulty, asio::bind_executor(io, [&](std::exception_ptr e) {
                if (is_a<std::out_of_range>(e)) ++thrown;
                if (aborted(e)) ++cut_short;
              }));
  }
  io.run();
  CHECK(thrown + cut_short == times);
  CHECK(thrown >= 1);
}

}  // namespace
}  // namespace troupe::test
