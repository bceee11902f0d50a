// Messages that are declared to commute: how many orders they leave, that no outcome is lost by it,
// and that a wrong declaration is found.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <utility>

#include "tests/support/commuting_programs.hpp"

namespace troupe::test {
namespace {

simulation_options quiet() {
  simulation_options options;
  options.heed_environment = false;
  return options;
}

// -- how many orders -----------------------------------------------------------------------------

template <bool Declared>
struct commuting_if {};
template <>
struct commuting_if<true> {
  using commutes = void;
};

template <bool Declared>
struct add : commuting_if<Declared> {
  using answer_type = void;
  add(int v, reply<> done) : value(v), to(std::move(done)) {}
  int value;
  reply<> to;
};

template <bool Declared>
class accumulator final : public actor<accumulator<Declared>, add<Declared>> {
 public:
  explicit accumulator(runtime& on) : actor<accumulator, add<Declared>>(on, "accumulator") {}
  void on(add<Declared> m) {
    total += m.value;
    m.to.set();
  }
  int state() const { return total; }
  int total = 0;
};

template <class Accumulator>
task<> add_and_merge(replica_context ctx, Accumulator* to, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    co_await to->template ask<add<std::is_same_v<Accumulator, accumulator<true>>>>(
        ctx.replica_id());
    co_await ctx.merge_call([] {});
  }
}

template <bool Declared>
task<> accumulate(world& w) {
  accumulator<Declared> all(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(add_and_merge<accumulator<Declared>>, &all, 2);
  co_await all.stop();
  w.check(all.total == 6, "0 + 1 + 2, twice");
}

TEST_CASE(
    "an accumulator of three replicas and two rounds has 36 orders, declared to commute one") {
  simulation_options options = quiet();
  options.check_sequences = false;
  const auto undeclared = simulation(options).explore(accumulate<false>);
  CHECK(undeclared.passed());
  CHECK(undeclared.orders == 36);
  CHECK(undeclared.redundant == 0);
  const auto declared = simulation(options).explore(accumulate<true>);
  CHECK(declared.passed());
  CHECK(declared.complete);
  CHECK(declared.orders == 1);
  CHECK(declared.schedules == 1);
}

// -- a wrong declaration -------------------------------------------------------------------------

struct amount {
  using commutes = void;
  explicit amount(double v) : value(v) {}
  double value;
};

class purse final : public actor<purse, amount> {
 public:
  explicit purse(runtime& on) : actor(on, "purse") {}
  void on(amount m) { total_ += m.value; }
  double state() const { return total_; }

 private:
  double total_ = 0;
};

task<> pay(replica_context ctx, purse* into) {
  const double amounts[] = {1e17, -1e17, 1};
  into->tell(amount(amounts[ctx.replica_id()]));
  co_return;
}

template <bool Stopped>
task<> pay_three_times(world& w) {
  purse into(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(pay, &into);
  if (Stopped) co_await into.stop();
  co_await sleep_for(std::chrono::seconds(1));  // All has been delivered.
}

TEST_CASE("a sum of floating-point numbers that is declared to commute is found not to") {
  for (const auto& program : {pay_three_times<true>, pay_three_times<false>}) {
    const auto report = simulation(quiet()).explore(program);
    REQUIRE(report.failure);
    CHECK(report.schedules == 1);
    CHECK(report.failure->what.find("TR-406: purse/0 is left in another state") == 0);
    CHECK(report.failure->picture.find("purse/0") != std::string::npos);
  }
}

TEST_CASE("drawn schedules on several threads find it, too") {
  simulation_options options = quiet();
  options.exhaustive = 1;
  options.jobs = 2;
  CHECK(simulation(options).explore(pay_three_times<true>).failure);
}

TEST_CASE("the string of messages that do not commute fails again, alike") {
  const auto report = simulation(quiet()).explore(pay_three_times<true>);
  REQUIRE(report.failure);
  const auto again = simulation(quiet()).replay(pay_three_times<true>, report.failure->schedule);
  REQUIRE(again.failure);
  CHECK(again.failure->what == report.failure->what);
}

// -- outcomes ------------------------------------------------------------------------------------

TEST_CASE("messages that commute lose no outcome of 150 generated programs") {
  std::uint64_t compared = 0;
  std::uint64_t schedules = 0;
  std::uint64_t orders = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const commuting::deeds all = commuting::generated(seed);
    std::set<std::string> every;
    simulation_options options = quiet();
    options.samples = 0;
    options.exhaustive = 2'000;
    options.partial_orders = false;
    const auto brute =
        simulation(options).explore([&](world& w) { return commuting::play(w, &all, &every); });
    REQUIRE(brute.passed());
    if (!brute.complete) continue;
    std::set<std::string> some;
    options.partial_orders = true;
    options.check_sequences = false;
    const auto reduced =
        simulation(options).explore([&](world& w) { return commuting::play(w, &all, &some); });
    INFO("program " << seed << ": " << reduced.text());
    REQUIRE(reduced.passed());
    CHECK(reduced.complete);
    CHECK(some == every);
    ++compared;
    schedules += brute.schedules;
    orders += reduced.orders;
  }
  INFO(compared << " programs, " << schedules << " schedules, " << orders << " orders");
  CHECK(compared > 50);
  CHECK(orders * 10 < schedules);
}

}  // namespace
}  // namespace troupe::test
