// mirrored_strategy.hpp - N replicas in this process, in step at their merges.
//
//     mirrored_strategy strategy{rt, 4};                       // cpu:0 … cpu:3
//     mirrored_strategy strategy{rt, {"cpu:0", "cpu:1"}};      // named
//
// A device is a name for a place of a replica's own; several may share a core. Replicas
// are dealt out to the runtime's lines in the order of the list.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/strategy/device.hpp"
#include "troupe/strategy/strategy.hpp"

namespace troupe {

/// What TensorFlow does is `{.check = merge_check::count, .order = replica_order::one_by_one}`: it
/// runs one replica at a time, by id, each up to its next merge; see run_rules.hpp.
struct mirrored_options {
  merge_check check = merge_check::identity;
  replica_order order = replica_order::concurrent;
};

class mirrored_strategy final : public strategy {
 public:
  /// One replica for each device.
  /// \throws errc::invalid_device for a name that is none, a duplicate, or an empty list.
  mirrored_strategy(runtime& on, const std::vector<std::string>& devices,
                    mirrored_options options = {});

  /// `replicas` replicas on cpu:0 and following. \throws errc::invalid_device for none.
  mirrored_strategy(runtime& on, int replicas, mirrored_options options = {});

  std::string_view kind() const noexcept override { return "mirrored_strategy"; }
};

}  // namespace troupe
