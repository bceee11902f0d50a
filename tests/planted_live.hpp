// planted_live.hpp - the planted bugs on threads, where only luck finds them.

#pragma once

#include "tests/planted/planted.hpp"

namespace troupe::planted {

/// Runs each at most `runs` times on a pool of two threads, up to its first failure, and prints
/// what came of it. A run that hangs or ends its process has failed, too.
void run_live(const bugs& all, int runs);

}  // namespace troupe::planted
