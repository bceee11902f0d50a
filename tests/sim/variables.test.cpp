// Variables under every schedule: writers of all kinds that overlap.
//
// What is written does not commute: components that took the writes in different orders differ.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;
using shared = variable<int, sum_op>;
using first = variable<int, first_op>;

// -- overlapping runs -----------------------------------------------------------------------------

// x -> 10 x + d, in three steps that another run may come between.
task<> append_digit(replica_context ctx, first v, int digit) {
  co_await v.assign(ctx, digit);
  co_await v.assign_add(ctx, 10 * digit);
  co_await v.assign_sub(ctx, ctx.replica_id() + 1);
}

task<> run_once(const strategy* on, first v, int digit) {
  co_await on->run(append_digit, v, digit);
}

template <int Replicas>
task<> two_runs_at_once(world& w) {
  mirrored_strategy strategy(w.runtime(), Replicas);
  const first v(strategy, 7);
  std::vector<task<>> both;
  both.push_back(run_once(&strategy, v, 1));
  both.push_back(run_once(&strategy, v, 2));
  co_await when_all(std::move(both));
  const int x = co_await agreed(&w, &strategy, v);
  // The last assignment is 1 or 2; what may come after it is +10, +20 and -1, -1.
  w.check(x >= 1 - 2 && x <= 2 + 30, "of the last assignment and what came after it");
}

TEST_CASE("components never differ after two runs wrote one variable at the same time") {
  explore_on_lines(two_runs_at_once<2>);
  explore_on_lines(two_runs_at_once<3>);
}

// -- writes of all kinds at once ------------------------------------------------------------------

task<> assign_outside(first v, int value) {
  co_await v.assign(value);
  co_await v.assign_add(1);
}

void triple(int& component, int more) { component = 3 * component + more; }

task<> update_outside(const strategy* on, first v) { co_await on->extended().update(v, triple, 1); }

template <int Replicas>
task<> writes_of_all_kinds(world& w) {
  mirrored_strategy strategy(w.runtime(), Replicas);
  const first v(strategy, 7);
  std::vector<task<>> all;
  all.push_back(run_once(&strategy, v, 1));
  all.push_back(assign_outside(v, 100));
  all.push_back(update_outside(&strategy, v));
  co_await when_all(std::move(all));
  co_await agreed(&w, &strategy, v);
}

TEST_CASE("components never differ after writes and updates beside a run") {
  explore_on_lines(writes_of_all_kinds<2>);
  explore_on_lines(writes_of_all_kinds<4>);
}

/// Counts what was launched and has ended well.
struct tally {
  int ended = 0;
  auto token() {
    return [this](std::exception_ptr thrown) { ended += thrown ? 0 : 1; };
  }
};

task<> launched_writes(world& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const first v(strategy, 7);
  tally others;
  // A launched task may begin on any line, also on one where no replica lives.
  launch(w.runtime(), assign_outside(v, 100), others.token());
  launch(w.runtime(), update_outside(&strategy, v), others.token());
  launch(w.runtime(), run_once(&strategy, v, 2), others.token());
  co_await run_once(&strategy, v, 1);
  co_await sleep_for(std::chrono::milliseconds(1));  // Nothing can run any more then.
  w.check(others.ended == 3, "all ended well");
  co_await agreed(&w, &strategy, v);
}

TEST_CASE("components never differ after writes from tasks on other lines") {
  explore_on_lines(launched_writes);
}

task<> write_in_merge(cross_replica_context, per_replica<int>, first v) {
  co_await v.assign_add(5);
  co_await v.assign(3);
}

task<int> merge_then_write(replica_context ctx, first v) {
  co_await ctx.merge_call(write_in_merge, 0, v);
  const int seen = v.read(ctx);
  co_await v.assign_add(ctx, 4);
  co_return 10 * seen + v.read(ctx);
}

TEST_CASE("a replica sees its merge function's writes, and its own after them") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const first v(strategy, 7);
    const ints seen = co_await strategy.run(merge_then_write, v);
    w.check(seen == ints({37, 37, 37}), "3, then 7");
    co_await agreed(&w, &strategy, v);
  });
}

task<> write_in_run_below(cross_replica_context cross, per_replica<int>, first v) {
  co_await cross.run(append_digit, v, 4);
}

task<int> write_below_then_here(replica_context ctx, first v) {
  co_await ctx.merge_call(write_in_run_below, 0, v);
  const int seen = v.read(ctx);
  co_await v.assign_add(ctx, 100);
  co_return seen;
}

TEST_CASE("replicas see what a run inside their merge function wrote") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const first v(strategy, 7);
    const ints seen = co_await strategy.run(write_below_then_here, v);
    w.check(seen == ints({43, 43}), "4 + 40 - 1");
    const int x = co_await agreed(&w, &strategy, v);
    w.check(x == 143, "and then their own");
  });
}

// -- what a write returns -------------------------------------------------------------------------

task<int> add_three_times(replica_context ctx, shared v) {
  int right = 0;
  for (int i = 1; i <= 3; ++i) {
    const int now = co_await v.assign_add(ctx, ctx.replica_id() + 1);
    if (now == 6 * i && v.read(ctx) == now) ++right;
  }
  co_return right;
}

TEST_CASE("a replica reads its own write at once") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const shared v(strategy, 0);
    const ints right = co_await strategy.run(add_three_times, v);
    w.check(right == ints({3, 3, 3}), "all of them");
    const int sum = co_await agreed(&w, &strategy, v);
    w.check(sum == 18, "three times 1 + 2 + 3");
  });
}

task<> write_two(replica_context ctx, shared a, shared b) {
  co_await a.assign_add(ctx, 1);
  co_await b.assign_add(ctx, 1);
}

task<> write_two_once(const strategy* on, shared a, shared b) { co_await on->run(write_two, a, b); }

TEST_CASE("no addition is lost in overlapping runs") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const shared a(strategy, 0);
    const shared b(strategy, 0);
    std::vector<task<>> runs;
    for (int i = 0; i < 3; ++i) runs.push_back(write_two_once(&strategy, a, b));
    co_await when_all(std::move(runs));
    const int in_a = co_await agreed(&w, &strategy, a);
    const int in_b = co_await agreed(&w, &strategy, b);
    w.check(in_a == 6 && in_b == 6, "three runs of two replicas");
  });
}

}  // namespace
}  // namespace troupe::test
