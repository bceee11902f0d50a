// tables.hpp - the contest: which tables there are, who stands in them, and what is aimed at.

#pragma once

#include <vector>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

std::vector<table> all_tables();

}  // namespace troupe::bench
