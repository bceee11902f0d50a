// A replica that throws: what surfaces, what the others are told, and what is cleaned up.

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/support/census.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

struct own_failure : std::runtime_error {
  explicit own_failure(int r) : runtime_error("replica " + std::to_string(r)), replica(r) {}
  int replica;
};

int failing_replica(const std::exception_ptr& thrown) {
  const auto failed = as<own_failure>(thrown);
  return failed ? failed->replica : -1;
}

// What a failing run leaves behind, for the tests to look at.
struct record {
  census bodies;
  int merges = 0;
  int told = 0;  ///< Replicas that were told errc::replica_failed.
};

// Merges `before` times, then the replicas in `bad` (a bit each) throw, then all merge again.
task<> body(replica_context ctx, record* log, int before, unsigned bad) {
  const guest here(log->bodies);
  const auto count = [log] { ++log->merges; };
  for (int i = 0; i < before; ++i) co_await ctx.merge_call(count);
  if ((bad >> ctx.replica_id()) & 1u) throw own_failure(ctx.replica_id());
  std::exception_ptr thrown;
  try {
    co_await ctx.merge_call(count);
  } catch (...) {
    thrown = std::current_exception();
  }
  if (is(thrown, errc::replica_failed)) ++log->told;
  if (thrown) std::rethrow_exception(thrown);
}

task<> expect_failure(world& w, int replicas, int before, unsigned bad, int surfaces) {
  mirrored_strategy strategy(w.runtime(), replicas);
  record log;
  const auto thrown = co_await outcome_of(strategy.run(body, &log, before, bad));
  w.check(failing_replica(thrown) == surfaces, "its own type, of the lowest replica");
  w.check(log.merges == before, "no merge function ran after the failure");
  w.check(log.bodies.entered == replicas && log.bodies.balanced(), "everything unwound once");
}

TEST_CASE("core-058 a replica that throws while another waits surfaces; no merge function runs") {
  explore_all([](world& w) { return expect_failure(w, 2, 0, 0b10, 1); });
}

TEST_CASE("replica 0 that throws before any merge surfaces") {
  explore_all([](world& w) { return expect_failure(w, 2, 0, 0b01, 0); });
}

TEST_CASE("a replica that throws between merges surfaces") {
  explore_all([](world& w) { return expect_failure(w, 2, 1, 0b10, 1); });
}

TEST_CASE("replica 0 that throws between merges surfaces") {
  explore_all([](world& w) { return expect_failure(w, 2, 1, 0b01, 0); });
}

TEST_CASE("of several failed replicas the lowest surfaces") {
  explore_all([](world& w) { return expect_failure(w, 3, 0, 0b110, 1); });
}

TEST_CASE("of several replicas that fail after a merge the lowest surfaces") {
  explore_all([](world& w) { return expect_failure(w, 2, 1, 0b11, 0); });
}

TEST_CASE("a failure among three replicas surfaces whatever the two lines do") {
  explore_seeds([](world& w) { return expect_failure(w, 3, 1, 0b100, 2); }, 3000);
}

TEST_CASE("a failure on one line surfaces alike") {
  simulation_options one_line;
  one_line.lines = 1;
  explore_all([](world& w) { return expect_failure(w, 3, 0, 0b100, 2); }, one_line);
}

TEST_CASE("replicas that wait for a failed one are told so") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    record log;
    static_cast<void>(co_await outcome_of(strategy.run(body, &log, 0, 0b10u)));
    w.check(log.told == 1, "errc::replica_failed");
  });
}

task<> merge_then_throw(replica_context ctx, int* resumed, int bad) {
  co_await ctx.merge_call([] {});
  ++*resumed;
  if (ctx.replica_id() == bad) throw own_failure(bad);
}

TEST_CASE("a completed merge stays completed for every replica when one then throws") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    int resumed = 0;
    const auto thrown = co_await outcome_of(strategy.run(merge_then_throw, &resumed, 1));
    w.check(resumed == 2, "both replicas got the result of the merge");
    w.check(failing_replica(thrown) == 1, "the failure surfaces");
  });
}

TEST_CASE("a plain replica function that throws surfaces with its own type") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto thrown = co_await outcome_of(strategy.run([](replica_context ctx) {
      if (ctx.replica_id() != 0) throw own_failure(ctx.replica_id());
    }));
    w.check(failing_replica(thrown) == 1, "the lowest that failed");
  });
}

task<> sleep_or_throw(replica_context ctx, census* bodies) {
  const guest here(*bodies);
  if (ctx.replica_id() == 1) throw own_failure(1);
  co_await sleep_for(std::chrono::hours(1));
}

TEST_CASE("a failure cuts the sleep of the other replicas short") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    census bodies;
    const auto thrown = co_await outcome_of(strategy.run(sleep_or_throw, &bodies));
    w.check(w.now() < std::chrono::hours(1), "nobody slept to the end");
    w.check(failing_replica(thrown) == 1 && bodies.balanced(), "the failure surfaces");
  });
}

task<int> identity(replica_context ctx) { co_return ctx.replica_id(); }

TEST_CASE("core-056 a strategy can be used again after a failed run") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    record log;
    static_cast<void>(co_await outcome_of(strategy.run(body, &log, 0, 0b10u)));
    const auto r = co_await strategy.run(identity);
    w.check(r == per_replica<int>({0, 1}), "the next run is whole");
  });
}

TEST_CASE("a failure's picture names the failed and the waiting replica") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    record log;
    static_cast<void>(co_await outcome_of(strategy.run(body, &log, 1, 0b10u)));
    const auto report = strategy.last_failure();
    w.check(report && report->code() == errc::replica_failed, "there is a report");
    w.check(report->replicas().size() == 2, "of both replicas");
    w.check(report->replicas()[1].is == replica_place::state::failed, "replica 1 failed");
    w.check(report->merges_agreed() == 1, "after one merge");
    w.check(report->last_agreed().line() != 0, "at a line of this file");
    w.check(!report->replay().empty(), "with the schedule so far");
  });
}

}  // namespace
}  // namespace troupe::test
