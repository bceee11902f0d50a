// orders.cpp - proofs by partial orders: how many runs they take, what one costs, what they miss.

#include <cstdint>
#include <set>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>

#include "bench/harness/measure.hpp"
#include "bench/simulation/contenders.hpp"
#include "tests/support/generated_programs.hpp"

namespace troupe::bench {

namespace {

using test::generated_program;
using test::generated::keeper;
using test::generated::number;
using test::generated::play;

struct how_many {
  using answer_type = int;
  explicit how_many(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
class accumulator final : public actor<accumulator, how_many> {
 public:
  explicit accumulator(runtime& on) : actor(on, "accumulator") {}
  void on(how_many m) { m.to.set(++total_); }

 private:
  int total_ = 0;
};

/// The same of messages that commute: the answer is that one has come.
struct add {
  using commutes = void;
  using answer_type = void;
  add(int v, reply<> done) : value(v), to(std::move(done)) {}
  int value;
  reply<> to;
};
class commuting_accumulator final : public actor<commuting_accumulator, add> {
 public:
  explicit commuting_accumulator(runtime& on) : actor(on, "accumulator") {}
  void on(add m) {
    total_ += m.value;
    m.to.set();
  }
  int state() const { return total_; }

 private:
  int total_ = 0;
};

task<> merge_so_often(replica_context ctx, int rounds) {
  for (int i = 0; i < rounds; ++i) co_await ctx.merge_call([] {});
}
task<> eight_by_four(world& w) {
  mirrored_strategy strategy(w.runtime(), 8);
  co_await strategy.run(merge_so_often, 4);
}

task<> ask_and_merge(replica_context ctx, accumulator* with) {
  for (int i = 0; i < 2; ++i) {
    co_await with->ask<how_many>();
    co_await ctx.merge_call([] {});
  }
}
task<> add_and_merge(replica_context ctx, commuting_accumulator* with) {
  for (int i = 0; i < 2; ++i) {
    co_await with->ask<add>(ctx.replica_id());
    co_await ctx.merge_call([] {});
  }
}
template <class Accumulator, class Step>
task<> race(world& w, Step step) {
  Accumulator with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(step, &with);
  co_await with.stop();
}
task<> racing(world& w) { return race<accumulator>(w, ask_and_merge); }
task<> commuting(world& w) { return race<commuting_accumulator>(w, add_and_merge); }

task<> tell_once(replica_context ctx, keeper* with) {
  with->tell(number(ctx.replica_id()));
  co_await ctx.merge_call([] {});
}
task<> thirty_two(world& w) {
  keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 30);
  co_await strategy.run(tell_once, &with);
  co_await with.stop();
}

simulation_options only_orders(std::uint64_t at_most = 20'000) {
  simulation_options options;
  options.heed_environment = false;
  options.progress = nullptr;
  options.check_sequences = false;
  options.samples = 0;
  options.exhaustive = at_most;
  return options;
}

exploration timed(const simulation_options& options, const simulation::program& body,
                  double& nanoseconds) {
  cpu_stopwatch watch;
  watch.start();
  exploration report = simulation(options).explore(body);
  watch.stop();
  nanoseconds = watch.nanoseconds();
  if (!report.passed()) throw wrong_result(report.text());
  return report;
}

/// CPU nanoseconds for so many proofs, with all that is checked beside them by default.
double prove(std::uint64_t times) {
  double all = 0;
  for (std::uint64_t i = 0; i < times; ++i) {
    simulation_options options;
    options.heed_environment = false;
    options.progress = nullptr;
    double once = 0;
    const auto report = timed(options, eight_by_four, once);
    expect_equal("orders", report.orders, 1);
    if (!report.complete) throw wrong_result(report.text());
    all += once;
  }
  return all;
}

double runs_of(const simulation::program& body, std::uint64_t orders) {
  double taken = 0;
  const auto report = timed(only_orders(), body, taken);
  expect_equal("orders", report.orders, orders);
  expect_equal("redundant runs", report.redundant, 0);
  return static_cast<double>(report.schedules);
}

/// What learning from a run adds to it, for each step; so often measured.
double cost_of_a_step(std::uint64_t times) {
  constexpr std::uint64_t runs = 2'000;
  auto without_orders = only_orders(runs);
  without_orders.partial_orders = false;
  double all = 0;
  for (std::uint64_t i = 0; i < times; ++i) {
    double with = 0;
    double without = 0;
    const auto orders = timed(only_orders(runs), thirty_two, with);
    timed(without_orders, thirty_two, without);
    expect_equal("runs", orders.schedules, runs);
    expect_equal("orders", orders.orders, runs);
    all += (with - without) / static_cast<double>(orders.steps);
  }
  return all;
}

/// Of 500 generated programs, those of which orders show every outcome.
double programs_alike() {
  int compared = 0;
  int alike = 0;
  for (std::uint64_t seed = 1; compared < 500; ++seed) {
    const generated_program program = generated_program::make(seed);
    std::set<std::string> every;
    std::set<std::string> reduced;
    auto options = only_orders(2'000);
    options.partial_orders = false;
    const auto all =
        simulation(options).explore([&](world& w) { return play(w, &program, &every); });
    if (!all.complete) continue;
    options.partial_orders = true;
    const auto some =
        simulation(options).explore([&](world& w) { return play(w, &program, &reduced); });
    ++compared;
    alike += some.complete && every == reduced ? 1 : 0;
  }
  return alike;
}

}  // namespace

void add_our_proofs(table& contest) { contest.contenders.push_back({"troupe", prove}); }

void add_our_races(table& contest) {
  contest.contenders.push_back({"troupe", [](std::uint64_t) { return runs_of(racing, 36); }});
  contest.contenders.push_back(
      {"declared_to_commute", [](std::uint64_t) { return runs_of(commuting, 1); }});
}

void add_our_generated_programs(table& contest) {
  contest.contenders.push_back({"troupe", [](std::uint64_t) { return programs_alike(); }});
}

void add_our_reduction(table& contest) {
  contest.contenders.push_back({"troupe", cost_of_a_step, 1});  // Four times, which is enough.
}

}  // namespace troupe::bench
