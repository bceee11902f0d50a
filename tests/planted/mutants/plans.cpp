// Graphs whose steps say what they read and write.

#include <array>
#include <atomic>

#include "tests/planted/mutants/programs.hpp"
#include "troupe/runtime/step_graph.hpp"

namespace troupe::planted {

task<> read_then_overwritten(stage& w) {
  std::atomic<int> in{1};
  std::atomic<int> out{0};
  step_graph graph;
  graph.add([&] { out = in.load(); }, memory_use().reads(&in, sizeof in).writes(&out, sizeof out));
  graph.add([&] { in = 10; }, memory_use().writes(&in, sizeof in));
  co_await run(graph);
  w.check(out == 1, "what is overwritten was read before");
}

task<> halves_that_overlap(stage& w) {
  std::array<std::atomic<int>, 3> all{};
  step_graph graph;
  graph.add([&] { all[0] = all[1] = 1; }, memory_use().writes(&all[0], 2 * sizeof all[0]));
  graph.add([&] { all[1] = all[2] = 2; }, memory_use().writes(&all[1], 2 * sizeof all[0]));
  co_await run(graph);
  w.check(all[1] == 2, "the middle is what was written last");
}

task<> result_of_two_steps(stage& w) {
  std::atomic<int> left{0};
  std::atomic<int> right{0};
  std::atomic<int> total{0};
  step_graph graph;
  graph.add([&] { left = 1; }, memory_use().writes(&left, sizeof left));
  graph.add([&] { right = 2; }, memory_use().writes(&right, sizeof right));
  graph.add([&] { total = left + right; },
            memory_use().reads(&left, sizeof left).reads(&right, sizeof right));
  co_await run(graph);
  w.check(total == 3, "both are there");
}

}  // namespace troupe::planted
