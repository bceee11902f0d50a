// Runs whose rounds become whole, or cannot.

#include <atomic>
#include <chrono>
#include <numeric>

#include "tests/planted/mutants/programs.hpp"

namespace troupe::planted {

namespace {

int sum(const per_replica<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }

task<int> merge_twice(replica_context ctx) {
  const int first = co_await ctx.merge_call(sum, ctx.replica_id() + 1);
  const int second = co_await ctx.merge_call(sum, first);
  co_return second;
}

}  // namespace

task<> require_a_good_run(stage& w, const strategy* on) {
  const int n = on->num_replicas_in_sync();
  const per_replica<int> all = co_await on->run(merge_twice);
  for (const int each : all) w.check(each == n * (n * (n + 1) / 2), "the sum of the sums");
}

task<> two_merges(stage& w) {
  mirrored_strategy strategy(w.runtime(), 3);
  co_await require_a_good_run(w, &strategy);
}

namespace {

int early(const per_replica<int>&) { return 1; }
int late(const per_replica<int>&) { return 2; }
task<bool> merge_early_or_late(replica_context ctx, std::atomic<bool>* told) {
  if (ctx.replica_id() == 1) *told = true;
  if (ctx.replica_id() == 0 && *told) {
    const int got = co_await ctx.merge_call(late, 0);
    co_return got == 2;
  }
  const int got = co_await ctx.merge_call(early, 0);
  co_return got == 1;
}
task<> run_early_or_late(stage& w, const strategy* on, std::atomic<bool>* told) {
  const per_replica<bool> all = co_await on->run(merge_early_or_late, told);
  for (const bool own : all) w.check(own, "each gets what its own merge gives");
}

}  // namespace

task<> two_places(stage& w) {
  std::atomic<bool> told = false;
  mirrored_strategy strategy(w.runtime(), 2);
  const auto thrown = co_await thrown_by(run_early_or_late(w, &strategy, &told));
  w.check(!thrown || code_of(thrown) == errc::merge_mismatch, "one merge, or none");
}

namespace {

/// Replica 1 has gone, and replica 2 is nowhere near a merge.
task<> one_gone_one_away(replica_context ctx, door* away) {
  if (ctx.replica_id() == 1) co_return;
  if (ctx.replica_id() == 2) static_cast<void>(co_await away->ask<knock>());
  co_await ctx.merge_call([] {});
}
task<> require_broken_at_once(stage& w, const strategy* on, door* closed) {
  const auto thrown = co_await thrown_by(on->run(one_gone_one_away, closed));
  w.check(code_of(thrown) == errc::missing_replica, "it is broken though one never arrives");
}

}  // namespace

task<> broken_at_once(stage& w) {
  door closed(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  co_await require_broken_at_once(w, &strategy, &closed);
}

namespace {

task<> one_gone(replica_context ctx) {
  if (ctx.replica_id() == 1) co_return;
  co_await ctx.merge_call([] {});
}

}  // namespace

task<> late_arrival(stage& w) {
  mirrored_strategy strategy(w.runtime(), 3);
  const auto thrown = co_await thrown_by(strategy.run(one_gone));
  w.check(code_of(thrown) == errc::missing_replica, "whoever arrives is told");
  co_await require_a_good_run(w, &strategy);
}

namespace {

task<> gone_when_told(replica_context ctx, std::atomic<bool>* told) {
  if (ctx.replica_id() == 1) *told = true;
  if (ctx.replica_id() == 0 && *told) co_return;
  co_await ctx.merge_call([] {});
}

}  // namespace

task<> broken_twice(stage& w) {
  door closed(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  std::atomic<bool> told = false;
  const auto thrown = co_await thrown_by(strategy.run(gone_when_told, &told));
  w.check(!thrown || code_of(thrown) == errc::missing_replica, "broken, or not");
  co_await require_broken_at_once(w, &strategy, &closed);
}

namespace {

task<> one_fails(replica_context ctx) {
  if (ctx.replica_id() == 1) throw own_failure();
  co_return;
}

}  // namespace

task<> run_after_a_failure(stage& w) {
  mirrored_strategy strategy(w.runtime(), 3);
  const auto first = co_await thrown_by(strategy.run(one_fails));
  const auto second = co_await thrown_by(require_a_good_run(w, &strategy));
  // What is on its way finds the strategy.
  co_await sleep_for(std::chrono::milliseconds(1));
  w.check(is_own(first), "the failure is the run's");
  w.check(!second, "and not the next one's");
}

namespace {

void throw_unless(const per_replica<int>& values) {
  if (values[0] == 0) throw own_failure();
}
task<> merge_or_fail(replica_context ctx, std::atomic<int>* first) {
  int nobody = -1;
  first->compare_exchange_strong(nobody, ctx.replica_id());
  const int good = *first == 0 ? 1 : 0;
  const auto thrown = co_await thrown_by(ctx.merge_call(throw_unless, good));
  co_await ctx.merge_call(throw_unless, 1);
  if ((good != 0) == static_cast<bool>(thrown)) throw own_failure();
}

}  // namespace

task<> merge_fails_in_some_orders(stage& w) {
  std::atomic<int> first = -1;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(merge_or_fail, &first);
}

namespace {

task<> fails_if_first(replica_context ctx, std::atomic<bool>* there, std::atomic<bool>* told) {
  if (ctx.replica_id() == 1 && !*there) throw own_failure();
  *there = true;
  try {
    co_await ctx.merge_call([] {});
  } catch (const error& e) {
    *told = e.code() == errc::replica_failed;
    throw;
  }
}

}  // namespace

task<> consequence_before_its_cause(stage& w) {
  std::atomic<bool> there = false;
  std::atomic<bool> told = false;
  mirrored_strategy strategy(w.runtime(), 2);
  const auto thrown = co_await thrown_by(strategy.run(fails_if_first, &there, &told));
  w.check(!thrown || is_own(thrown), "the run fails with the first failure");
  w.check(!thrown || told, "and the others hear of it");
}

namespace {

struct turns_seen {
  std::atomic<bool> told = false;
  std::atomic<bool> failed = false;
  std::atomic<bool> later = false;
};
task<> first_fails_unless_told(replica_context ctx, turns_seen* seen) {
  if (ctx.replica_id() != 0) {
    seen->later = true;
    co_return;
  }
  seen->failed = !seen->told;
  if (seen->failed) throw own_failure();
}
task<> run_in_turns(const strategy* on, turns_seen* seen) {
  static_cast<void>(co_await thrown_by(on->run(first_fails_unless_told, seen)));
}
task<> tell_soon(cell* pace, turns_seen* seen) {
  static_cast<void>(co_await pace->ask<get>());
  seen->told = true;
}

}  // namespace

task<> failing_in_turn(stage& w) {
  cell pace(w.runtime());
  turns_seen seen;
  mirrored_strategy strategy(w.runtime(), 3, {.order = replica_order::one_by_one});
  co_await together(run_in_turns(&strategy, &seen), tell_soon(&pace, &seen));
  w.check(seen.later != seen.failed, "those after it run if it has not failed");
}

}  // namespace troupe::planted
