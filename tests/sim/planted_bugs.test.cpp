// Programs with a known order bug. Exploration must find each within its budget, and its
// schedule must bring it back, every time: an explorer that finds nothing proves nothing.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

/// Finds the bug within `budget` schedules, and brings it back 100 times out of 100.
failure find_and_repeat(const simulation::program& body, std::uint64_t budget) {
  simulation_options options;
  options.exhaustive = budget;
  options.samples = 0;
  options.heed_environment = false;
  const simulation sim(options);
  const exploration report = sim.explore(body);
  INFO(report.text());
  REQUIRE_FALSE(report.passed());
  for (int i = 0; i < 100; ++i) {
    const exploration again = sim.replay(body, report.failure->schedule);
    REQUIRE_FALSE(again.passed());
    REQUIRE(again.failure->what == report.failure->what);
    REQUIRE(again.failure->steps == report.failure->steps);
    REQUIRE(again.failure->schedule == report.failure->schedule);
  }
  return *report.failure;
}

// -- adding up in the order of arrival ------------------------------------------------------

task<> add_on_arrival(replica_context ctx, double* total) {
  const std::array<double, 3> values = {1e16, 1, -1e16};
  *total += values[static_cast<std::size_t>(ctx.replica_id())];
  co_await ctx.merge_call([] {});
}

task<> sum_by_arrival(world& w) {
  double total = 0;
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(add_on_arrival, &total);
  w.check(total == (1e16 + 1.0) + -1e16, "the bits of the sum in replica order");
}

TEST_CASE("a sum in the order of arrival is found within 36 schedules") {
  CHECK(is_a<check_failed>(find_and_repeat(sum_by_arrival, 36).exception));
}

// -- a lost update ---------------------------------------------------------------------------

task<> read_then_write(replica_context ctx, int* counter) {
  const int before = *counter;
  co_await ctx.merge_call([] {});
  *counter = before + 1;
}

task<> lose_an_update(world& w) {
  int counter = 0;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(read_then_write, &counter);
  w.check(counter == 2, "both updates count");
}

TEST_CASE("an update that is lost under every schedule is found by the first one") {
  const auto found = find_and_repeat(lose_an_update, 1);
  CHECK(is_a<check_failed>(found.exception));
}

task<> bump(world& w, int* counter) {
  // The sleeps end at the same time: whose continuation comes first is the world's choice.
  co_await sleep_for(std::chrono::milliseconds(1));
  const int before = *counter;
  std::chrono::milliseconds work(1);
  if (before != 0) work *= w.choose(2);
  co_await sleep_for(work);
  *counter = before + 1;
}

task<> race_two_tasks(world& w) {
  int counter = 0;
  int ended = 0;
  for (int i = 0; i < 2; ++i) {
    launch(w.runtime(), bump(w, &counter), [&ended](std::exception_ptr) { ++ended; });
  }
  co_await sleep_for(std::chrono::seconds(1));
  w.check(ended == 2 && counter == 2, "both updates count");
}

TEST_CASE("a lost update between two tasks is found") {
  CHECK(is_a<check_failed>(find_and_repeat(race_two_tasks, 1000).exception));
}

// -- who comes first leads -------------------------------------------------------------------

struct leadership {
  std::optional<int> leader;
  int written = 0;
};

task<int> first_one_writes(replica_context ctx, leadership* shared) {
  if (!shared->leader) {
    shared->leader = ctx.replica_id();
    shared->written = 100 + ctx.replica_id();
  }
  const auto read = [shared](const per_replica<int>&) { return shared->written; };
  co_return co_await ctx.merge_call(read, ctx.replica_id());
}

task<> lead_by_arrival(world& w) {
  leadership shared;
  mirrored_strategy strategy(w.runtime(), 2);
  const auto r = co_await strategy.run(first_one_writes, &shared);
  w.check(r[0] == 100, "replica 0 wrote");
}

TEST_CASE("a leader chosen by arrival is found within four schedules") {
  CHECK(is_a<check_failed>(find_and_repeat(lead_by_arrival, 4).exception));
}

// -- a merge that only some orders reach -------------------------------------------------------

task<> skip_if_done(replica_context ctx, bool* done) {
  if (*done) co_return;
  // Whoever is early enough merges; in the default order nobody is late.
  co_await sleep_for(std::chrono::milliseconds(1));
  if (ctx.replica_id() == 1) *done = true;
  if (ctx.replica_id() == 0 && *done) co_return;
  co_await ctx.merge_call([] {});
}

task<> merge_unless_done(world& w) {
  bool done = false;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(skip_if_done, &done);
}

TEST_CASE("a merge that depends on the order of two sleepers is found") {
  CHECK(is(find_and_repeat(merge_unless_done, 1000).exception, errc::missing_replica));
}

// -- a signal that nobody hears ------------------------------------------------------------------

struct mailbox_of_one {
  gate arrived;
  std::optional<int> letter;
};

task<> deliver_or_collect(replica_context ctx, mailbox_of_one* box) {
  if (ctx.replica_id() == 1) {
    box->letter = 7;
    box->arrived.open();  // Heard only by those who wait already.
    co_return;
  }
  co_await box->arrived.async_pass(use_task);
}

task<> miss_a_signal(world& w) {
  mailbox_of_one box;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(deliver_or_collect, &box);
}

TEST_CASE("a signal given before anybody waits is found as a deadlock") {
  CHECK(is(find_and_repeat(miss_a_signal, 10).exception, errc::deadlock));
}

// -- a race that only sampling reaches -----------------------------------------------------------

task<> note_order(replica_context ctx, std::vector<int>* order) {
  order->push_back(ctx.replica_id());
  co_await ctx.merge_call([] {});
}

task<> reverse_order_breaks(world& w) {
  std::vector<int> order;
  mirrored_strategy strategy(w.runtime(), 5);
  co_await strategy.run(note_order, &order);
  w.check(order != std::vector<int>({4, 3, 2, 1, 0}), "not the other way round");
}

TEST_CASE("a bug in one order of 120 is found by seeded schedules") {
  simulation_options options;
  options.exhaustive = 1;
  options.samples = 2000;
  CHECK(is_a<check_failed>(explore_to_failure(reverse_order_breaks, options).exception));
}

}  // namespace
}  // namespace troupe::test
