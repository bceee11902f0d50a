// schedules.cpp - drawn schedules in this program, and in one that is built with AddressSanitizer.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

#include "bench/contenders.hpp"
#include "bench/harness/program.hpp"
#include "bench/simulation/contenders.hpp"
#include "bench/simulation/random_schedules.hpp"

namespace troupe::bench {

namespace {

/// An exploration gets to know a program's orders with its first schedules, which take longer than
/// all others. A sample is therefore a whole exploration of at least so many …
constexpr std::uint64_t whole_exploration = 20'000;
/// … and another row is explorations that end after their first ones.
constexpr std::uint64_t first_ones = 1'000;

/// What `schedules` schedules cost in explorations of `length`, which `explore` makes.
double in_explorations_of(std::uint64_t length, std::uint64_t schedules,
                          const std::function<double(std::uint64_t)>& explore) {
  const std::uint64_t explorations = std::max<std::uint64_t>(schedules / length, 1);
  double cost = 0;
  for (std::uint64_t i = 0; i < explorations; ++i) cost += explore(length);
  return cost * static_cast<double>(schedules) / static_cast<double>(explorations * length);
}

double whole_explorations(std::uint64_t schedules) {
  return in_explorations_of(whole_exploration, schedules, run_random_schedules);
}

double first_schedules(std::uint64_t schedules) {
  return in_explorations_of(first_ones, schedules, run_random_schedules);
}

}  // namespace

void add_our_random_schedules(table& contest) {
  contest.contenders.push_back({"troupe", whole_explorations});
  contest.contenders.push_back({"troupe_first_1000", first_schedules});
  contest.contenders.push_back({"world_alone", run_worlds});
}

void add_our_sanitized_schedules(table& contest) {
  const char* const program = std::getenv("TROUPE_BENCH_SANITIZED");
  if (program == nullptr || *program == '\0') {
    skip(contest, "troupe", "TROUPE_BENCH_SANITIZED names no program; bench/run builds one");
    return;
  }
  const std::string command = quoted_for_shell(program) + ' ';
  contest.contenders.push_back({"troupe", [command](std::uint64_t schedules) {
                                  return in_explorations_of(
                                      whole_exploration, schedules, [&](std::uint64_t length) {
                                        return number_printed_by(command + std::to_string(length));
                                      });
                                }});
}

}  // namespace troupe::bench
