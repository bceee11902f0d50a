// A graph of steps: the edges hold, everything runs once, failures are told in order.

#include "troupe/runtime/step_graph.hpp"

#include <asio/io_context.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

task<> run_all(step_graph& graph) { co_await run(graph); }

/// `width` steps between a first and a last one.
void fan(step_graph& graph, std::size_t width, std::vector<std::atomic<int>>& runs,
         std::atomic<bool>& in_order) {
  const auto first = graph.add([&] { ++runs[0]; });
  const auto last = width + 1;
  for (std::size_t i = 1; i <= width; ++i) {
    graph.add([&, i] {
      if (runs[0] != 1) in_order = false;
      ++runs[i];
    });
  }
  graph.add([&, width] {
    for (std::size_t i = 1; i <= width; ++i) {
      if (runs[i] != 1) in_order = false;
    }
    ++runs[width + 1];
  });
  for (std::size_t i = 1; i <= width; ++i) {
    graph.precede(first, i);
    graph.precede(i, last);
  }
}

TEST_CASE("every step runs once, after those before it, on an executor and on pools") {
  for (const std::size_t threads : {0u, 1u, 2u, 4u}) {
    asio::io_context io;
    runtime rt = threads == 0 ? runtime(io.get_executor()) : runtime(pool_size{threads});
    for (int repeat = 0; repeat < 50; ++repeat) {
      step_graph graph;
      std::vector<std::atomic<int>> runs(22);
      std::atomic<bool> in_order{true};
      fan(graph, 20, runs, in_order);
      block_on(rt, run_all(graph));
      CHECK(in_order);
      for (const auto& r : runs) CHECK(r == 1);
    }
  }
}

TEST_CASE("an order that a graph cannot have is refused, and changes nothing") {
  step_graph graph;
  std::string order;
  const auto first = graph.add([&] { order += 'a'; });
  const auto second = graph.add([&] { order += 'b'; });
  const auto refused = [&](step_graph::id before, step_graph::id after) {
    return is(thrown_by([&] { graph.precede(before, after); }), errc::invalid_step);
  };
  CHECK(refused(first, 2));
  CHECK(refused(2, first));
  CHECK(refused(7, 3));
  CHECK(refused(first, std::numeric_limits<step_graph::id>::max()));
  CHECK(refused(first, first));
  CHECK(refused(second, first));
  for (const auto& step : graph.steps())
    CHECK((step.successors.empty() && step.predecessors.empty()));
  graph.precede(first, second);
  asio::io_context io;
  runtime rt(io.get_executor());
  block_on(rt, run_all(graph));
  CHECK(order == "ab");
}

TEST_CASE("a simulation tries every order that the edges leave open") {
  std::set<std::string> orders;  // Some runs are made twice.
  // coroutine-form: explore() keeps the lambda until its last run has ended
  const auto report = explore_all([&](world&) -> task<> {
    step_graph graph;
    std::string order;
    for (const char name : {'a', 'b', 'c'}) {
      graph.add([&order, name] { order += name; });
    }
    graph.precede(0, 2);
    co_await run(graph);
    orders.insert(order);
  });
  CHECK(report.schedules == 3);
  CHECK(orders.size() == 3);
  for (const auto& order : orders) CHECK(order.find('a') < order.find('c'));
}

TEST_CASE("a missing edge is found: two orders give two results") {
  const auto body = [](world& w) -> task<> {
    step_graph graph;
    int value = 1;
    graph.add([&] { value += 1; });
    graph.add([&] { value *= 10; });
    co_await run(graph);
    w.check(value == 20, "the addition comes first");
  };
  explore_to_failure(body);
}

TEST_CASE("the failure of the step added first is thrown, later steps of its chain do not run") {
  for (const std::size_t threads : {0u, 2u}) {
    asio::io_context io;
    runtime rt = threads == 0 ? runtime(io.get_executor()) : runtime(pool_size{threads});
    step_graph graph;
    bool ran = false;
    const auto bad = graph.add([] { throw std::runtime_error("first"); });
    graph.add([] { throw std::logic_error("second"); });
    const auto after = graph.add([&] { ran = true; });
    graph.precede(bad, after);
    CHECK_THROWS_AS(block_on(rt, run_all(graph)), std::runtime_error);
    CHECK_FALSE(ran);
  }
}

task<> two_graphs(step_graph& a, step_graph& b) {
  auto both = co_await when_all(run_all(a), run_all(b));
  static_cast<void>(both);
}

TEST_CASE("two graphs at the same time on one pool both end") {
  runtime rt{pool_size{2}};
  std::atomic<int> steps{0};
  step_graph a, b;
  for (int i = 0; i < 100; ++i) {
    a.add([&] { ++steps; });
    b.add([&] { ++steps; });
  }
  block_on(rt, two_graphs(a, b));
  CHECK(steps == 200);
}

task<std::vector<float>> reduced(replica_context ctx, std::size_t length) {
  std::vector<float> mine(length);
  for (std::size_t j = 0; j < length; ++j) {
    mine[j] = 0.1f * static_cast<float>((j * 7 + static_cast<std::size_t>(ctx.replica_id())) % 31);
  }
  co_return co_await ctx.all_reduce(reduce_op::mean, std::move(mine));
}

TEST_CASE("a large reduction has the same bits in line, as a graph, and in any order of steps") {
  const std::size_t length = 60'000;
  asio::io_context io;
  runtime single{io.get_executor()};
  mirrored_strategy strategy(single, 3);
  const auto expected = block_on(single, strategy.run(reduced, length))[0];
  for (const std::size_t threads : {1u, 2u, 4u}) {
    runtime pool{pool_size{threads}};
    mirrored_strategy pooled(pool, 3);
    for (const auto& mine : block_on(pool, pooled.run(reduced, length))) CHECK(mine == expected);
  }
  explore_seeds(
      // coroutine-form: explore() keeps the lambda until its last run has ended
      [&](world& w) -> task<> {
        mirrored_strategy simulated(w.runtime(), 3);
        const auto r = co_await simulated.run(reduced, length);
        w.check(r[2] == expected, "the same bits");
      },
      20);
}

}  // namespace
}  // namespace troupe::test
