// run.cpp - the limits of run(empty replica function) on the caller's thread.

#include <vector>

#include "bench/contenders.hpp"
#include "bench/hand/coroutine.hpp"

namespace troupe::bench {

namespace {

hand_coroutine touch_once(replica_slot& slot) {
  ++slot.runs;
  co_return;
}

// N new frames per run, each resumed once and destroyed at the join.
double run_fresh_coroutines(std::size_t replicas, std::uint64_t runs) {
  replica_slots slots(replicas);
  std::vector<hand_coroutine> frames;
  frames.reserve(replicas);
  stopwatch watch;
  watch.start();
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (replica_slot& slot : slots) {
      frames.push_back(touch_once(slot));
    }
    for (const hand_coroutine& frame : frames) {
      frame.resume();
    }
    frames.clear();
  }
  watch.stop();
  expect_every_slot(slots, runs);
  return watch.nanoseconds();
}

struct hand_over {
  explicit hand_over(std::coroutine_handle<> next) noexcept : to(next) {}

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept { return to; }
  void await_resume() const noexcept {}

  std::coroutine_handle<> to;
};

struct link {
  replica_slot* slot = nullptr;
  std::coroutine_handle<> next;
};

hand_coroutine touch_for_ever(const link& own) {
  for (;;) {
    ++own.slot->runs;
    co_await hand_over(own.next);
  }
}

// The frames live on between the runs; each hands over to the next, the last to the caller.
double run_persistent_chain(std::size_t replicas, std::uint64_t runs) {
  replica_slots slots(replicas);
  std::vector<link> links(replicas);
  std::vector<hand_coroutine> frames;
  frames.reserve(replicas);
  for (std::size_t id = 0; id < replicas; ++id) {
    frames.push_back(touch_for_ever(links[id]));
    links[id].slot = &slots[id];
  }
  for (std::size_t id = 0; id + 1 < replicas; ++id) {
    links[id].next = frames[id + 1].handle();
  }
  links.back().next = std::noop_coroutine();

  stopwatch watch;
  watch.start();
  for (std::uint64_t run = 0; run < runs; ++run) {
    frames.front().resume();
  }
  watch.stop();
  expect_every_slot(slots, runs);
  return watch.nanoseconds();
}

}  // namespace

void expect_every_slot(const replica_slots& slots, std::uint64_t runs) {
  for (const replica_slot& slot : slots) {
    expect_equal("runs of a replica", slot.runs, runs);
  }
}

void add_hand_runs(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"fresh_coroutines", [replicas](std::uint64_t runs) {
                                  return run_fresh_coroutines(replicas, runs);
                                }});
  contest.contenders.push_back({"persistent_chain", [replicas](std::uint64_t runs) {
                                  return run_persistent_chain(replicas, runs);
                                }});
}

}  // namespace troupe::bench
