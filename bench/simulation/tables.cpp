#include "bench/simulation/tables.hpp"

#include <string>

#include "bench/simulation/contenders.hpp"

namespace troupe::bench {

namespace {

constexpr double nanoseconds_per_microsecond = 1e3;
constexpr double nanoseconds_per_second = 1e9;

// A figure, and no contender: Relacy draws 0.34 million schedules a CPU second of 3 threads that
// meet twice at a barrier of a mutex and a condition variable. It simulates the memory model, too.
constexpr double relacy_microseconds = 1 / 0.34;

table random_table() {
  table contest{.title = "a drawn schedule of 3 replicas with 2 merges", .unit = "us of CPU"};
  contest.unit_nanoseconds = nanoseconds_per_microsecond;
  add_our_random_schedules(contest);
  contest.goals.push_back(
      {"S1", contest.title + ": at least 0.5 M per CPU second", "troupe", "", 2.0});
  contest.goals.push_back({"S1.relacy", contest.title + ": ahead of Relacy's 0.34 M per CPU second",
                           "troupe", "", relacy_microseconds});
  return contest;
}

table sanitized_table() {
  table contest{.title = "a drawn schedule of 3 replicas with 2 merges, under sanitizers",
                .unit = "us of CPU"};
  contest.unit_nanoseconds = nanoseconds_per_microsecond;
  add_our_sanitized_schedules(contest);
  contest.goals.push_back(
      {"S2", contest.title + ": at least 0.04 M per CPU second", "troupe", "", 25});
  return contest;
}

}  // namespace

std::vector<table> simulation_tables() {
  std::vector<table> tables;
  tables.push_back(random_table());
  tables.push_back(sanitized_table());
  return tables;
}

}  // namespace troupe::bench
