// A launched run that its caller cancels, at every moment of its virtual time.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <numeric>
#include <string_view>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>

#include "tests/support/census.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using std::chrono::milliseconds;

int sum(const per_replica<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }

/// A run started by launch(), its cancellation, and how often and how it ended.
struct launched_run {
  asio::cancellation_signal cancel;
  int ended = 0;
  std::exception_ptr failure;
  per_replica<int> result;
  census bodies;
  int merged = 0;

  auto token() {
    return asio::bind_cancellation_slot(cancel.slot(),
                                        [this](std::exception_ptr thrown, per_replica<int> values) {
                                          ++ended;
                                          failure = thrown;
                                          result = std::move(values);
                                        });
  }
};

/// Cancels `run` at a virtual millisecond of the world's choice, and waits for its end.
task<> cancel_at_some_time(world& w, launched_run* run, std::uint32_t moments) {
  co_await sleep_for(milliseconds(w.choose(moments)));
  run->cancel.emit(asio::cancellation_type::terminal);
  co_await sleep_for(std::chrono::hours(1));
}

void check_end(world& w, const launched_run& run, const per_replica<int>& whole) {
  w.check(run.ended == 1, "it ends exactly once");
  w.check(run.bodies.balanced(), "everything unwound once");
  if (run.failure) {
    w.check(is(run.failure, errc::cancelled), "with errc::cancelled");
  } else {
    w.check(run.result == whole, "or with its result");
  }
}

// One wait before, and one after a merge.
task<int> sleep_merge_sleep(replica_context ctx, launched_run* run) {
  const guest here(run->bodies);
  co_await sleep_for(milliseconds(1 + ctx.replica_id()));
  const int s = co_await ctx.merge_call(sum, 1);
  ++run->merged;
  co_await sleep_for(milliseconds(1));
  co_return s;
}

template <int Replicas>
task<> cancel_sleepers(world& w) {
  mirrored_strategy strategy(w.runtime(), Replicas);
  launched_run run;
  strategy.async_run(sleep_merge_sleep, std::tuple(&run), run.token());
  co_await cancel_at_some_time(w, &run, Replicas + 4);
  per_replica<int> whole;
  whole.reserve(Replicas);
  for (int i = 0; i < Replicas; ++i) whole.append(Replicas);
  check_end(w, run, whole);
}

TEST_CASE("a run cancelled at any moment ends once, cancelled or with its result") {
  explore_all(cancel_sleepers<2>);
}

TEST_CASE("a run of three replicas cancelled at any moment ends once") {
  explore_seeds(cancel_sleepers<3>, 2000);
}

task<int> merge_at_once(replica_context ctx, launched_run* run) {
  const guest here(run->bodies);
  co_return co_await ctx.merge_call(sum, 1);
}

TEST_CASE("a run cancelled before its replicas arrive ends once, on one line too") {
  for (const std::size_t lines : {1u, 2u}) {
    simulation_options options;
    options.lines = lines;
    explore_all(
        [](world& w) -> task<> {
          mirrored_strategy strategy(w.runtime(), 2);
          launched_run run;
          strategy.async_run(merge_at_once, std::tuple(&run), run.token());
          const std::uint32_t steps = w.choose(3);
          for (std::uint32_t i = 0; i < steps; ++i) co_await sleep_for(std::chrono::nanoseconds(0));
          run.cancel.emit(asio::cancellation_type::terminal);
          co_await sleep_for(milliseconds(1));
          check_end(w, run, {2, 2});
        },
        options);
  }
}

task<int> slow_sum(per_replica<int> values) {
  co_await sleep_for(milliseconds(2));
  co_return sum(values);
}

task<int> merge_slowly(replica_context ctx, launched_run* run) {
  const guest here(run->bodies);
  co_return co_await ctx.merge_call(slow_sum, 1);
}

TEST_CASE("a run cancelled inside its merge function ends once") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    launched_run run;
    strategy.async_run(merge_slowly, std::tuple(&run), run.token());
    co_await cancel_at_some_time(w, &run, 4);
    check_end(w, run, {2, 2});
  });
}

task<int> merge_with_a_run_inside(cross_replica_context cross, per_replica<int>, launched_run* r) {
  const auto below = co_await cross.run(sleep_merge_sleep, r);
  co_return below[0];
}

task<int> merge_around_a_run(replica_context ctx, launched_run* run) {
  const guest here(run->bodies);
  const auto merge = [run](cross_replica_context cross, per_replica<int> values) {
    return merge_with_a_run_inside(cross, std::move(values), run);
  };
  co_return co_await ctx.merge_call(merge, 1);
}

TEST_CASE("a run cancelled while another runs inside its merge function ends once") {
  explore_seeds(
      [](world& w) -> task<> {
        mirrored_strategy strategy(w.runtime(), 2);
        launched_run run;
        strategy.async_run(merge_around_a_run, std::tuple(&run), run.token());
        co_await cancel_at_some_time(w, &run, 5);
        check_end(w, run, {2, 2});
      },
      2000);
}

TEST_CASE("a run cancelled while it waits for an hour ends at that moment") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    launched_run run;
    strategy.async_run(
        [](launched_run* r) -> task<int> {
          const guest here(r->bodies);
          co_await sleep_for(std::chrono::hours(1));
          co_return 0;
        },
        std::tuple(&run), run.token());
    co_await sleep_for(milliseconds(1));
    run.cancel.emit(asio::cancellation_type::terminal);
    co_await sleep_for(milliseconds(1));
    w.check(run.ended == 1 && is(run.failure, errc::cancelled), "a millisecond later");
  });
}

TEST_CASE("a cancelled run reports where its replicas stood") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    launched_run run;
    strategy.async_run(sleep_merge_sleep, std::tuple(&run), run.token());
    // Replica 0 waits at the merge, replica 1 sleeps.
    co_await sleep_for(std::chrono::microseconds(1500));
    run.cancel.emit(asio::cancellation_type::terminal);
    co_await sleep_for(milliseconds(10));
    const auto told = as<error>(run.failure);
    w.check(told && told->replicas().size() == 2, "of both");
    w.check(told->replicas()[0].is == replica_place::state::waiting, "one at the merge");
    const replica_place& sleeper = told->replicas()[1];
    w.check(sleeper.is == replica_place::state::waiting, "one in its sleep");
    w.check(sleeper.doing == "sleep_for()", "shown as what it is");
    w.check(std::string_view(sleeper.at.file_name()).ends_with("cancellation.test.cpp"),
            "at the line that sleeps");
    w.check(!same_place(told->replicas()[0].at, told->replicas()[1].at), "at different lines");
  });
}

TEST_CASE("a second cancellation changes nothing") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    launched_run run;
    strategy.async_run(sleep_merge_sleep, std::tuple(&run), run.token());
    run.cancel.emit(asio::cancellation_type::terminal);
    run.cancel.emit(asio::cancellation_type::terminal);
    co_await sleep_for(std::chrono::hours(1));
    check_end(w, run, {2, 2});
  });
}

TEST_CASE("the next run of a strategy is not reached by a cancellation of the one before") {
  explore_seeds(
      [](world& w) -> task<> {
        mirrored_strategy strategy(w.runtime(), 2);
        launched_run first;
        strategy.async_run(sleep_merge_sleep, std::tuple(&first), first.token());
        co_await cancel_at_some_time(w, &first, 5);
        launched_run second;
        strategy.async_run(sleep_merge_sleep, std::tuple(&second), second.token());
        co_await sleep_for(std::chrono::hours(1));
        w.check(second.ended == 1 && !second.failure, "it succeeds");
      },
      2000);
}

TEST_CASE("a merge that was cut short by a cancellation never goes on") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    launched_run run;
    strategy.async_run(sleep_merge_sleep, std::tuple(&run), run.token());
    co_await sleep_for(std::chrono::microseconds(1500));
    run.cancel.emit(asio::cancellation_type::terminal);
    co_await sleep_for(std::chrono::hours(1));
    w.check(run.merged == 0, "nobody passed the merge");
  });
}

TEST_CASE("cancellation_type::total is not heeded by a run that has begun") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    launched_run run;
    strategy.async_run(sleep_merge_sleep, std::tuple(&run), run.token());
    co_await sleep_for(std::chrono::microseconds(1500));
    run.cancel.emit(asio::cancellation_type::total);
    co_await sleep_for(std::chrono::hours(1));
    w.check(run.ended == 1 && !run.failure, "it ends with its result");
  });
}

}  // namespace
}  // namespace troupe::test
