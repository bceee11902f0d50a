// contenders.hpp - what is measured of the simulation. All of it is troupe, through its public
// headers; times are CPU times of one thread.

#pragma once

#include "bench/harness/measure.hpp"

namespace troupe::bench {

void add_our_random_schedules(table& contest);

/// Runs the program that TROUPE_BENCH_SANITIZED names, or is absent.
void add_our_sanitized_schedules(table& contest);

void add_our_proofs(table& contest);
void add_our_races(table& contest);
void add_our_generated_programs(table& contest);
void add_our_reduction(table& contest);

void add_our_schedule_bodies(table& contest);
void add_our_survivals(table& contest);

void add_our_shrinking(table& contest);
void add_our_replays(table& contest);
void add_our_findings(table& contest);
void add_our_search(table& contest);

}  // namespace troupe::bench
