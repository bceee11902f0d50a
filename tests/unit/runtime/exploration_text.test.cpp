// What an exploration says of itself: its counts, and the table of a run that does not end.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <troupe/runtime/schedule.hpp>
#include <troupe/troupe.hpp>

namespace troupe::test {
namespace {

/// What is said of an exploration in which everything there is to count was met once, or `n` times.
exploration with_counts_of(std::uint64_t n) {
  exploration all;
  all.schedules = all.orders = n;
  all.sequences = static_cast<double>(n);
  return all;
}

std::string told(const exploration& all) {
  const std::string text = all.text("");
  return text.substr(0, text.find(", 0 redundant"));
}

TEST_CASE("a proof counts orders, interleavings and schedules") {
  exploration all = with_counts_of(1);
  all.complete = true;
  CHECK(told(all) == "proved: 1 of 1 partial order (1 interleaving)");
  all.every_sequence = true;
  CHECK(told(all) == "proved: 1 of 1 partial order (1 interleaving, which was run)");
  all.orders = 0;
  CHECK(told(all).starts_with("proved: holds under its only schedule, "));

  all = with_counts_of(2);
  all.complete = all.every_sequence = true;
  CHECK(told(all) == "proved: 2 of 2 partial orders (2 interleavings, each was run)");
  all.orders = 0;
  CHECK(told(all).starts_with("proved: holds under all 2 schedules, "));
}

TEST_CASE("what was drawn, interrupted or never met counts its schedules") {
  exploration some = with_counts_of(1);
  CHECK(told(some) == "holds under 1 schedule of 1 partial order; there are more");
  some.interrupted = true;
  CHECK(told(some) == "interrupted: holds under the 1 schedule tried; there are more");
  some.never = {"this"};
  CHECK(told(some) == "never met under 1 schedule:\n  sometimes: this");

  some = with_counts_of(2000);
  CHECK(told(some) == "holds under 2,000 schedules of 2,000 partial orders; there are more");
}

TEST_CASE("a failure counts its steps, its deviations and what made it smaller") {
  exploration found = with_counts_of(1);
  found.failure.emplace();
  found.failure->schedule = to_string(schedule());
  found.failure->steps = found.failure->replays = found.failure->deviations_found = 1;
  CHECK(told(found).starts_with("fails under schedule 1, after 1 step:\n"));
  CHECK(told(found).find("from 1 deviation to 0 in 1 replay\n") != std::string::npos);
  found.failure->steps = found.failure->replays = found.failure->deviations_found = 2;
  CHECK(told(found).starts_with("fails under schedule 1, after 2 steps:\n"));
  CHECK(told(found).find("from 2 deviations to 0 in 2 replays\n") != std::string::npos);
}

TEST_CASE("a step that was the only one that could be taken is told so") {
  simulation_options options;
  options.heed_environment = false;
  int runs = 0;
  const exploration report = simulation(options).explore([&runs](world& w) -> task<> {
    return [](world* in, int replicas) -> task<> {
      mirrored_strategy strategy(in->runtime(), replicas);
      co_await strategy.run([] {});
    }(&w, ++runs == 1 ? 2 : 1);
  });
  REQUIRE(report.failure);
  CHECK(report.failure->what.find("step 2 was replica/0's, one of 2 that could be taken, and in a "
                                  "repetition it was replica/0's, the only one that could be "
                                  "taken") != std::string::npos);
}

// -- the table ------------------------------------------------------------------------------------

task<> merges_for_ever(replica_context ctx) {
  for (;;) co_await ctx.merge_call([] {});
}

failure failure_of(const simulation::program& program) {
  simulation_options options;
  options.heed_environment = false;
  options.max_steps = 20'000;
  const exploration report = simulation(options).explore(program);
  REQUIRE(report.failure);
  return *report.failure;
}

TEST_CASE("of a run that does not end the table has the last fifty events, with their numbers") {
  const failure found = failure_of([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run(merges_for_ever);
  });
  const std::string& table = found.picture;
  CHECK(std::count(table.begin(), table.end(), '\n') == 1 + 1 + 50);
  CHECK(table.find(" earlier events are not shown)\n") != table.npos);
  const std::uint64_t left_out = std::stoull(table.substr(1));
  CHECK(left_out > 10'000);
  CHECK(table.find("\n" + std::to_string(left_out + 1) + "  ") != table.npos);
  CHECK(table.find("\n" + std::to_string(left_out + 50) + "  ") != table.npos);
}

TEST_CASE("the table numbers events, of which a step may have several or none") {
  const failure found = failure_of([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run([](replica_context) {});
    w.check(false, "no");
  });
  CHECK(found.picture.starts_with("event  "));
}

TEST_CASE("a failure that does not come again may be due to what is kept from run to run") {
  static int runs = 0;
  const failure found = failure_of([](world& w) -> task<> {
    w.check(++runs != 1, "not the first");
    co_return;
  });
  CHECK(found.what.find("it did not fail again: it keeps something from run to run, such as a "
                        "static, or something besides the world orders it.") != std::string::npos);
}

}  // namespace
}  // namespace troupe::test
