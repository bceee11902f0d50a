// Variables under every schedule: overlapping writers, reads beside runs, handles that go early.
//
// What is written does not commute: components that took the writes in different orders differ.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// Under every schedule if there are few enough, otherwise under `samples` random ones; on one
/// line, two and three.
void explore_on_lines(const simulation::program& body, std::uint64_t samples = 1'000) {
  for (const std::size_t lines : {1u, 2u, 3u}) {
    INFO(lines << " lines");
    simulation_options options;
    options.lines = lines;
    options.exhaustive = 3'000;
    options.samples = samples;
    const exploration report = simulation(options).explore(body);
    INFO(report.text());
    REQUIRE(report.passed());
  }
}

/// Checks that the replicas read one value, and that asking the owners changes nothing.
template <class V>
task<typename V::value_type> agreed(world* w, const strategy* on, V v) {
  const auto read = co_await read_on_replicas(on, v);
  w->check(all_alike(read), "the components do not differ");
  const auto direct = co_await v.read();
  w->check(direct == read[0], "outside one reads what the replicas read");
  const auto kept = co_await v.components();
  w->check(kept == read, "asking the owners changes nothing");
  co_return read[0];
}

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
  explore_on_lines(writes_of_all_kinds<2>, 2'000);
  explore_on_lines(writes_of_all_kinds<4>, 2'000);
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
  explore_on_lines(launched_writes, 2'000);
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

// -- handles that go early ------------------------------------------------------------------------

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
