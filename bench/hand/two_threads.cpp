// two_threads.cpp - the limit of a merge_call round on two threads: each resumes its half of the
// coroutines, and the two meet by looking at each other's count.
//
// Neither ever sleeps: when one loses its processor to a neighbour, the other one looks on for a
// turn of the system's scheduler.

#include <atomic>
#include <thread>
#include <vector>

#include "bench/contenders.hpp"
#include "bench/hand/coroutine.hpp"

namespace troupe::bench {

namespace {

/// On lines of cache of their own.
struct alignas(128) round_count {
  std::atomic<std::uint64_t> rounds{0};

  void show(std::uint64_t done) noexcept { rounds.store(done, std::memory_order_release); }
  void await(std::uint64_t wanted) const noexcept {
    while (rounds.load(std::memory_order_acquire) != wanted) {
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  }
};

struct meeting {
  round_count arrived;   // Of the second thread.
  round_count released;  // By the first thread, which merges.
  alignas(128) std::uint64_t merges = 0;
};

hand_coroutine step_for_ever(std::uint64_t* steps) {
  for (;;) {
    ++*steps;
    co_await std::suspend_always();
  }
}

/// What one thread does; returns the steps its coroutines took.
template <class Rendezvous>
std::uint64_t resume_in_rounds(std::size_t coroutines, std::uint64_t rounds, Rendezvous meet) {
  std::uint64_t steps = 0;
  std::vector<hand_coroutine> frames;
  frames.reserve(coroutines);
  for (std::size_t i = 0; i < coroutines; ++i) frames.push_back(step_for_ever(&steps));
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (const hand_coroutine& frame : frames) frame.resume();
    meet(round);
  }
  return steps;
}

double run_rendezvous(std::size_t participants, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  meeting place;
  stopwatch watch;
  std::uint64_t others_steps = 0;
  std::thread other([&] {
    others_steps = resume_in_rounds(participants / 2, rounds, [&](std::uint64_t round) {
      place.arrived.show(round);
      place.released.await(round);
    });
  });
  const std::uint64_t steps =
      resume_in_rounds(participants - participants / 2, rounds, [&](std::uint64_t round) {
        place.arrived.await(round);
        ++place.merges;
        place.released.show(round);
        if (round == warm_up_rounds) watch.start();
      });
  watch.stop();
  other.join();
  expect_equal("merges", place.merges, rounds);
  expect_equal("steps", steps + others_steps, participants * rounds);
  return watch.nanoseconds();
}

/// Each sleeps until the other has counted on: std::atomic waits with a futex where there is one.
double wake_a_sleeper(std::uint64_t times) {
  const std::uint64_t end = warm_up_rounds + times;
  round_count asked;
  round_count answered;
  std::thread sleeper([&] {
    for (std::uint64_t i = 1; i <= end; ++i) {
      asked.rounds.wait(i - 1);
      answered.show(i);
      answered.rounds.notify_one();
    }
  });
  double all = 0;
  for (std::uint64_t i = 1; i <= end; ++i) {
    std::this_thread::sleep_for(long_enough_to_sleep);
    stopwatch watch;
    watch.start();
    asked.show(i);
    asked.rounds.notify_one();
    answered.rounds.wait(i - 1);
    watch.stop();
    if (i > warm_up_rounds) all += watch.nanoseconds();
  }
  sleeper.join();
  expect_equal("answers", answered.rounds, end);
  return all;
}

}  // namespace

void add_sleeping_thread(table& contest) {
  contest.contenders.push_back({"sleeping_thread", wake_a_sleeper, runs_beside_sleepers});
}

void add_hand_rendezvous(table& contest, std::size_t participants) {
  contest.contenders.push_back({"hand_rendezvous", [participants](std::uint64_t rounds) {
                                  return run_rendezvous(participants, rounds);
                                }});
}

}  // namespace troupe::bench
