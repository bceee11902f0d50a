// Where the threads of a pool may run. That they begin apart is the system's to undo at any moment,
// and is measured (bench/run --only A2), not tested.

#if defined(__linux__)

#include <sched.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <thread>
#include <troupe/troupe.hpp>

namespace troupe::test {
namespace {

cpu_set_t allowed() {
  cpu_set_t may;
  CPU_ZERO(&may);
  sched_getaffinity(0, sizeof may, &may);
  return may;
}

/// On how many of so many threads of a pool just what is allowed here is allowed, too.
int threads_like_this(int threads) {
  const cpu_set_t here = allowed();
  runtime rt{pool_size{static_cast<std::size_t>(threads)}};
  const mirrored_strategy strategy{rt, threads};
  const auto alike = [&here](replica_context) {
    const cpu_set_t there = allowed();
    return CPU_EQUAL(&here, &there) ? 1 : 0;
  };
  const per_replica<int> all = block_on(rt, strategy.run(alike));
  int sum = 0;
  for (const int each : all) sum += each;
  return sum;
}

TEST_CASE("a pool's threads may run wherever its maker might") {
  for (const int threads : {1, 2, 5}) CHECK(threads_like_this(threads) == threads);
}

TEST_CASE("where a pool's maker may run on one processor, so may its threads, and no other") {
  int alike = 0;
  std::thread maker([&alike] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) alike = threads_like_this(3);
  });
  maker.join();
  CHECK(alike == 3);
}

}  // namespace
}  // namespace troupe::test

#endif
