// What docs/simulation.md shows, run.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <troupe/troupe.hpp>

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

task<> step(replica_context ctx) {
  co_await ctx.merge_call([] {});
}

// [faults]
task<> survives(world& w) {
  w.faults(fault_budget().crashes(1).stalls(1).lasting(50ms));
  mirrored_strategy strategy(w.runtime(), 2);
  try {
    co_await strategy.run(step);
  } catch (const error&) {
    w.sometimes("a run fails");
  }
  w.heal();
  co_await strategy.run(step);  // Nothing is left over from the run that failed.
}
// [/faults]

TEST_CASE("the program with faults holds") {
  const auto report = simulation().explore(survives);
  INFO(report.text());
  CHECK(report.passed());
  CHECK((report.complete || report.replayed));
}

// [shared]
task<> count(replica_context ctx, sim::shared<int>* counter) {
  const int before = counter->read();
  co_await ctx.merge_call([] {});
  counter->write(before + 1);
}
// [/shared]

TEST_CASE("the program with shared memory loses an update") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore([](world& w) -> task<> {
    sim::shared<int> counter;
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run(count, &counter);
    w.check(counter.read() == 2, "both have counted");
  });
  REQUIRE(report.failure);
  CHECK_FALSE(report.failure->same_order_held);
}

// [commutes]
struct add {
  using commutes = void;
  explicit add(int v) : value(v) {}
  int value;
};

class accumulator final : public actor<accumulator, add> {
 public:
  explicit accumulator(runtime& on) : actor(on, "accumulator") {}
  void on(add m) { total_ += m.value; }
  int state() const { return total_; }  // Whatever std::hash understands.

 private:
  int total_ = 0;
};
// [/commutes]

TEST_CASE("the accumulator of three replicas has one order") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore([](world& w) -> task<> {
    accumulator all(w.runtime());
    mirrored_strategy strategy(w.runtime(), 3);
    co_await strategy.run(
        [](replica_context ctx, accumulator* to) { to->tell(add(ctx.replica_id())); }, &all);
    co_await sleep_for(1ms);  // All that was told has come.
    co_await all.stop();
    w.check(all.state() == 3, "0 + 1 + 2");
  });
  INFO(report.text());
  CHECK(report.passed());
  CHECK(report.orders == 1);
}

}  // namespace
}  // namespace troupe::test
