#include "bench/simulation/tables.hpp"

#include <string>

#include "bench/simulation/contenders.hpp"

namespace troupe::bench {

namespace {

constexpr double nanoseconds_per_microsecond = 1e3;
constexpr double nanoseconds_per_millisecond = 1e6;
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
  table contest{.title = "a drawn schedule of 3 replicas with 2 merges, under AddressSanitizer",
                .unit = "us of CPU"};
  contest.unit_nanoseconds = nanoseconds_per_microsecond;
  add_our_sanitized_schedules(contest);
  contest.goals.push_back(
      {"S2", contest.title + ": at least 0.04 M per CPU second", "troupe", "", 25});
  return contest;
}

table proof_table() {
  table contest{.title = "a proof for 8 replicas with 4 merges", .unit = "ms of CPU"};
  contest.unit_nanoseconds = nanoseconds_per_millisecond;
  add_our_proofs(contest);
  contest.goals.push_back(
      {"S3.proof", contest.title + ", one partial order: under 20 ms", "troupe", "", 20});
  return contest;
}

table race_table() {
  table contest{.title = "3 replicas with 2 merges that ask one actor",
                .unit = "runs for every order",
                .judge = judged_by::maximum};
  add_our_races(contest);
  contest.goals.push_back(
      {"S3.race", contest.title + ": at most 36 runs, none redundant", "troupe", "", 36});
  contest.goals.push_back(
      {"S3.commutes", "the same with messages that commute: 1 run", "declared_to_commute", "", 1});
  return contest;
}

table generated_table() {
  table contest{.title = "generated programs whose orders show every outcome",
                .unit = "programs",
                .judge = judged_by::minimum};
  contest.repeats = false;
  add_our_generated_programs(contest);
  contest.goals.push_back({"S4", contest.title + ": 500 of 500", "troupe", "", 500});
  return contest;
}

table reduction_table() {
  table contest{.title = "what learning from a run adds to it, 32 parties", .unit = "ns a step"};
  add_our_reduction(contest);
  contest.goals.push_back({"S10", contest.title + ": at most 500 ns a step", "troupe", "", 500});
  return contest;
}

table body_table() {
  table contest{.title = "a schedule of at most 3 preemptions and 32 actors, as a string",
                .unit = "characters of its body",
                .judge = judged_by::maximum};
  add_our_schedule_bodies(contest);
  contest.goals.push_back({"S5.body", contest.title + ": at most 16 characters between ':' and '-'",
                           "longest_body", "", 16});
  return contest;
}

table edits_table() {
  table contest{.title = "schedules replayed after an edit to somebody else, at least 200 a round",
                .unit = "% that fail in the same way",
                .judge = judged_by::minimum};
  add_our_survivals(contest);
  contest.goals.push_back({"S5.edits", contest.title + ": at least 90 %", "nearest", "", 90});
  return contest;
}

table shrinking_table() {
  table contest{.title = "making the failing schedule of a planted bug small",
                .unit = "ms of CPU",
                .judge = judged_by::maximum};
  add_our_shrinking(contest);
  contest.goals.push_back(
      {"S6.shrink", contest.title + ": at most 2 ms for the median bug", "median_bug", "", 2});
  return contest;
}

table replays_table() {
  table contest{.title = "1,000 replays of each planted bug",
                .unit = "that fail in the same way",
                .judge = judged_by::minimum};
  contest.repeats = false;
  add_our_replays(contest);
  contest.goals.push_back({"S6.replay", contest.title + ": all fail", "worst_bug", "", 1'000});
  return contest;
}

table findings_table() {
  table contest{.title = "planted bugs", .unit = "bugs", .judge = judged_by::minimum};
  contest.repeats = false;
  add_our_findings(contest);
  contest.goals.push_back({"S7.found", "planted bugs found: at least 48", "found", "", 48});
  return contest;
}

table search_table() {
  table contest{.title = "finding the planted bugs, all of them", .unit = "s of CPU"};
  contest.unit_nanoseconds = nanoseconds_per_second;
  add_our_search(contest);
  contest.goals.push_back({"S7.time", contest.title + ": at most 5 s", "troupe", "", 5});
  return contest;
}

}  // namespace

std::vector<table> simulation_tables() {
  std::vector<table> tables;
  tables.push_back(random_table());
  tables.push_back(sanitized_table());
  tables.push_back(proof_table());
  tables.push_back(race_table());
  tables.push_back(generated_table());
  tables.push_back(body_table());
  tables.push_back(edits_table());
  tables.push_back(shrinking_table());
  tables.push_back(replays_table());
  tables.push_back(findings_table());
  tables.push_back(search_table());
  tables.push_back(reduction_table());
  return tables;
}

}  // namespace troupe::bench
