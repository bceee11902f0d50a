// Bugs of graphs whose edges are given by hand.

#include <atomic>

#include "tests/planted/planted.hpp"
#include "troupe/runtime/step_graph.hpp"

namespace troupe::planted {
namespace {

task<> missing_edge(stage& w) {
  std::atomic<int> value{1};
  step_graph graph;
  graph.add([&] { value = value + 1; });
  graph.add([&] { value = value * 10; });
  co_await run(graph);
  w.check(value == 20, "the addition comes first");
}

task<> join_without_one(stage& w) {
  std::atomic<int> left{0};
  std::atomic<int> right{0};
  std::atomic<int> total{0};
  step_graph graph;
  graph.add([&] { left = 1; });
  const auto second = graph.add([&] { right = 2; });
  const auto join = graph.add([&] { total = left + right; });
  graph.precede(second, join);
  co_await run(graph);
  w.check(total == 3, "both halves are there");
}

}  // namespace

bugs of_graphs() {
  return {
      {"graph: an edge is missing", 1, missing_edge},
      {"graph: a join waits for one of two", 1, join_without_one},
  };
}

}  // namespace troupe::planted
