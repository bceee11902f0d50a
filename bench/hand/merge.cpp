// merge.cpp - the limits of a merge_call round on one thread.

#include <numeric>
#include <vector>

#include "bench/contenders.hpp"
#include "bench/hand/barrier.hpp"
#include "bench/hand/coroutine.hpp"

namespace troupe::bench {

namespace {

struct count_round {
  std::uint64_t& rounds;
  void operator()() const noexcept { ++rounds; }
};

hand_coroutine meet(hand_barrier<count_round>& barrier, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    co_await barrier.arrive();
  }
}

// Participant 0: the frames of all others stay as small as they can be.
hand_coroutine meet_and_time(hand_barrier<count_round>& barrier, std::uint64_t rounds,
                             stopwatch& watch) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (round == warm_up_rounds) {
      watch.start();
    }
    co_await barrier.arrive();
  }
  watch.stop();
}

// The merge counts and nothing else.
double run_barrier(std::size_t participants, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  std::uint64_t merged = 0;
  stopwatch watch;
  hand_barrier barrier(participants, count_round{merged});
  std::vector<hand_coroutine> frames;
  frames.reserve(participants);
  frames.push_back(meet_and_time(barrier, rounds, watch));
  while (frames.size() < participants) {
    frames.push_back(meet(barrier, rounds));
  }
  for (const hand_coroutine& frame : frames) {
    frame.resume();
  }
  barrier.finish();
  expect_equal("merges", merged, rounds);
  return watch.nanoseconds();
}

struct exchange {
  std::vector<std::uint64_t> values;
  std::uint64_t sum = 0;
};

struct sum_values {
  exchange& shared;
  void operator()() const noexcept {
    shared.sum = std::accumulate(shared.values.begin(), shared.values.end(), std::uint64_t{0});
  }
};

hand_coroutine meet_with_value(hand_barrier<sum_values>& barrier, exchange& shared, std::size_t id,
                               std::uint64_t rounds, std::uint64_t& total, stopwatch& watch) {
  const std::uint64_t value = replica_value(id);
  std::uint64_t met = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (id == 0 && round == warm_up_rounds) {
      watch.start();
    }
    shared.values[id] = value;
    co_await barrier.arrive();
    met += shared.sum;
  }
  if (id == 0) {
    watch.stop();
  }
  total += met;
}

// A value per participant, their sum for everybody: what a merge_call is for.
double run_barrier_with_values(std::size_t participants, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  exchange shared;
  shared.values.resize(participants);
  std::uint64_t total = 0;
  stopwatch watch;
  hand_barrier barrier(participants, sum_values{shared});
  std::vector<hand_coroutine> frames;
  frames.reserve(participants);
  for (std::size_t id = 0; id < participants; ++id) {
    frames.push_back(meet_with_value(barrier, shared, id, rounds, total, watch));
  }
  for (const hand_coroutine& frame : frames) {
    frame.resume();
  }
  barrier.finish();
  expect_equal("sum of sums", total, participants * rounds * sum_of_values(participants));
  return watch.nanoseconds();
}

hand_coroutine step_for_ever(std::uint64_t& steps) {
  for (;;) {
    ++steps;
    co_await std::suspend_always();
  }
}

// No barrier at all: one loop resumes every coroutine once a round.
double run_resume_loop(std::size_t participants, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  std::uint64_t steps = 0;
  std::vector<hand_coroutine> frames;
  frames.reserve(participants);
  for (std::size_t id = 0; id < participants; ++id) {
    frames.push_back(step_for_ever(steps));
  }
  stopwatch watch;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (round == warm_up_rounds) {
      watch.start();
    }
    for (const hand_coroutine& frame : frames) {
      frame.resume();
    }
  }
  watch.stop();
  expect_equal("steps", steps, participants * rounds);
  return watch.nanoseconds();
}

}  // namespace

void add_hand_barriers(table& contest, std::size_t participants) {
  contest.contenders.push_back({"hand_barrier", [participants](std::uint64_t rounds) {
                                  return run_barrier(participants, rounds);
                                }});
  contest.contenders.push_back({"hand_barrier_with_values", [participants](std::uint64_t rounds) {
                                  return run_barrier_with_values(participants, rounds);
                                }});
  contest.contenders.push_back({"hand_resume_loop", [participants](std::uint64_t rounds) {
                                  return run_resume_loop(participants, rounds);
                                }});
}

std::size_t hand_frame_bytes() {
  std::uint64_t merged = 0;
  hand_barrier barrier(2, count_round{merged});
  const hand_coroutine frame = meet(barrier, 1);
  return heap_footprint(frame.handle().address());
}

}  // namespace troupe::bench
