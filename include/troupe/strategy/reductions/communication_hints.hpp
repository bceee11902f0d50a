// communication_hints.hpp - how the model lets a caller say how values travel.
//
//     strategy.extended().reduce_to(reduce_op::sum, gradients, weight,
//                                   communication_hints(all_reduce_kind::ring, 1 << 20));
//
// A hint never changes a result, nor the order in which numbers are added. Replicas of one
// process share their memory: values do not travel between them, and all kinds are the one
// reduction in replica order. Hints are checked, and kept for strategies of several processes.

#pragma once

#include <cstdint>

namespace troupe {

/// By which ways values would be brought together.
enum class all_reduce_kind : std::uint8_t {
  automatic,
  reduction_to_one_device,
  hierarchical_copy,
  ring,
};

class communication_hints {
 public:
  communication_hints() noexcept = default;
  /// Values are packed up to `bytes_per_pack` bytes, or all of them together for 0, and cut into
  /// `packs`. \throws errc::invalid_hint for a negative number.
  explicit communication_hints(all_reduce_kind kind, std::int64_t bytes_per_pack = 0,
                               std::int64_t packs = 1);

  all_reduce_kind kind() const noexcept { return kind_; }
  std::int64_t bytes_per_pack() const noexcept { return bytes_per_pack_; }
  std::int64_t packs() const noexcept { return packs_; }

  friend bool operator==(const communication_hints&, const communication_hints&) = default;

 private:
  all_reduce_kind kind_ = all_reduce_kind::automatic;
  std::int64_t bytes_per_pack_ = 0;
  std::int64_t packs_ = 1;
};

}  // namespace troupe
