// fault_injector.hpp - what is left of a world's faults, and which of them a step could suffer.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "troupe/runtime/faults.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

enum class fault : std::uint8_t { none, crash, stall, delay, cancellation };

class fault_injector {
 public:
  void allow(const fault_budget& budget) noexcept {
    left_ = budget;
    in_play_ = true;
  }
  void heal() noexcept { in_play_ = false; }

  /// Whether anything could happen, or has used up what could.
  bool in_play() const noexcept { return in_play_; }

  /// What the next step of `who` could suffer. `none` comes first, and may be all.
  std::span<const fault> possible(const party& who) noexcept;

  /// It happens. \pre It is possible.
  void spend(fault what) noexcept;

  std::chrono::nanoseconds lasting() const noexcept { return left_.lasting(); }

 private:
  fault_budget left_;
  bool in_play_ = false;
  std::array<fault, 4> possible_{};
};

}  // namespace troupe::detail
