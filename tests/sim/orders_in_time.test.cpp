// Partial orders where time decides: what they show, and what every schedule shows.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/generated_programs.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

using outcomes = std::set<std::string>;
using told_program = task<> (*)(world&, outcomes*);

outcomes outcomes_of(told_program body, bool partial_orders, unsigned early_timeouts) {
  simulation_options options;
  options.heed_environment = false;
  options.partial_orders = partial_orders;
  options.check_sequences = false;
  options.early_timeouts = early_timeouts;
  options.samples = 0;
  outcomes all;
  const auto report = simulation(options).explore([&](world& w) { return body(w, &all); });
  INFO(report.text());
  REQUIRE(report.passed());
  REQUIRE(report.complete);
  return all;
}

/// \return how many outcomes there are.
std::size_t shows_everything(told_program body, unsigned early_timeouts = 0) {
  const outcomes every = outcomes_of(body, false, early_timeouts);
  CHECK(outcomes_of(body, true, early_timeouts) == every);
  return every.size();
}

/// Counts down what was launched.
auto one_of(sim::shared<int>* left) {
  return [left](std::exception_ptr) { left->change([](int& l) { --l; }); };
}

task<> until_all_ended(const sim::shared<int>* left) {
  while (left->read() != 0) co_await sleep_for(1ms);
}

// -- time-outs that end early --------------------------------------------------------------------

task<> note_now(world* w, std::string* into) {
  *into = std::to_string(w->now() / 1ms);
  co_return;
}

task<> nap() { co_await sleep_for(1ms); }

task<> look_at_the_clock(world& w, outcomes* into) {
  std::string seen;
  sim::shared<int> left(2);
  launch(w.runtime(), note_now(&w, &seen), one_of(&left));
  launch(w.runtime(), nap(), one_of(&left));
  co_await until_all_ended(&left);
  into->insert(seen);
}

TEST_CASE("orders show what is seen after a time-out that ended early") {
  CHECK(shows_everything(look_at_the_clock) == 1);
  CHECK(shows_everything(look_at_the_clock, 1) == 2);
}

task<> cancel_later(timer* t) {
  co_await sleep_for(1ms);
  t->cancel();
}

task<> wait_for_a_timer(world& w, outcomes* into) {
  timer t(w.runtime().get_executor());
  sim::shared<int> left(1);
  launch(w.runtime(), cancel_later(&t), one_of(&left));
  t.expires_after(2ms);
  std::string how = "rang";
  try {
    co_await t.async_wait(use_task);
  } catch (const std::system_error&) {
    how = "cancelled";
  }
  co_await until_all_ended(&left);
  into->insert(how);
}

TEST_CASE("a timer that did not exist yet is no other course") {
  CHECK(shows_everything(wait_for_a_timer) == 1);
  CHECK(shows_everything(wait_for_a_timer, 1) == 2);
}

task<> nap_in_one(replica_context ctx, world* w, std::string* into) {
  if (ctx.replica_id() == 0) {
    *into = std::to_string(w->now() / 1ms);
  } else {
    co_await sleep_for(1ms);
  }
}

task<> begin_or_nap(world& w, outcomes* into) {
  std::string begun;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(nap_in_one, &w, &begun);
  into->insert("begun at " + begun);
}

TEST_CASE("time may pass before somebody has begun, if only another one lets it") {
  CHECK(shows_everything(begin_or_nap) == 1);
  CHECK(shows_everything(begin_or_nap, 1) == 2);
}

task<> enter_and_nap(replica_context ctx, sim::shared<int>* order) {
  co_await sleep_for(1ms);
  order->change([&](int& o) { o = 10 * o + ctx.replica_id() + 1; });
}

task<> a_stall_ends_early(world& w, outcomes* into) {
  w.faults(fault_budget().stalls(1).lasting(5ms));
  sim::shared<int> order(0);
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(enter_and_nap, &order);
  into->insert(std::to_string(order.read()) + " at " + std::to_string(w.now() / 1ms));
}

TEST_CASE("what a fault holds up may come early, in every order") {
  CHECK(shows_everything(a_stall_ends_early, 1) > 2);
}

task<> a_stall_of(world& w, std::chrono::nanoseconds how_long) {
  w.faults(fault_budget().stalls(1).lasting(how_long));
  mirrored_strategy strategy(w.runtime(), 2);
  co_await nap();
  const auto before = w.now();
  co_await strategy.run(nap);
  w.check(w.now() > before, "time goes on");
}

TEST_CASE("time never goes back, however long a fault lasts") {
  for (const auto how_long : {std::chrono::nanoseconds(-1h), std::chrono::nanoseconds::max()}) {
    simulation_options options;
    options.heed_environment = false;
    const auto report =
        simulation(options).explore([=](world& w) { return a_stall_of(w, how_long); });
    INFO(report.text());
    CHECK(report.passed());
  }
}

// -- handlers of timers --------------------------------------------------------------------------

task<> start_alarm(replica_context ctx, std::vector<std::unique_ptr<timer>>* alarms,
                   sim::shared<int>* order) {
  const int self = ctx.replica_id();
  timer& mine = *(*alarms)[static_cast<std::size_t>(self)];
  mine.expires_after(1ms);
  mine.async_wait(
      [order, self](std::error_code) { order->change([&](int& o) { o = 10 * o + self + 1; }); });
  co_return;
}

task<> handlers_of_one_deadline(world& w, outcomes* into) {
  sim::shared<int> order(0);
  std::vector<std::unique_ptr<timer>> alarms;
  for (int i = 0; i < 2; ++i) {
    alarms.push_back(std::make_unique<timer>(w.runtime().get_executor()));
  }
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(start_alarm, &alarms, &order);
  co_await sleep_for(2ms);
  into->insert(std::to_string(order.read()));
}

TEST_CASE("handlers of timers that end together are called in every order") {
  CHECK(shows_everything(handlers_of_one_deadline) == 2);
}

// -- healing -------------------------------------------------------------------------------------

task<> merge_once(replica_context ctx) {
  co_await ctx.merge_call([] {});
}

task<> heal_again_and_again(world& w, outcomes*) {
  mirrored_strategy strategy(w.runtime(), 2);
  for (int i = 0; i < 8; ++i) {
    w.faults(fault_budget());
    w.heal(20);
    co_await strategy.run(merge_once);
  }
  w.heal(~0ull);  // As many as it likes.
  co_await strategy.run(merge_once);
}

TEST_CASE("each heal() gives the steps it says, counted from there") {
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 10;
  options.samples = 10;
  outcomes none;
  const auto report =
      simulation(options).explore([&](world& w) { return heal_again_and_again(w, &none); });
  INFO(report.text());
  CHECK(report.passed());
}

}  // namespace
}  // namespace troupe::test
