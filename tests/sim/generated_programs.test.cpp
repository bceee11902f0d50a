// One schedule of each partial order shows all that every schedule shows.

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/support/generated_programs.hpp"

// Under sanitizers it would take minutes, and show nothing about orders that is not shown without.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TROUPE_TEST_IS_SLOW 1
#endif
#endif

namespace troupe::test {
namespace {

#if defined(TROUPE_TEST_IS_SLOW) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int programs = 40;
#else
constexpr int programs = 500;
#endif

struct told {
  exploration report;
  std::set<std::string> outcomes;
};

told play_all(const generated_program& program, bool partial_orders) {
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 2'000;
  options.samples = 0;
  options.partial_orders = partial_orders;
  options.check_sequences = false;
  told all;
  all.report = simulation(options).explore(
      [&](world& w) { return generated::play(w, &program, &all.outcomes); });
  return all;
}

TEST_CASE("partial orders show every outcome that all schedules show") {
  std::uint64_t schedules = 0;
  std::uint64_t orders = 0;
  std::uint64_t redundant = 0;
  std::size_t outcomes = 0;
  int compared = 0;
  for (std::uint64_t seed = 1; compared < programs; ++seed) {
    const generated_program program = generated_program::make(seed);
    const told every = play_all(program, false);
    INFO("seed " << seed << ": " << every.report.text());
    REQUIRE(every.report.passed());
    if (!every.report.complete) continue;
    const told reduced = play_all(program, true);
    INFO(reduced.report.text());
    REQUIRE(reduced.report.passed());
    REQUIRE(reduced.report.complete);
    REQUIRE(reduced.outcomes == every.outcomes);
    CHECK(reduced.report.redundant == 0);
    ++compared;
    schedules += every.report.schedules;
    orders += reduced.report.orders;
    redundant += reduced.report.redundant;
    outcomes += every.outcomes.size();
  }
  CHECK(outcomes > 2 * std::size_t{programs});  // Or they would show nothing.
  CHECK(orders * 20 < schedules);
  std::cout << compared << " programs: " << schedules << " schedules, " << orders
            << " partial orders, " << redundant << " redundant runs, " << outcomes << " outcomes\n";
}

}  // namespace
}  // namespace troupe::test
