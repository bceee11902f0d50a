// Partial orders of runs that are broken, by what they do or by what the world does to them: one
// schedule of each is run, and each has one.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <stdexcept>
#include <troupe/troupe.hpp>

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

}  // namespace
}  // namespace troupe::test
