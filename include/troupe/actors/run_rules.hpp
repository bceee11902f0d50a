// run_rules.hpp - what the runs of a strategy go by.

#pragma once

#include <cstdint>

namespace troupe {

/// How strictly the merges of a round must agree.
enum class merge_check : std::uint8_t {
  identity,  ///< Same place, same function, same types.
  count,     ///< The same number of merges, as in TensorFlow: replica 0's function runs.
};

/// Which replicas of a run may run at the same time.
enum class replica_order : std::uint8_t {
  /// All, in the scheduler's order.
  concurrent,
  /// One, as in TensorFlow: by id, each up to its next merge or its end, and then the next. What
  /// else a replica awaits holds up those after it; one that waits for what a later one does
  /// waits for ever. In a round in which one fails the later ones do not run: they are not
  /// entered, or throw the run's verdict where the latest merge would have returned.
  one_by_one,
};

struct run_rules {
  merge_check check = merge_check::identity;
  replica_order order = replica_order::concurrent;
};

}  // namespace troupe
