// Partial orders of runs that are broken, by what they do or by what the world does to them: one
// schedule of each is run, and each has one.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <set>
#include <stdexcept>
#include <troupe/troupe.hpp>
#include <tuple>

#include "troupe/runtime/faults.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

/// All orders, and then all other schedules: one of an order that was not found would end the
/// count of orders.
exploration every_schedule(const simulation::program& body) {
  simulation_options options;
  options.heed_environment = false;
  exploration report = simulation(options).explore(body);
  INFO(report.text());
  REQUIRE(report.passed());
  REQUIRE(report.every_sequence);
  CHECK(report.orders > 0);
  return report;
}

task<int> sum_of_ids(replica_context ctx) {
  const int id = ctx.replica_id();
  co_return co_await ctx.all_reduce(reduce_op::sum, id);
}

task<> throw_beside_a_merge(world& w, int replicas) {
  mirrored_strategy strategy(w.runtime(), replicas);
  const auto step = [](replica_context ctx) -> task<> {
    if (ctx.replica_id() == 1) throw std::runtime_error("one");
    co_await ctx.merge_call([] {});
  };
  try {
    co_await strategy.run(step);
    w.check(false, "the run is broken");
  } catch (const std::runtime_error&) {
  }
}

TEST_CASE("every order of a run that is broken by a failure is found") {
  for (const int replicas : {2, 3}) {
    const auto report = every_schedule([=](world& w) { return throw_beside_a_merge(w, replicas); });
    CHECK(report.redundant == 0);
  }
}

task<> run_with(world& w, fault_budget faults) {
  w.faults(faults.lasting(50ms));
  mirrored_strategy strategy(w.runtime(), 2);
  try {
    co_await strategy.run(sum_of_ids);
  } catch (const error&) {
  }
}

exploration every_schedule_with(const fault_budget& faults) {
  return every_schedule([faults](world& w) { return run_with(w, faults); });
}

TEST_CASE("every order of a run with faults is found") {
  every_schedule_with(fault_budget().crashes(1));
  every_schedule_with(fault_budget().crashes(2));
  every_schedule_with(fault_budget().cancellations(1));
  every_schedule_with(fault_budget().crashes(1).stalls(1));
  every_schedule_with(fault_budget().stalls(1).cancellations(1));
}

TEST_CASE("stalls make an order for each of their places, and no run is redundant") {
  const auto one = every_schedule_with(fault_budget().stalls(1));
  CHECK(one.orders == 5);  // None, or before one of two steps of one of two replicas.
  CHECK(one.redundant == 0);
  const auto two = every_schedule_with(fault_budget().stalls(2));
  CHECK(two.redundant == 0);
}

// -- faults beside choices of the program's own --------------------------------------------------

struct go {};
struct written {
  int number;
};

class reader final : public actor<reader, go> {
 public:
  reader(world& w, sim::shared<int>& from) : actor(w.runtime(), "reader"), world_(w), from_(from) {}
  void on(go) {
    chose = world_.choose(2);
    seen = from_.read();
  }
  std::uint32_t chose = 0;
  int seen = 0;

 private:
  world& world_;
  sim::shared<int>& from_;
};

class writer final : public actor<writer, written> {
 public:
  writer(world& w, sim::shared<int>& to) : actor(w.runtime(), "writer"), world_(w), to_(to) {}
  void on(written m) {
    if (m.number == 1) {
      to_.write(1);
    } else {
      late = world_.now() > 0ns;
    }
  }
  bool late = false;

 private:
  world& world_;
  sim::shared<int>& to_;
};

using outcomes = std::set<std::tuple<std::uint32_t, int, bool>>;

/// Where the one delay has struck the writer's second letter, the reader's first choice is its own,
/// of as many values as there were faults for it before.
task<> choose_and_read(world& w, outcomes* into) {
  sim::shared<int> value(0);
  reader reads(w, value);
  writer writes(w, value);
  w.faults(fault_budget().delays(1).lasting(1ms));
  reads.tell(go());
  writes.tell(written{1});
  writes.tell(written{2});
  co_await reads.stop();
  co_await writes.stop();
  into->emplace(reads.chose, reads.seen, writes.late);
}

TEST_CASE("a fault that is not tried again leaves all choices of the program's own") {
  simulation_options options;
  options.heed_environment = false;
  options.check_sequences = false;
  outcomes found;
  const auto report =
      simulation(options).explore([&](world& w) { return choose_and_read(w, &found); });
  CHECK(report.passed());
  CHECK(report.complete);
  CHECK(found.size() == 8);
  every_schedule([&](world& w) { return choose_and_read(w, &found); });
  CHECK(found.size() == 8);
}

task<> choose_and_throw(replica_context, world* w) {
  if (w->choose(2) == 1) throw std::runtime_error("chosen");
  co_return;
}
task<> crash_or_choose(world& w) {
  w.faults(fault_budget().crashes(1));
  mirrored_strategy strategy(w.runtime(), 1);
  try {
    co_await strategy.run(choose_and_throw, &w);
  } catch (const std::exception&) {
  }
}

TEST_CASE("a replica that crashes and one that chooses to throw are two orders") {
  const auto report = every_schedule(crash_or_choose);
  CHECK(report.redundant == 0);
}

}  // namespace
}  // namespace troupe::test
