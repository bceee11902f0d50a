// "Nothing can run and somebody waits" is a verdict, at once, with every waiting coroutine.

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

int first_of(const per_replica<int>& values) { return values[0]; }

error deadlock_of(const simulation::program& body) {
  const failure found = explore_to_failure(body);
  const auto verdict = as<error>(found.exception);
  REQUIRE(verdict);
  REQUIRE(verdict->code() == errc::deadlock);
  return *verdict;
}

/// True if a line of the verdict names this party and this line of this file.
bool names(const error& verdict, const std::string& party, unsigned line) {
  const std::string at = "deadlock.test.cpp:" + std::to_string(line);
  return std::any_of(verdict.waiting().begin(), verdict.waiting().end(), [&](const auto& text) {
    const auto found = text.find(at);
    if (found == text.npos || !text.starts_with(party)) return false;
    const auto after = found + at.size();
    return after == text.size() || text[after] < '0' || text[after] > '9';
  });
}

constexpr unsigned merge_line = __LINE__ + 7;
constexpr unsigned gate_line = __LINE__ + 4;
task<> one_never_comes(replica_context ctx) {
  gate never;
  if (ctx.replica_id() == 1) {
    co_await never.async_pass(use_task);
  }
  static_cast<void>(co_await ctx.merge_call(first_of, 1));
}

constexpr unsigned run_line = __LINE__ + 3;
task<> run_and_hang(world& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(one_never_comes);
}

TEST_CASE("a deadlock names the replica that waits at a merge, with its line") {
  CHECK(names(deadlock_of(run_and_hang), "replica/0", merge_line));
}

TEST_CASE("a deadlock names the replica that waits for the outside, with its line") {
  CHECK(names(deadlock_of(run_and_hang), "replica/1", gate_line));
}

TEST_CASE("a deadlock names the task that waits for the run, with its line") {
  CHECK(names(deadlock_of(run_and_hang), "task/0", run_line));
}

TEST_CASE("a deadlock has one line for each waiting coroutine") {
  CHECK(deadlock_of(run_and_hang).waiting().size() == 3);
}

TEST_CASE("a deadlock carries the schedule that leads to it") {
  const failure found = explore_to_failure(run_and_hang);
  CHECK(as<error>(found.exception)->replay() == found.schedule);
}

constexpr unsigned inner_line = __LINE__ + 3;
task<> wait_forever() {
  gate never;
  co_await never.async_pass(use_task);
}

constexpr unsigned outer_line = __LINE__ + 1;
task<> call_and_wait() { co_await wait_forever(); }

TEST_CASE("a deadlock names every await of a chain") {
  const auto verdict = deadlock_of([](world&) -> task<> { co_await call_and_wait(); });
  CHECK(names(verdict, "task/0", inner_line));
  CHECK(names(verdict, "task/0", outer_line));
}

TEST_CASE("a launched task that waits when the program has returned is a deadlock") {
  const auto verdict = deadlock_of([](world& w) -> task<> {
    launch(w.runtime(), wait_forever(), [](std::exception_ptr) {});
    co_return;
  });
  CHECK(names(verdict, "task/", inner_line));
}

task<int> hang_in_merge(per_replica<int> values) {
  co_await wait_forever();
  co_return values[0];
}

TEST_CASE("a deadlock names the merge function that waits") {
  const auto verdict = deadlock_of([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run([](replica_context ctx) -> task<> {
      static_cast<void>(co_await ctx.merge_call(hang_in_merge, 1));
    });
  });
  CHECK(names(verdict, "barrier/0", inner_line));
}

TEST_CASE("a sleep is no deadlock, however long") {
  explore_all([](world& w) -> task<> {
    co_await sleep_for(std::chrono::hours(10'000));
    w.check(w.now() == std::chrono::hours(10'000), "time has passed");
  });
}

// Two tasks that wait for each other's gate, depending on the order of two replicas.
struct pair_of_gates {
  gate gates[2];
  bool taken[2] = {false, false};
};

task<> take_both(replica_context ctx, pair_of_gates* table) {
  const int mine = ctx.replica_id();
  const std::array<int, 2> forks = {mine, 1 - mine};
  for (const int fork : forks) {
    if (table->taken[fork]) co_await table->gates[fork].async_pass(use_task);
    table->taken[fork] = true;
    co_await sleep_for(std::chrono::nanoseconds(0));
  }
  for (const int fork : forks) {
    table->taken[fork] = false;
    table->gates[fork].open();
  }
}

TEST_CASE("two replicas that each hold what the other needs are a deadlock with both named") {
  const auto verdict = deadlock_of([](world& w) -> task<> {
    pair_of_gates table;
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run(take_both, &table);
  });
  CHECK(verdict.waiting().size() == 3);
}

}  // namespace
}  // namespace troupe::test
