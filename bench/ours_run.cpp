// ours_run.cpp - run(empty coroutine): from inside a task on the caller's thread, and by a thread
// that is none of a pool's, whose own threads sleep.

#include <asio/io_context.hpp>
#include <thread>
#include <troupe/troupe.hpp>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

task<> touch_once(replica_context ctx, replica_slot* slots) {
  ++slots[ctx.replica_id()].runs;
  co_return;
}

task<> run_often(mirrored_strategy* strategy, replica_slot* slots, std::uint64_t runs,
                 stopwatch* watch) {
  for (std::uint64_t run = 0; run < warm_up_rounds; ++run) {
    co_await strategy->run(touch_once, slots);
  }
  watch->start();
  for (std::uint64_t run = 0; run < runs; ++run) {
    co_await strategy->run(touch_once, slots);
  }
  watch->stop();
}

double run_from_a_task(std::size_t replicas, std::uint64_t runs) {
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, static_cast<int>(replicas)};
  replica_slots slots(replicas);
  stopwatch watch;
  block_on(rt, run_often(&strategy, slots.data(), runs, &watch));
  expect_every_slot(slots, warm_up_rounds + runs);
  return watch.nanoseconds();
}

double run_beside_sleepers(std::uint64_t runs) {
  constexpr std::size_t replicas = 2;
  runtime rt{pool_size{2}.with_waiters()};
  mirrored_strategy strategy{rt, static_cast<int>(replicas)};
  replica_slots slots(replicas);
  double all = 0;
  for (std::uint64_t run = 0; run < warm_up_rounds + runs; ++run) {
    std::this_thread::sleep_for(long_enough_to_sleep);
    stopwatch watch;
    watch.start();
    block_on(rt, strategy.run(touch_once, slots.data()));
    watch.stop();
    if (run >= warm_up_rounds) all += watch.nanoseconds();
  }
  expect_every_slot(slots, warm_up_rounds + runs);
  return all;
}

}  // namespace

void add_our_run_beside_sleepers(table& contest) {
  contest.contenders.push_back({"troupe", run_beside_sleepers, runs_beside_sleepers});
}

void add_our_run(table& contest, std::size_t replicas) {
  contest.contenders.push_back(
      {"troupe", [replicas](std::uint64_t runs) { return run_from_a_task(replicas, runs); }});
}

}  // namespace troupe::bench
