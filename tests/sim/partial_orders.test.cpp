// One schedule of each partial order: how many there are, and what is done where they do not
// tell everything. That they show every outcome is in generated_programs.test.cpp.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/generated_programs.hpp"

namespace troupe::test {
namespace {

/// Partial orders alone, without others of their schedules.
exploration explore_orders(const simulation::program& body) {
  simulation_options options;
  options.heed_environment = false;
  options.check_sequences = false;
  exploration report = simulation(options).explore(body);
  INFO(report.text());
  REQUIRE(report.passed());
  REQUIRE(report.complete);
  CHECK(report.redundant == 0);
  CHECK(report.schedules == report.orders);
  return report;
}

task<> merge_so_often(replica_context ctx, int rounds) {
  for (int i = 0; i < rounds; ++i) co_await ctx.merge_call([] {});
}

template <int Replicas, int Rounds>
task<> merging(world& w) {
  mirrored_strategy strategy(w.runtime(), Replicas);
  co_await strategy.run(merge_so_often, Rounds);
}

TEST_CASE("eight replicas and four merges have one partial order") {
  const auto report = explore_orders(merging<8, 4>);
  CHECK(report.orders == 1);
  CHECK(report.sequences > 1e22);  // 8! to the fifth.
}

TEST_CASE("the schedules of an order are counted, not run") {
  CHECK(explore_orders(merging<3, 2>).sequences == 216);
}

task<> ask_and_merge(replica_context ctx, generated::keeper* with, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    with->tell(generated::number(ctx.replica_id()));
    co_await with->ask<generated::count>();
    co_await ctx.merge_call([] {});
  }
}

TEST_CASE("an actor that three replicas ask in each of two rounds makes 36 partial orders") {
  std::set<std::vector<int>> seen;
  const auto report = explore_orders([&](world& w) {
    return [](world& in, std::set<std::vector<int>>* into) -> task<> {
      generated::keeper with(in.runtime());
      mirrored_strategy strategy(in.runtime(), 3);
      co_await strategy.run(ask_and_merge, &with, 2);
      co_await with.stop();
      into->insert(with.kept);
    }(w, &seen);
  });
  CHECK(seen.size() == 36);
  CHECK(report.sequences > 1e6);
}

task<> sleep_in_step(replica_context, int rounds) {
  for (int i = 0; i < rounds; ++i) co_await sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("sleeping replicas do not depend on each other") {
  CHECK(explore_orders([](world& w) -> task<> {
          mirrored_strategy strategy(w.runtime(), 4);
          co_await strategy.run(sleep_in_step, 3);
        }).orders == 1);
}

TEST_CASE("every value of a choice is tried in every order") {
  std::set<std::vector<int>> seen;
  const auto report = explore_orders([&](world& w) {
    return [](world& in, std::set<std::vector<int>>* into) -> task<> {
      generated::keeper with(in.runtime());
      mirrored_strategy strategy(in.runtime(), 2);
      co_await strategy.run(
          [](replica_context, world* of, generated::keeper* to) {
            to->tell(generated::number(static_cast<int>(of->choose(3))));
          },
          &in, &with);
      co_await with.ask<generated::count>();
      co_await with.stop();
      into->insert(with.kept);
    }(w, &seen);
  });
  CHECK(seen.size() == 9 + 3 + 1);     // The actor may be stopped before it gets one, or both.
  CHECK(report.orders > seen.size());  // Which of the letters comes first.
}

TEST_CASE("a run that is broken off because others have its order is no order of its own") {
  const generated_program program = generated_program::make(164);
  std::set<std::string> outcomes;
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore(
      [&](world& w) { return generated::play(w, &program, &outcomes); });
  REQUIRE(report.every_sequence);
  CHECK(report.orders == 75);
  CHECK(report.redundant == 1);
}

// -- memory that replicas share ------------------------------------------------------------------

task<> add_one(replica_context ctx, int* counter) {
  const int before = *counter;
  co_await ctx.merge_call([] {});
  *counter = before + 1 + ctx.replica_id();
}
task<> add_in_plain_memory(world& w) {
  int counter = 0;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(add_one, &counter);
  w.check(counter == 2, "replica 1 has written last");
}

TEST_CASE("what plain memory hides from the orders, their other schedules find") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore(add_in_plain_memory);
  REQUIRE(report.failure);
  CHECK(report.failure->same_order_held);
  CHECK(report.text().find("put it into sim::shared") != std::string::npos);
}

task<> add_one_seen(replica_context ctx, sim::shared<int>* counter) {
  const int before = counter->read();
  co_await ctx.merge_call([] {});
  counter->write(before + 1 + ctx.replica_id());
}
task<> add_in_shared_memory(world& w) {
  sim::shared<int> counter;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(add_one_seen, &counter);
  w.check(counter.read() == 2, "replica 1 has written last");
}

TEST_CASE("what replicas share in sim::shared makes an order each") {
  simulation_options options;
  options.heed_environment = false;
  options.check_sequences = false;
  const auto report = simulation(options).explore(add_in_shared_memory);
  REQUIRE(report.failure);
  CHECK(report.schedules == 2);
  CHECK_FALSE(report.failure->same_order_held);
}

TEST_CASE("two looks at shared memory have one order, two changes have two") {
  const auto orders_of = [](auto access) {
    return explore_orders([access](world& w) {
             return [](world& in, decltype(access) f) -> task<> {
               sim::shared<int> memory(7);
               mirrored_strategy strategy(in.runtime(), 2);
               co_await strategy.run(f, &memory);
             }(w, access);
           })
        .orders;
  };
  CHECK(orders_of([](replica_context, sim::shared<int>* m) { return m->read(); }) == 1);
  CHECK(orders_of([](replica_context, sim::shared<int>* m) {
          return m->change([](int& v) { return ++v; });
        }) == 2);
}

task<> first_one_merges_first(replica_context ctx, int* arrived) {
  const bool first = (*arrived)++ == 0;
  if (first) co_await sleep_for(std::chrono::milliseconds(1));
  co_await ctx.merge_call([] {});
}
task<> plain_memory_leads(world& w) {
  int arrived = 0;
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(first_one_merges_first, &arrived);
}

TEST_CASE("plain memory that changes the course is noticed, and every schedule is tried instead") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore(plain_memory_leads);
  CHECK(report.passed());
  CHECK(report.complete);
  CHECK(report.every_sequence);
  CHECK(report.orders == 0);
}

// -- claims --------------------------------------------------------------------------------------

task<> count_rounds(replica_context ctx, int* rounds) {
  const auto count = [rounds] { ++*rounds; };
  co_await ctx.merge_call(count);
}

template <bool AtTheEnd>
task<> claim_something(world& w) {
  int rounds = 0;
  mirrored_strategy strategy(w.runtime(), 3);
  if (!AtTheEnd) w.always("no more than four", [&] { return rounds <= 4; });
  co_await strategy.run(count_rounds, &rounds);
  if (AtTheEnd) w.always("once", [&] { return rounds == 1; });
}

TEST_CASE("a claim that looks between all steps leaves no order out") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore(claim_something<false>);
  CHECK(report.passed());
  CHECK(report.every_sequence);
  CHECK(report.orders == 0);
}

TEST_CASE("a claim about the end leaves the orders as they are") {
  CHECK(explore_orders(claim_something<true>).orders == 1);
}

// -- what is said of it --------------------------------------------------------------------------

TEST_CASE("a proof tells orders, schedules and redundant runs") {
  simulation_options options;
  options.heed_environment = false;
  const std::string all = simulation(options).explore(merging<3, 2>).text();
  CHECK(all.find("proved: 1 of 1 partial order (216 interleavings, each was run), 0 redundant, ") ==
        0);
  options.exhaustive = 100;
  const std::string some = simulation(options).explore(merging<3, 2>).text();
  CHECK(some.find("proved: 1 of 1 partial order (216 interleavings), 0 redundant, ") == 0);
}

TEST_CASE("what is drawn tells how many orders it had, and about how much is still unseen") {
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 5;
  options.samples = 40;
  const auto report = simulation(options).explore([](world& w) -> task<> {
    generated::keeper with(w.runtime());
    mirrored_strategy strategy(w.runtime(), 3);
    co_await strategy.run(ask_and_merge, &with, 2);
    co_await with.stop();
  });
  REQUIRE(report.passed());
  CHECK_FALSE(report.complete);
  CHECK(report.orders > 5);
  CHECK(report.orders <= 36);
  REQUIRE(report.unseen);
  CHECK(*report.unseen > 0);
  CHECK(report.text().find("holds under 45 schedules of " + std::to_string(report.orders) +
                           " partial orders; there are more: about ") == 0);
}

task<> choose_and_ask(world& w) {
  generated::keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  static_cast<void>(w.choose(3));  // Leaves no other mark.
  co_await strategy.run(ask_and_merge, &with, 1);
  co_await with.stop();
}

TEST_CASE("schedules drawn again and again have every order, and no other") {
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 1;
  options.samples = 5'000;
  const auto drawn = simulation(options).explore(choose_and_ask);
  REQUIRE(drawn.passed());
  CHECK(drawn.orders == explore_orders(choose_and_ask).orders);
  options.jobs = 2;
  CHECK(simulation(options).explore(choose_and_ask).orders == drawn.orders);
}

}  // namespace
}  // namespace troupe::test
