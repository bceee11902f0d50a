// Steps that say what they read and write: which come after which, that a graph is kept, and that
// a plan has the same bits in every order its edges leave open.

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <random>
#include <span>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/heap_count.hpp"
#include "troupe/runtime/step_graph.hpp"

namespace troupe::test {
namespace {

using ids = std::vector<step_graph::id>;

task<> run_all(step_graph* graph) { co_await run(*graph); }

TEST_CASE("a step waits for those that write what it reads or writes, or read what it writes") {
  std::array<int, 4> memory{};
  const std::span<int> all(memory);
  step_graph graph;
  const auto nothing = [] {};
  graph.add(nothing, memory_use().writes(all.first(2)));                        // 0
  graph.add(nothing, memory_use().writes(all.last(2)));                         // 1
  graph.add(nothing, memory_use().reads(all.subspan(1, 2)));                    // 2
  graph.add(nothing, memory_use().reads(all.first(2)));                         // 3
  graph.add(nothing, memory_use().writes(all.first(1)));                        // 4
  graph.add(nothing, memory_use().reads(all.first(0)).writes(all.subspan(4)));  // 5
  graph.add(nothing);                                                           // 6
  graph.add(nothing, memory_use().writes(all));                                 // 7
  CHECK(graph.steps()[0].predecessors.empty());
  CHECK(graph.steps()[1].predecessors.empty());
  CHECK(graph.steps()[2].predecessors == ids{1, 0});
  CHECK(graph.steps()[3].predecessors == ids{0});
  CHECK(graph.steps()[4].predecessors == ids{3});
  CHECK(graph.steps()[5].predecessors.empty());
  CHECK(graph.steps()[6].predecessors.empty());
  CHECK(graph.steps()[7].predecessors == ids{4, 2});
}

exploration explore_orders(const simulation::program& body) {
  simulation_options options;
  options.samples = 0;
  options.heed_environment = false;
  const exploration report = simulation(options).explore(body);
  INFO(report.text());
  REQUIRE(report.passed());
  REQUIRE(report.complete);
  return report;
}

TEST_CASE("steps that write memory of their own, and read the same, have one order") {
  const auto body = [](world& w) -> task<> {
    std::array<int, 4> in{1, 2, 3, 4};
    std::array<int, 4> out{};
    step_graph graph;
    for (std::size_t i = 0; i < 4; ++i) {
      graph.add([&, i] { out[i] = in[i] + in[0]; },
                memory_use().reads(in).writes(&out[i], sizeof(int)));
    }
    graph.add([&] { out[0] += out[1] + out[2] + out[3]; }, memory_use().writes(out));
    co_await run(graph);
    w.check(out[0] == 14, "the sum of all");
  };
  CHECK(explore_orders(body).orders == 1);
}

TEST_CASE("steps that say nothing of memory are tried before and after those that do") {
  int results = 0;
  // coroutine-form: explore() keeps the lambda until its last run has ended
  const auto body = [&results](world&) -> task<> {
    int value = 1;
    step_graph graph;
    graph.add([&] { value += 1; }, memory_use().writes(&value, sizeof value));
    graph.add([&] { value *= 10; });
    co_await run(graph);
    results |= value == 20 ? 1 : 2;
  };
  explore_orders(body);
  CHECK(results == 3);
}

TEST_CASE("an edge by hand orders steps that say nothing of each other's memory") {
  int results = 0;
  // coroutine-form: explore() keeps the lambda until its last run has ended
  const auto body = [&results](world&) -> task<> {
    int value = 1;
    step_graph graph;
    const auto first = graph.add([&] { value += 1; });
    const auto second = graph.add([&] { value *= 10; }, memory_use().writes(&value, sizeof value));
    graph.precede(first, second);
    co_await run(graph);
    results |= value == 20 ? 1 : 2;
  };
  explore_orders(body);
  CHECK(results == 1);
}

/// The fewest calls of ten runs: queues between threads may still grow.
task<> run_often(step_graph* graph, std::size_t* calls) {
  for (int i = 0; i < 20; ++i) {
    const std::size_t before = heap_calls.load();
    for (int k = 0; k < 10; ++k) co_await run(*graph);
    *calls = std::min(*calls, heap_calls.load() - before);
  }
}

TEST_CASE("steady: a graph that is run again asks the heap for nothing") {
  for (const std::size_t threads : {0u, 1u, 2u, 4u}) {
    INFO(threads << " threads");
    asio::io_context io;
    runtime rt = threads == 0 ? runtime(io.get_executor()) : runtime(pool_size{threads});
    std::array<int, 16> memory{};
    step_graph graph;
    for (int& each : memory) graph.add([&] { ++each; }, memory_use().writes(&each, sizeof each));
    graph.add([&] { memory[0] += memory[15]; }, memory_use().writes(memory));
    std::size_t calls = 1;
    block_on(rt, run_often(&graph, &calls));
    CHECK(calls == 0);
    CHECK(memory[15] == 200);
    CHECK(memory[0] == 200 + 200 * 201 / 2);
  }
}

TEST_CASE("a step added after a run takes part in the next one, in its place") {
  runtime rt{pool_size{2}};
  std::vector<int> order;
  step_graph graph;
  graph.add([&] { order.push_back(0); }, memory_use().writes(&order, sizeof order));
  block_on(rt, run_all(&graph));
  graph.add([&] { order.push_back(1); }, memory_use().writes(&order, sizeof order));
  block_on(rt, run_all(&graph));
  CHECK(order == std::vector<int>{0, 0, 1});
}

TEST_CASE("a step that failed once may succeed in the next run") {
  runtime rt{pool_size{2}};
  bool bad = true;
  int after = 0;
  step_graph graph;
  graph.add(
      [&] {
        if (bad) throw std::runtime_error("once");
      },
      memory_use().writes(&bad, 1));
  graph.add([&] { ++after; }, memory_use().reads(&bad, 1));
  CHECK_THROWS_AS(block_on(rt, run_all(&graph)), std::runtime_error);
  CHECK(after == 0);
  bad = false;
  block_on(rt, run_all(&graph));
  CHECK(after == 1);
}

// -- the same bits --------------------------------------------------------------------------------

/// The mean of several replicas' numbers by halves, (v0 + v1) + (v2 + v3), chunk by chunk: the
/// shape is the replicas' and no order's. Each run starts from the inputs.
class halving_plan {
 public:
  halving_plan(std::size_t replicas, std::size_t length, std::size_t chunk) {
    for (std::size_t r = 0; r < replicas; ++r) {
      in_.emplace_back(length);
      work_.emplace_back(length);
      for (std::size_t j = 0; j < length; ++j) {
        in_[r][j] = 0.1f * static_cast<float>((j * 31 + r * 17) % 101) - 3.3f;
      }
    }
    // Of all chunks first the one kind of step, then the other: edges are far from each other.
    each_chunk(chunk, [&](std::size_t first, std::size_t n) { copy(first, n); });
    for (std::size_t half = 1; half < replicas; half *= 2) {
      each_chunk(chunk, [&](std::size_t first, std::size_t n) { add_halves(half, first, n); });
    }
  }

  step_graph& graph() { return graph_; }
  std::vector<std::uint32_t> bits() const {
    std::vector<std::uint32_t> all;
    for (const float each : work_[0]) all.push_back(std::bit_cast<std::uint32_t>(each));
    return all;
  }
  void spoil() {
    for (auto& each : work_) std::fill(each.begin(), each.end(), 7e7f);
  }

 private:
  template <class F>
  void each_chunk(std::size_t chunk, F f) {
    const std::size_t length = in_[0].size();
    for (std::size_t i = 0; i < length; i += chunk) f(i, std::min(chunk, length - i));
  }
  void copy(std::size_t first, std::size_t n) {
    for (std::size_t r = 0; r < in_.size(); ++r) {
      const auto from = std::span(in_[r]).subspan(first, n);
      const auto to = std::span(work_[r]).subspan(first, n);
      graph_.add([from, to] { std::copy(from.begin(), from.end(), to.begin()); },
                 memory_use().reads(from).writes(to));
    }
  }
  void add_halves(std::size_t half, std::size_t first, std::size_t n) {
    for (std::size_t r = 0; r + half < in_.size(); r += 2 * half) {
      const auto left = std::span(work_[r]).subspan(first, n);
      const auto right = std::span(work_[r + half]).subspan(first, n);
      const auto add = [left, right] {
        for (std::size_t j = 0; j < left.size(); ++j) left[j] += right[j];
      };
      graph_.add(add, memory_use().writes(left).reads(right));
    }
  }

  std::vector<std::vector<float>> in_;
  std::vector<std::vector<float>> work_;
  step_graph graph_;
};

std::vector<std::uint32_t> expected_bits(std::size_t replicas, std::size_t length) {
  halving_plan whole(replicas, length, length);
  whole.graph().take_all();
  return whole.bits();
}

/// Takes all steps, each when those before it are taken, otherwise at random.
void take_at_random(step_graph& graph, std::mt19937& random) {
  std::vector<std::size_t> waits_for;
  ids ready;
  for (step_graph::id i = 0; i < graph.size(); ++i) {
    waits_for.push_back(graph.steps()[i].predecessors.size());
    if (waits_for.back() == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const step_graph::id next = ready.back();
    ready.pop_back();
    graph.take(next);
    for (const auto after : graph.steps()[next].successors) {
      if (--waits_for[after] == 0) ready.push_back(after);
    }
  }
}

TEST_CASE("a plan has the same bits in 1,000 orders of its steps, in chunks of any size") {
  std::mt19937 random(7);
  for (const std::size_t replicas : {2u, 3u, 5u, 8u}) {
    const auto expected = expected_bits(replicas, 100);
    for (int i = 0; i < 250; ++i) {
      halving_plan plan(replicas, 100, 3 + random() % 60);
      plan.spoil();
      take_at_random(plan.graph(), random);
      REQUIRE(plan.bits() == expected);
    }
  }
}

TEST_CASE("a plan has the same bits on an executor and on pools of any size, run again and again") {
  const auto expected = expected_bits(5, 3'000);
  for (const std::size_t threads : {0u, 1u, 2u, 4u}) {
    asio::io_context io;
    runtime rt = threads == 0 ? runtime(io.get_executor()) : runtime(pool_size{threads});
    for (const std::size_t chunk : {3'000u, 1'000u, 111u}) {
      halving_plan plan(5, 3'000, chunk);
      for (int i = 0; i < 20; ++i) {
        plan.spoil();
        block_on(rt, run_all(&plan.graph()));
        REQUIRE(plan.bits() == expected);
      }
    }
  }
}

TEST_CASE("a plan has the same bits in 1,000 simulated orders, and they are one partial order") {
  const auto expected = expected_bits(3, 20);
  // coroutine-form: explore() keeps the lambda until its last run has ended
  const auto body = [&](world& w) -> task<> {
    halving_plan plan(3, 20, 7);
    plan.spoil();
    co_await run(plan.graph());
    w.check(plan.bits() == expected, "the same bits");
  };
  simulation_options drawn;
  drawn.partial_orders = false;
  explore_seeds(body, 1'000, drawn);
  CHECK(explore_orders(body).orders == 1);
}

}  // namespace
}  // namespace troupe::test
