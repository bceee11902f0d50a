// schedules.cpp - drawn schedules in this program, and in one that is built with AddressSanitizer.

#include <cstdlib>
#include <string>

#include "bench/contenders.hpp"
#include "bench/harness/program.hpp"
#include "bench/simulation/contenders.hpp"
#include "bench/simulation/random_schedules.hpp"

namespace troupe::bench {

void add_our_random_schedules(table& contest) {
  contest.contenders.push_back({"troupe", run_random_schedules});
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
                                  return number_printed_by(command + std::to_string(schedules));
                                }});
}

}  // namespace troupe::bench
