#include "troupe/runtime/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <set>
#include <stdexcept>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

simulation_options isolated() {
  simulation_options options;
  options.heed_environment = false;
  options.partial_orders = false;
  return options;
}

errc code_of(const exploration& report) {
  REQUIRE_FALSE(report.passed());
  const auto told = as<error>(report.failure->exception);
  REQUIRE(told);
  return static_cast<errc>(told->code().value());
}

// -- choose() ------------------------------------------------------------------------------------

TEST_CASE("choose(n) is explored with each of its n values") {
  std::set<std::uint32_t> seen;
  const auto report = explore_all([&](world& w) {
    return [](std::uint32_t value, std::set<std::uint32_t>* into) -> task<> {
      into->insert(value);
      co_return;
    }(w.choose(5), &seen);
  });
  CHECK(report.schedules == 5);
  CHECK(seen == std::set<std::uint32_t>({0, 1, 2, 3, 4}));
}

TEST_CASE("choose(1) has nothing to explore") {
  const auto report = explore_all([](world& w) -> task<> {
    w.check(w.choose(1) == 0, "zero");
    co_return;
  });
  CHECK(report.schedules == 1);
}

TEST_CASE("choose(0) is a failed run") {
  const auto report = simulation(isolated()).explore([](world& w) -> task<> {
    w.choose(0);
    co_return;
  });
  CHECK_FALSE(report.passed());
}

TEST_CASE("independent choices multiply") {
  const auto report = explore_all([](world& w) -> task<> {
    static_cast<void>(w.choose(3));
    static_cast<void>(w.choose(4));
    co_return;
  });
  CHECK(report.schedules == 12);
}

TEST_CASE("a choice may depend on another one") {
  const auto report = explore_all([](world& w) -> task<> {
    if (w.choose(2) == 0) static_cast<void>(w.choose(3));
    co_return;
  });
  CHECK(report.schedules == 4);
}

// -- check() -------------------------------------------------------------------------------------

constexpr unsigned check_line = __LINE__ + 2;
task<> fails_its_check(world& w) {
  w.check(w.choose(4) != 2, "never two");
  co_return;
}

TEST_CASE("a check that does not hold fails the run and names its line") {
  const auto report = simulation(isolated()).explore(fails_its_check);
  REQUIRE_FALSE(report.passed());
  const auto told = as<check_failed>(report.failure->exception);
  REQUIRE(told);
  CHECK(told->at().line() == check_line);
}

TEST_CASE("exploration ends at the first failure") {
  CHECK(simulation(isolated()).explore(fails_its_check).schedules == 3);
}

TEST_CASE("an exception out of the program is the failure, with its own type") {
  const auto report = simulation(isolated()).explore([](world& w) -> task<> {
    if (w.choose(2) == 1) throw std::out_of_range("as planned");
    co_return;
  });
  REQUIRE_FALSE(report.passed());
  CHECK(is_a<std::out_of_range>(report.failure->exception));
}

TEST_CASE("an exception before the program's first await is the failure, too") {
  const auto report = simulation(isolated()).explore([](world&) -> task<> {
    throw std::out_of_range("not even a task");
  });
  REQUIRE_FALSE(report.passed());
  CHECK(is_a<std::out_of_range>(report.failure->exception));
}

// -- limits --------------------------------------------------------------------------------------

task<> never_ends(world& w) {
  for (;;) {
    co_await sleep_for(std::chrono::nanoseconds(0));
    static_cast<void>(w);
  }
}

TEST_CASE("a program that takes too many steps is errc::too_long") {
  auto options = isolated();
  options.max_steps = 1000;
  CHECK(code_of(simulation(options).explore(never_ends)) == errc::too_long);
}

TEST_CASE("block_on inside a simulated program is errc::would_block") {
  const auto report = simulation(isolated()).explore([](world& w) -> task<> {
    block_on(w.runtime(), sleep_for(std::chrono::nanoseconds(0)));
    co_return;
  });
  CHECK(code_of(report) == errc::would_block);
}

task<> forget_the_world(world& w) {
  static int runs = 0;
  ++runs;
  for (int i = runs % 2; i < 2; ++i) static_cast<void>(w.choose(2 + static_cast<unsigned>(i)));
  co_return;
}

TEST_CASE("a program that something else than the world orders is errc::schedule_diverged") {
  CHECK(code_of(simulation(isolated()).explore(forget_the_world)) == errc::schedule_diverged);
}

// -- how much is explored ------------------------------------------------------------------------

task<> three_arrive(world& w) {
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run([](replica_context ctx) -> task<> { co_await ctx.merge_call([] {}); });
}

TEST_CASE("a small program is proved: every schedule, and the report says so") {
  const auto report = explore_all(three_arrive);
  CHECK(report.complete);
  CHECK(report.schedules == 36);
}

TEST_CASE("a program with more schedules than allowed is sampled") {
  auto options = isolated();
  options.exhaustive = 10;
  options.samples = 7;
  const auto report = simulation(options).explore(three_arrive);
  CHECK(report.passed());
  CHECK_FALSE(report.complete);
  CHECK(report.schedules == 17);
}

TEST_CASE("a program with exactly as many schedules as allowed is proved") {
  auto options = isolated();
  options.exhaustive = 36;
  CHECK(simulation(options).explore(three_arrive).complete);
}

TEST_CASE("a program without any choice has one schedule") {
  CHECK(explore_all([](world&) -> task<> { co_return; }).schedules == 1);
}

using orders = std::vector<std::vector<int>>;

task<> note_order(world& w, orders* all) {
  std::vector<int> order;
  mirrored_strategy strategy(w.runtime(), 4);
  co_await strategy.run(
      [](replica_context ctx, std::vector<int>* into) { into->push_back(ctx.replica_id()); },
      &order);
  all->push_back(order);
}

orders sampled_orders(std::uint64_t seed) {
  auto options = isolated();
  options.exhaustive = 1;
  options.samples = 50;
  options.seed = seed;
  orders all;
  REQUIRE(simulation(options).explore([&](world& w) { return note_order(w, &all); }).passed());
  return all;
}

TEST_CASE("a seed gives the same schedules every time") {
  CHECK(sampled_orders(7) == sampled_orders(7));
}

TEST_CASE("another seed gives other schedules") { CHECK(sampled_orders(7) != sampled_orders(8)); }

TEST_CASE("exhaustive exploration meets every order once") {
  orders all;
  const exploration report = explore_all([&](world& w) { return note_order(w, &all); });
  const std::set<std::vector<int>> distinct(all.begin(), all.end());
  CHECK(report.schedules == 24);
  CHECK(distinct.size() == 24);
}

TEST_CASE("the first schedule is the default order") {
  orders all;
  explore_all([&](world& w) { return note_order(w, &all); });
  CHECK(all.front() == std::vector<int>({0, 1, 2, 3}));
}

}  // namespace
}  // namespace troupe::test
