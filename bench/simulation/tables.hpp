// tables.hpp - the tables of the simulation: what it costs to explore, and what is found.

#pragma once

#include <vector>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

std::vector<table> simulation_tables();

}  // namespace troupe::bench
