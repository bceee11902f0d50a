// openmp.cpp - OpenMP on two threads: the shape most C++ users have for "meet and merge".
//
// Its threads spin between regions, so each sample ends by giving them back.

#include <omp.h>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

constexpr int threads = 2;

class borrowed_threads {
 public:
  borrowed_threads() = default;
  borrowed_threads(const borrowed_threads&) = delete;
  borrowed_threads& operator=(const borrowed_threads&) = delete;
  ~borrowed_threads() { omp_pause_resource_all(omp_pause_hard); }
};

double run_barrier(std::uint64_t rounds) {
  const borrowed_threads borrowed;
  std::uint64_t merged = 0;
  stopwatch watch;
#pragma omp parallel num_threads(threads)
  {
    for (std::uint64_t round = 0; round < warm_up_rounds + rounds; ++round) {
      if (round == warm_up_rounds && omp_get_thread_num() == 0) {
        watch.start();
      }
#pragma omp barrier
#pragma omp single
      ++merged;
    }
    if (omp_get_thread_num() == 0) {
      watch.stop();
    }
  }
  expect_equal("merges", merged, warm_up_rounds + rounds);
  return watch.nanoseconds();
}

double run_parallel_for(std::size_t replicas, std::uint64_t runs) {
  const borrowed_threads borrowed;
  replica_slots slots(replicas);
  stopwatch watch;
  watch.start();
  for (std::uint64_t run = 0; run < runs; ++run) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t id = 0; id < replicas; ++id) {
      ++slots[id].runs;
    }
  }
  watch.stop();
  expect_every_slot(slots, runs);
  return watch.nanoseconds();
}

}  // namespace

void add_openmp_barrier(table& contest, std::size_t participants) {
  if (participants == threads) {  // One thread each; more would measure the operating system.
    contest.contenders.push_back(
        {"openmp_barrier_2_threads", [](std::uint64_t rounds) { return run_barrier(rounds); }});
  }
}

void add_openmp_run(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"openmp_parallel_for_2_threads", [replicas](std::uint64_t runs) {
                                  return run_parallel_for(replicas, runs);
                                }});
}

}  // namespace troupe::bench
