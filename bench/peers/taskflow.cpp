// taskflow.cpp - a reused Taskflow graph of N tasks, run from inside its one worker.

#include <taskflow/taskflow.hpp>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

double run_corun(std::size_t replicas, std::uint64_t runs) {
  replica_slots slots(replicas);
  tf::Executor executor(1);
  tf::Taskflow graph;
  for (replica_slot& slot : slots) {
    graph.emplace([&slot] { ++slot.runs; });
  }
  stopwatch watch;
  executor
      .async([&] {
        watch.start();
        for (std::uint64_t run = 0; run < runs; ++run) {
          executor.corun(graph);
        }
        watch.stop();
      })
      .get();
  expect_every_slot(slots, runs);
  return watch.nanoseconds();
}

}  // namespace

void add_taskflow_run(table& contest, std::size_t replicas) {
  contest.contenders.push_back(
      {"taskflow_corun", [replicas](std::uint64_t runs) { return run_corun(replicas, runs); }});
}

}  // namespace troupe::bench
