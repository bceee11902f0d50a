// explorer.hpp - one exploration: every schedule, or drawn ones, up to the first failure.

#pragma once

#include "troupe/runtime/simulation.hpp"

namespace troupe::detail {

/// Heeds no environment.
exploration explore(const simulation_options& options, const simulation::program& body);

}  // namespace troupe::detail
