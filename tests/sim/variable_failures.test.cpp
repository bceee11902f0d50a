// Mirrored variables when runs fail or are cancelled, under every schedule: a write is in all
// components or in none, and none turns up later.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

using std::chrono::milliseconds;
using shared = variable<int, sum_op>;
using row = std::vector<float>;
using rows = variable<row, sum_op>;

/// Checks that the replicas read one value, and that neither asking the owners nor a write to
/// another variable changes it.
template <class V>
task<typename V::value_type> settled(world* w, const strategy* on, V v) {
  const auto read = co_await read_on_replicas(on, v);
  w->check(all_alike(read), "the components do not differ");
  const auto direct = co_await v.read();
  w->check(direct == read[0], "outside one reads what the replicas read");
  const variable other(*on, 0);
  co_await other.assign(1);
  const auto later = co_await read_on_replicas(on, v);
  w->check(later == read, "no write turns up later");
  co_return read[0];
}

// -- replicas that throw --------------------------------------------------------------------------

struct replica_failure : std::runtime_error {
  replica_failure() : runtime_error("replica") {}
};

enum class moment { before, between, after };

task<> write_twice(replica_context ctx, shared v, int who, moment when) {
  const bool fails = ctx.replica_id() == who;
  if (fails && when == moment::before) throw replica_failure();
  co_await v.assign_add(ctx, 1);
  if (fails && when == moment::between) throw replica_failure();
  co_await v.assign_add(ctx, 10);
  if (fails && when == moment::after) throw replica_failure();
}

template <int Replicas, moment When>
task<> let_one_throw(world& w) {
  mirrored_strategy strategy(w.runtime(), Replicas);
  const shared v(strategy, 0);
  const int who = static_cast<int>(w.choose(Replicas));
  const auto thrown = co_await outcome_of(strategy.run(write_twice, v, who, When));
  w.check(is_a<replica_failure>(thrown), "the run throws what the replica threw");
  constexpr int written[] = {0, 1, 11};
  const int value = co_await settled(&w, &strategy, v);
  w.check(value == Replicas * written[static_cast<int>(When)], "the writes before it, whole");
}

TEST_CASE("components do not differ after a replica threw before its first write") {
  explore_on_lines(let_one_throw<2, moment::before>);
  explore_on_lines(let_one_throw<3, moment::before>);
}

TEST_CASE("components do not differ after a replica threw between two writes") {
  explore_on_lines(let_one_throw<2, moment::between>);
  explore_on_lines(let_one_throw<3, moment::between>);
}

TEST_CASE("components do not differ after a replica threw when it had written") {
  explore_on_lines(let_one_throw<2, moment::after>);
  explore_on_lines(let_one_throw<3, moment::after>);
}

task<> fail_beside(const strategy* on, shared v) {
  static_cast<void>(co_await outcome_of(on->run(write_twice, v, 1, moment::between)));
}
task<> succeed_beside(const strategy* on, shared v) {
  co_await on->run(write_twice, v, -1, moment::after);
}

TEST_CASE("a run that fails beside another one leaves the components alike") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const shared v(strategy, 0);
    std::vector<task<>> both;
    both.push_back(fail_beside(&strategy, v));
    both.push_back(succeed_beside(&strategy, v));
    co_await when_all(std::move(both));
    const int value = co_await settled(&w, &strategy, v);
    w.check(value == 2 * 1 + 2 * 11, "all that was written");
  });
}

// -- updates that throw ---------------------------------------------------------------------------

void add_or_throw(update_context ctx, int& component, int who) {
  component += 1;
  if (ctx.replica_id() >= who) throw replica_failure();
}

TEST_CASE("an update that throws for some replicas has been made for all") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const shared v(strategy, 0);
    const auto thrown = co_await outcome_of(strategy.extended().update(v, add_or_throw, 1));
    w.check(is_a<replica_failure>(thrown), "it throws what the function threw");
    const int value = co_await settled(&w, &strategy, v);
    w.check(value == 1, "everywhere");
  });
}

// -- cancellation ---------------------------------------------------------------------------------

struct launched_run {
  asio::cancellation_signal cancel;
  int ended = 0;
  std::exception_ptr failure;

  auto token() {
    return asio::bind_cancellation_slot(cancel.slot(), [this](std::exception_ptr thrown) {
      ++ended;
      failure = thrown;
    });
  }
};

/// Cancels `run` at a moment of the schedule's choice, waits for its end and judges it.
task<> cancel_somewhere(world* w, launched_run* run) {
  // A sleep of no time is a step that others may come before or after.
  const std::uint32_t steps = w->choose(8);
  for (std::uint32_t i = 0; i < steps; ++i) co_await sleep_for(std::chrono::nanoseconds(0));
  run->cancel.emit(asio::cancellation_type::terminal);
  co_await sleep_for(milliseconds(100));
  w->check(run->ended == 1, "it ends once");
  w->check(!run->failure || is(run->failure, errc::cancelled), "with its result or cancelled");
}

TEST_CASE("a cancelled run leaves each of its writes whole or out") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const shared v(strategy, 0);
    launched_run run;
    strategy.async_run(write_twice, std::tuple(v, -1, moment::after), run.token());
    co_await cancel_somewhere(&w, &run);
    const int value = co_await settled(&w, &strategy, v);
    w.check(value == 0 || value == 2 || value == 22, "of both replicas or of none");
    w.check(run.failure || value == 22, "all of them, if it was not cancelled");
  });
}

// Large enough that its sum is made by steps of a graph, between which a cancellation may come.
row large(float value) { return row(32'768, value); }

task<> add_rows(replica_context ctx, rows v) {
  co_await v.assign_add(ctx, large(1));
  co_await v.assign_add(ctx, large(10));
}

task<> cancel_large_sums(world& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const rows v(strategy, large(0));
  launched_run run;
  strategy.async_run(add_rows, std::tuple(v), run.token());
  co_await cancel_somewhere(&w, &run);
  const row value = co_await settled(&w, &strategy, v);
  w.check(value == large(0) || value == large(2) || value == large(22), "of all or of none");
  w.check(run.failure || value == large(22), "all of them, if it was not cancelled");
}

TEST_CASE("a run cancelled while it adds up tensors leaves each write whole or out") {
  explore_on_lines(cancel_large_sums, 300, 300);
}

task<> assign_in_merge(cross_replica_context, per_replica<int>, shared v) {
  co_await v.assign_add(1);
  co_await v.assign_add(10);
}

task<> merge_and_assign(replica_context ctx, shared v) {
  co_await ctx.merge_call(assign_in_merge, 0, v);
}

TEST_CASE("a run cancelled in a merge function that writes leaves each write whole or out") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const shared v(strategy, 0);
    launched_run run;
    strategy.async_run(merge_and_assign, std::tuple(v), run.token());
    co_await cancel_somewhere(&w, &run);
    const int value = co_await settled(&w, &strategy, v);
    w.check(value == 0 || value == 1 || value == 11, "in order");
  });
}

task<> assign_one_then_ten(shared v) {
  co_await v.assign_add(1);
  co_await v.assign_add(10);
}

TEST_CASE("a task cancelled while it assigns leaves the components alike") {
  explore_on_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const shared v(strategy, 0);
    launched_run run;
    launch(w.runtime(), assign_one_then_ten(v), run.token());
    co_await cancel_somewhere(&w, &run);
    const int value = co_await settled(&w, &strategy, v);
    w.check(value == 0 || value == 1 || value == 11, "in order");
  });
}

}  // namespace
}  // namespace troupe::test
