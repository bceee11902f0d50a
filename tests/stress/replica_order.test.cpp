// Replicas that take turns, on real threads: one journal without a lock, the same everywhere.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/stress/places.hpp"
#include "tests/support/turns.hpp"

namespace {

using namespace troupe;
using namespace troupe::test;

/// How a run goes: its journal, and how it ends.
std::string course_of(runtime& rt, int replicas, turn_plan p) {
  mirrored_strategy strategy{rt, replicas, in_turns};
  std::string ends = "good";
  try {
    block_on(rt, strategy.run(in_turn, &p));
  } catch (...) {
    ends = told(std::current_exception());
  }
  return p.journal + "; " + ends;
}

struct trial {
  int replicas;
  turn_plan plan;
  std::string course;  ///< On one thread.
};

std::vector<trial> draw_trials(int count) {
  std::mt19937 random(11);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  asio::io_context io;
  runtime rt{io.get_executor()};
  std::vector<trial> trials;
  for (int i = 0; i < count; ++i) {
    trial t;
    t.replicas = 1 + below(5);
    t.plan.merges = below(6);
    t.plan.after = below(6);
    if (below(3) == 0) t.plan.fails = below(t.replicas);
    if (below(3) == 0) t.plan.returns = below(t.replicas);
    if (below(4) == 0) t.plan.sleep = std::chrono::microseconds(1);
    t.plan.merge_throws = below(8) == 0;
    t.course = course_of(rt, t.replicas, t.plan);
    trials.push_back(t);
  }
  return trials;
}

}  // namespace

TEST_CASE("a run in turns goes on threads as it goes on one, whatever becomes of it") {
  const std::vector<trial> trials = draw_trials(200);
  stress::on_every_place([&](runtime& rt, const std::string& place) {
    INFO(place);
    for (const trial& t : trials) {
      const std::string course = course_of(rt, t.replicas, t.plan);
      if (course != t.course) CHECK(course == t.course);
    }
  });
}

namespace {

/// Merges without end. The count is no atomic: replicas never run at the same time.
task<int> count_turns(replica_context ctx, long* turns, std::atomic<int>* progress) {
  for (;;) {
    ++*turns;
    if (ctx.replica_id() == 0) progress->fetch_add(1, std::memory_order_relaxed);
    try {
      co_await ctx.merge_call([] {});
    } catch (...) {
      ++*turns;
      throw;
    }
  }
}

task<int> good_step(replica_context ctx) {
  const auto first = [](const per_replica<int>& values) { return values[0]; };
  co_return co_await ctx.merge_call(first, 7);
}

}  // namespace

TEST_CASE("a cancellation from outside ends a run in turns, and the next run is good") {
  asio::io_context here;
  stress::on_every_place([&here](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 3, in_turns};
    std::mt19937 random(13);
    int cancelled = 0;
    int good_after = 0;
    for (int i = 0; i < 100; ++i) {
      here.restart();
      asio::cancellation_signal signal;
      long turns = 0;
      std::atomic<int> progress{0};
      const auto on_end = [&](std::exception_ptr e, const per_replica<int>&) {
        cancelled += is(e, errc::cancelled) ? 1 : 0;
      };
      strategy.async_run(count_turns, std::tuple(&turns, &progress),
                         asio::bind_executor(here.get_executor(),
                                             asio::bind_cancellation_slot(signal.slot(), on_end)));
      const int enough = static_cast<int>(random() % 20);
      while (progress.load(std::memory_order_relaxed) < enough) std::this_thread::yield();
      signal.emit(asio::cancellation_type::terminal);
      here.run();
      good_after += block_on(rt, strategy.run(good_step)) == per_replica<int>{7, 7, 7} ? 1 : 0;
    }
    CHECK(cancelled == 100);
    CHECK(good_after == 100);
  });
}

TEST_CASE("a runtime that ends in the middle of a turn destroys what was entered, and no more") {
  turn_plan p{.sleep = std::chrono::hours(1)};
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    mirrored_strategy strategy{rt, 3, in_turns};
    strategy.async_run(in_turn, std::tuple(&p), [](std::exception_ptr, auto&&) {});
    io.poll();
  }
  CHECK(p.journal == "0+ 0-");
}
