// central_storage_strategy.hpp - N replicas that share one copy of every variable.
//
//     central_storage_strategy strategy{rt, 4};                              // cpu:0 … cpu:3
//     central_storage_strategy strategy{rt, {"cpu:0", "cpu:1"}, "cpu:7"};    // kept on cpu:7
//
// A variable has one component, on the parameter device. Replicas read it in place. What they
// write is made one value by the variable's aggregation and written once; without an
// aggregation there is no way to write in a replica. What is synchronised on read keeps a part
// in each replica, as everywhere.
//
// Guarantees
//   one      a variable takes the memory of one value, however many replicas there are;
//   serial   replicas take turns on the parameter device's line, so that reading in place is
//            safe, also when runs overlap. For replicas on all threads take
//            mirrored_strategy, which pays with a copy for each.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "troupe/strategy/strategy.hpp"

namespace troupe {

class central_storage_strategy final : public strategy {
 public:
  /// One replica for each device.
  /// \throws errc::invalid_device for a name that is none, a duplicate, or an empty list.
  central_storage_strategy(runtime& on, const std::vector<std::string>& compute_devices,
                           std::string_view parameter_device = "cpu:0", run_rules rules = {});

  /// `replicas` replicas on cpu:0 and following. \throws errc::invalid_device for none.
  central_storage_strategy(runtime& on, int replicas, run_rules rules = {});

  std::string_view kind() const noexcept override { return "central_storage_strategy"; }
};

}  // namespace troupe
