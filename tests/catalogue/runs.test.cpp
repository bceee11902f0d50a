// TR-101 and following: runs that cannot begin, or cannot go on.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <troupe/runtime/schedule.hpp>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>

#include "tests/catalogue/example.hpp"
#include "tests/support/gate.hpp"

namespace troupe::test {
namespace {

using state = replica_place::state;

int sum(const per_replica<int>& values) { return values[0] + values[1]; }
void apply_gradients(const per_replica<float>&) {}
void reset_statistics() {}

// -- 101 ------------------------------------------------------------------------------------------

constexpr unsigned above_uneven = __LINE__ + 1;
// [missing]
task<> uneven(replica_context ctx) {
  const int batches = ctx.replica_id() == 2 ? 2 : 3;
  for (int i = 0; i < batches; ++i) co_await ctx.merge_call(apply_gradients, 1.0f);
}
// [/missing]

TEST_CASE_METHOD(on_an_io_context, "TR-101 missing_replica: one replica merges once less") {
  mirrored_strategy strategy(rt, 3);
  const error e =
      raised({.code = errc::missing_replica,
              .what = "replica 2 of 3 has finished and can never arrive; replicas 0 and 1 would "
                      "wait forever",
              .fix = "let every replica merge equally often: one data set may be shorter, one "
                     "path may skip the merge",
              .replicas = 3,
              .merges_agreed = 2},
             thrown_on(strategy.run(uneven)));
  CHECK(stands(e, 0, state::waiting, "merge_call(float)"));
  CHECK(stands(e, 1, state::waiting, "merge_call(float)"));
  CHECK(stands(e, 2, state::finished, "returned after 2 merges"));
  show(e, above_uneven);
}

// -- 102 ------------------------------------------------------------------------------------------

constexpr unsigned above_reads = __LINE__ + 1;
// [failed]
task<int> reads_data(replica_context ctx) {
  if (ctx.replica_id() == 0) throw std::runtime_error("batch 7 is damaged");
  co_return co_await ctx.merge_call(sum, 1);
}
// [/failed]

TEST_CASE_METHOD(on_an_io_context, "TR-102 replica_failed: one replica throws, the others wait") {
  mirrored_strategy strategy(rt, 3);
  CHECK(is_a<std::runtime_error>(thrown_on(strategy.run(reads_data))));
  REQUIRE(strategy.last_failure());
  const error e = raised({.code = errc::replica_failed,
                          .what = "replica 0 failed; the others cannot merge without it",
                          .fix = "see to its exception: it is what the run throws",
                          .replicas = 3},
                         std::make_exception_ptr(*strategy.last_failure()));
  CHECK(stands(e, 0, state::failed, "threw: batch 7 is damaged"));
  CHECK(stands(e, 1, state::waiting, "merge_call(int)"));
  CHECK(stands(e, 2, state::waiting, "merge_call(int)"));
  show(e, above_reads);
}

// -- 103 ------------------------------------------------------------------------------------------

constexpr unsigned above_waits = __LINE__ + 1;
// [cancelled]
task<> waits_for_long(replica_context ctx) {
  if (ctx.replica_id() == 1) co_await sleep_for(std::chrono::hours(1));
  co_await ctx.merge_call(reset_statistics);
}
// [/cancelled]

TEST_CASE_METHOD(on_an_io_context, "TR-103 cancelled: the caller fires the cancellation slot") {
  mirrored_strategy strategy(rt, 3);
  asio::cancellation_signal signal;
  std::exception_ptr outcome;
  strategy.async_run(
      waits_for_long, std::tuple(),
      asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { outcome = e; }));
  io.poll();
  signal.emit(asio::cancellation_type::terminal);
  io.run();
  const error e = raised({.code = errc::cancelled,
                          .what = "the run was cancelled by its caller",
                          .fix = "none needed, if that was meant; a timeout may be too short",
                          .replicas = 3},
                         outcome);
  CHECK(e.code() == std::errc::operation_canceled);
  CHECK(stands(e, 0, state::waiting, "merge_call()"));
  CHECK(stands(e, 1, state::waiting, "sleep_for()"));
  CHECK(stands(e, 2, state::waiting, "merge_call()"));
  show(e, above_waits);
}

// -- 104 ------------------------------------------------------------------------------------------

constexpr unsigned above_branches = __LINE__ + 1;
// [mismatch]
task<> branches(replica_context ctx) {
  const int known = co_await ctx.merge_call(sum, 1);
  if (ctx.replica_id() == 1 && known > 0) {
    co_await ctx.merge_call(reset_statistics);
  } else {
    co_await ctx.merge_call(apply_gradients, 0.5f);
  }
}
// [/mismatch]

TEST_CASE("TR-104 merge_mismatch: one replica takes the other branch") {
  const failure found = failure_of([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    co_await strategy.run(branches);
  });
  const error e =
      raised({.code = errc::merge_mismatch,
              .what = "replicas reached different merge points (merge #2)",
              .fix = "make the condition the same on every replica (reduce it first), or merge on "
                     "both paths",
              .replicas = 3,
              .merges_agreed = 1,
              .replay = true},
             found.exception);
  // Its fingerprint is open: others might have come yet.
  const schedule so_far = parse_schedule(e.replay());
  CHECK(so_far.deviations == parse_schedule(found.schedule).deviations);
  CHECK(stands(e, 0, state::waiting, "merge_call(float)"));
  CHECK(stands(e, 1, state::waiting, "merge_call()"));
  CHECK(stands(e, 2, state::waiting, "merge_call(float)"));
  CHECK_FALSE(e.facts().note.empty());
  show(e, above_branches);
}

// -- 105 ------------------------------------------------------------------------------------------

replica_context keep(replica_context ctx) { return ctx; }
task<> merge_on(replica_context kept) { co_await kept.merge_call(reset_statistics); }

TEST_CASE_METHOD(on_an_io_context, "TR-105 foreign_context: a context of an earlier run is used") {
  mirrored_strategy strategy(rt, 2);
  const auto kept = block_on(rt, strategy.run(keep));
  const wanted refusal{
      .code = errc::foreign_context,
      .what = "merge_call() on a replica context outside its own replica function",
      .fix = "use the context only in the function that got it, in this run, and not in a branch "
             "of when_all()"};
  raised(refusal, thrown_on(strategy.run(merge_on, kept)));
  show(raised(refusal, thrown_on(merge_on(kept[0]))));
}

// -- 106 ------------------------------------------------------------------------------------------

constexpr unsigned above_deadlock = __LINE__ + 1;
// [deadlock]
task<> one_never_comes(replica_context ctx) {
  gate never_opened;
  if (ctx.replica_id() == 1) co_await never_opened.async_pass(use_task);
  co_await ctx.merge_call(reset_statistics);
}

task<> runs_it(world& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(one_never_comes);
}
// [/deadlock]

TEST_CASE("TR-106 deadlock: an operation never completes, and a replica waits at the merge") {
  const failure found = failure_of(runs_it);
  const error e =
      raised({.code = errc::deadlock,
              .what = "deadlock at step 3, t=0ms: nothing can run and somebody waits",
              .fix = "look for who never answers: each line names what a coroutine waits for; an "
                     "asio::steady_timer, a socket and a signal are real, and end in no world: a "
                     "troupe::timer and sleep_for() do",
              .waiting = 3,
              .replay = true},
             found.exception);
  CHECK(e.replay() == found.schedule);
  CHECK(e.waiting()[0].starts_with("replica/0  waits for merge_call()"));
  CHECK(e.waiting()[1].starts_with("replica/1  waits for an asynchronous operation"));
  CHECK(e.waiting()[2].starts_with("task/0  waits for "));
  show(e, above_deadlock);
}

// -- 107 ------------------------------------------------------------------------------------------

task<> pass(gate* g) { co_await g->async_pass(use_task); }

TEST_CASE("TR-107 runtime_gone: the runtime ends under a task, or before its run begins") {
  asio::io_context near, far;
  runtime here{near.get_executor()};
  auto there = std::make_optional<runtime>(far.get_executor());
  const mirrored_strategy strategy(*there, 2);
  gate never_opened;
  std::exception_ptr outcome;
  launch(*there, pass(&never_opened),
         asio::bind_executor(near.get_executor(), [&](std::exception_ptr e) { outcome = e; }));
  far.poll();
  there.reset();
  near.run();
  show(raised({.code = errc::runtime_gone,
               .what = "the runtime, or the executor under it, ended before the task",
               .fix = "keep both alive until what runs on them has completed, or cancel it first"},
              outcome));
  raised({.code = errc::runtime_gone,
          .what = "the runtime has ended",
          .fix = "keep the runtime and its executor alive for as long as something uses them"},
         thrown_by([&] { block_on(here, strategy.run(reset_statistics)); }));
}

}  // namespace
}  // namespace troupe::test
