// tbb.cpp - N calls spread over TBB's threads.

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

double run_parallel_for(std::size_t replicas, std::uint64_t runs) {
  replica_slots slots(replicas);
  stopwatch watch;
  watch.start();
  for (std::uint64_t run = 0; run < runs; ++run) {
    tbb::parallel_for(
        std::size_t{0}, replicas, [&slots](std::size_t id) { ++slots[id].runs; },
        tbb::static_partitioner());
  }
  watch.stop();
  expect_every_slot(slots, runs);
  return watch.nanoseconds();
}

}  // namespace

void add_tbb_run(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"tbb_parallel_for", [replicas](std::uint64_t runs) {
                                  return run_parallel_for(replicas, runs);
                                }});
}

}  // namespace troupe::bench
