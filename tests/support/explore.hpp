// explore.hpp - runs a test's program under every schedule, or under seeded ones.
//
// Every schedule, not one of each partial order: these tests do not rest on what the library says
// about its own steps.
//
// A failing run prints its schedule, its picture and the command that repeats it.

#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "troupe/core/error.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe::test {

/// Requires that `body` holds under every schedule there is.
inline exploration explore_all(const simulation::program& body,
                               simulation_options options = simulation_options()) {
  options.samples = 0;
  options.partial_orders = false;
  exploration report = simulation(options).explore(body);
  INFO(report.text());
  REQUIRE(report.passed());
  const bool everything = report.complete || report.replayed;
  REQUIRE(everything);
  return report;
}

/// Requires that `body` holds under every schedule there is, on one line and on several.
inline void explore_lines(const simulation::program& body) {
  for (const std::size_t lines : {1u, 2u, 3u}) {
    simulation_options options;
    options.lines = lines;
    explore_all(body, options);
  }
}

/// Requires that `body` holds under the default schedule and `samples` random ones.
inline exploration explore_seeds(const simulation::program& body, std::uint64_t samples,
                                 simulation_options options = simulation_options()) {
  options.exhaustive = 1;
  options.samples = samples;
  exploration report = simulation(options).explore(body);
  INFO(report.text());
  REQUIRE(report.passed());
  return report;
}

/// Requires that `body` holds on one line, two and three: on each under every schedule if there
/// are at most `exhaustive`, and otherwise under as many and `samples` random ones.
inline void explore_on_lines(const simulation::program& body, std::uint64_t exhaustive = 3'000,
                             std::uint64_t samples = 2'000) {
  for (const std::size_t lines : {1u, 2u, 3u}) {
    INFO(lines << " lines");
    simulation_options options;
    options.lines = lines;
    options.exhaustive = exhaustive;
    options.samples = samples;
    const exploration report = simulation(options).explore(body);
    INFO(report.text());
    REQUIRE(report.passed());
  }
}

/// Requires that some schedule breaks `body`, and that its string breaks it again, alike.
inline failure explore_to_failure(const simulation::program& body,
                                  simulation_options options = simulation_options()) {
  options.heed_environment = false;
  const simulation sim(options);
  const exploration report = sim.explore(body);
  REQUIRE_FALSE(report.passed());
  const exploration again = sim.replay(body, report.failure->schedule);
  REQUIRE_FALSE(again.passed());
  CHECK(again.failure->what == report.failure->what);
  CHECK(again.failure->schedule == report.failure->schedule);
  return *report.failure;
}

}  // namespace troupe::test
