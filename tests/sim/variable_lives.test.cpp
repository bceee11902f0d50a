// The lives of variables under every schedule: made in runs, dropped early, read beside runs.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <optional>
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

// -- variables made in runs -----------------------------------------------------------------------

task<first> make_and_write(replica_context ctx, int initial) {
  const int own = initial + ctx.replica_id();
  const first v = co_await create_variable(ctx, own, aggregation::only_first_replica, "made");
  co_await v.assign_add(ctx, 10);
  co_return v;
}

task<> make_in_a_run(world* w, const strategy* on, int initial) {
  const first v = co_await on->run(make_and_write, initial);
  const int x = co_await agreed(w, on, v);
  w->check(x == initial + 10, "replica 0's value, and what was added");
}

TEST_CASE("runs that make variables at the same time get variables of their own") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    std::vector<task<>> both;
    both.push_back(make_in_a_run(&w, &strategy, 3));
    both.push_back(make_in_a_run(&w, &strategy, 5));
    co_await when_all(std::move(both));
  });
}

// -- handles that go early ------------------------------------------------------------------------

/// Counts what was launched and has ended well.
struct tally {
  int ended = 0;
  auto token() {
    return [this](std::exception_ptr thrown) { ended += thrown ? 0 : 1; };
  }
};

task<int> add_three_times(replica_context ctx, shared v) {
  int right = 0;
  for (int i = 1; i <= 3; ++i) {
    const int now = co_await v.assign_add(ctx, ctx.replica_id() + 1);
    if (now == 6 * i && v.read(ctx) == now) ++right;
  }
  co_return right;
}

task<> write_two(replica_context ctx, shared a, shared b) {
  co_await a.assign_add(ctx, 1);
  co_await b.assign_add(ctx, 1);
}

task<> write_without_keeping(const strategy* on, std::optional<shared>* v) {
  auto run = on->run(add_three_times, **v);
  v->reset();
  co_await std::move(run);
}

TEST_CASE("a variable's last handle may go while a run still writes to it") {
  explore_on_lines([](world& w) -> task<> {
    auto strategy = std::make_optional<mirrored_strategy>(w.runtime(), 2);
    auto v = std::make_optional<shared>(*strategy, 0);
    tally runs;
    launch(w.runtime(), write_without_keeping(&*strategy, &v), runs.token());
    co_await sleep_for(std::chrono::nanoseconds(0));
    if (v.has_value()) co_return;  // It has not begun: nothing to see.
    if (w.choose(2) == 1) strategy.reset();
    co_await sleep_for(std::chrono::milliseconds(1));
    w.check(runs.ended == 1, "it ended well");
  });
}

task<> sweep_without_keeping(std::optional<shared>* v) {
  auto write = (*v)->assign(3);
  v->reset();
  co_await std::move(write);
}

TEST_CASE("a variable's last handle may go while an assignment is under way") {
  explore_on_lines([](world& w) -> task<> {
    auto strategy = std::make_optional<mirrored_strategy>(w.runtime(), 3);
    auto v = std::make_optional<shared>(*strategy, 0);
    tally writes;
    launch(w.runtime(), sweep_without_keeping(&v), writes.token());
    if (w.choose(2) == 1) strategy.reset();
    co_await sleep_for(std::chrono::milliseconds(1));
    w.check(writes.ended == 1 && !v.has_value(), "it ended well");
  });
}

TEST_CASE("strategy and variable may go as soon as the last write has ended") {
  explore_on_lines([](world& w) -> task<> {
    for (int i = 0; i < 2; ++i) {
      auto strategy = std::make_optional<mirrored_strategy>(w.runtime(), 3);
      auto v = std::make_optional<shared>(*strategy, 0);
      if (i == 0) {
        co_await v->assign(1);
      } else {
        co_await strategy->run(write_two, *v, *v);
      }
      strategy.reset();
      v.reset();
    }
  });
}

// -- synchronised on read -------------------------------------------------------------------------

using counted = sync_on_read_variable<int>;

task<> count_to_three(replica_context ctx, counted seen, shared v) {
  for (int i = 0; i < 3; ++i) {
    seen.assign_add(ctx, 1);
    co_await v.assign_add(ctx, 1);
  }
}

task<> count_in_a_run(const strategy* on, counted seen, shared v) {
  co_await on->run(count_to_three, seen, v);
}

task<> gather_beside(world* w, counted seen) {
  int before = 0;
  for (int i = 0; i < 3; ++i) {
    const ints all = co_await seen.components();
    const int now = all[0] + all[1];
    w->check(all[0] <= 3 && all[1] <= 3, "none more than it counted");
    w->check(now >= before, "none less than the last time");
    before = now;
  }
}

TEST_CASE("a gather beside a run sees each replica's count grow, and all of it in the end") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const counted seen(strategy, 0);
    const shared v(strategy, 0);
    std::vector<task<>> both;
    both.push_back(count_in_a_run(&strategy, seen, v));
    both.push_back(gather_beside(&w, seen));
    co_await when_all(std::move(both));
    const int sum = co_await seen.read();
    w.check(sum == 6, "three each");
  });
}

}  // namespace
}  // namespace troupe::test
