// strategy_state.hpp - what a strategy shares with its runs.
//
// Runs keep it alive, so that a strategy may be destroyed while one of its runs is
// still under way. Users never meet it.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/actors/ensemble.hpp"
#include "troupe/actors/owners.hpp"
#include "troupe/core/error.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/core/small_vector.hpp"
#include "troupe/runtime/runtime_state.hpp"
#include "troupe/strategy/device.hpp"

namespace troupe {

class strategy;
class strategy_state;

namespace detail {

/// What activity::ambient points to: whose context a logical task is in.
struct mode {
  strategy_state* owner;
  bool cross_replica;
  int updates = -1;  ///< In an update function: the replica whose components it is for.
};

/// The mode of the code that runs now; null outside every strategy.
const mode* current_mode() noexcept;

}  // namespace detail

/// What a strategy is made of.
struct strategy_layout {
  detail::device_names devices;
  run_rules rules = {};
  /// Where variables have their one copy; empty where each replica has a component.
  std::string parameter_device = {};
};

class strategy_state : public std::enable_shared_from_this<strategy_state> {
 public:
  /// `on` null: the default strategy, which runs where its caller runs.
  strategy_state(const troupe::strategy& facade, std::shared_ptr<runtime_state> on,
                 strategy_layout layout);
  ~strategy_state();

  std::size_t replicas() const noexcept { return devices_->size(); }
  const std::vector<std::string>& devices() const noexcept { return *devices_; }

  /// How many lines of `where` the replicas are dealt out to: replicas that share one copy of
  /// their variables share its line.
  std::size_t lines_of(const runtime_state& where) const noexcept {
    return one_copy_ ? 1 : std::min(replicas(), where.lines());
  }
  const run_rules& rules() const noexcept { return rules_; }

  /// Whether a variable has one copy, and not a component in each replica.
  bool one_copy() const noexcept { return one_copy_; }
  const std::vector<std::string>& parameter_devices() const noexcept {
    return parameter_devices_.empty() ? *devices_ : parameter_devices_;
  }
  const std::shared_ptr<runtime_state>& runtime() const noexcept { return on_; }
  const troupe::strategy& facade() const noexcept { return *facade_; }
  bool is_default() const noexcept { return on_ == nullptr; }

  /// An ensemble nobody uses, for a caller on that line.
  ensemble& acquire(scheduler& callers_line);

  /// Begins a run in this strategy's contexts.
  void begin(ensemble& with, activity& caller, replica_program& program, const run_rules& rules);

  /// Takes the ensemble back, on the same line; remembers why its run failed.
  void release(ensemble& used, scheduler& callers_line) noexcept;

  /// For what needs cross-replica context.
  /// \throws errc::cross_replica_required in a replica of this strategy,
  ///         errc::strategy_mixed in a context of another one.
  void require_cross_replica(const char* call) const;

  /// For what enters the strategy by itself, hence may start in any context of the default
  /// strategy. \throws the same otherwise.
  void require_can_enter(const char* call) const;

  /// What is awaited lives and ends with its caller's runtime.
  /// \throws errc::foreign_runtime when that is not the strategy's; errc::runtime_gone.
  void require_home_of(const scheduler& callers_line, const char* call) const;

  /// \throws errc::scope_required unless this strategy is in force.
  void require_inside(const char* call) const;

  /// The replica on the device; on the parameter device, where the one copy is, that is 0.
  /// \throws errc::invalid_device unless `name` is a device of this strategy.
  std::size_t replica_on(std::string_view name) const;
  /// The same of several devices, each replica once. \throws the same; also when there is none.
  std::vector<std::size_t> replicas_on(const std::vector<std::string>& names) const;

  const detail::mode& cross_replica_mode() const noexcept { return merge_mode_; }
  /// The same, entered by experimental_set_strategy().
  const detail::mode& set_mode() const noexcept { return set_mode_; }

  /// Who keeps the components of this strategy's variables.
  troupe::owners& owners();

  std::optional<error> last_failure() const;

 private:
  /// The ensemble that a line used last: most programs need one, and find it unlocked.
  struct alignas(64) latest {
    ensemble* kept = nullptr;
  };
  latest* latest_of(const scheduler& line) noexcept;
  void put_aside(ensemble& idle) noexcept;

  const troupe::strategy* facade_;
  std::shared_ptr<runtime_state> on_;
  detail::device_names devices_;
  std::vector<std::string> parameter_devices_;  // Empty: the devices.
  bool one_copy_;
  run_rules rules_;
  detail::mode replica_mode_{this, false};
  detail::mode merge_mode_{this, true};
  detail::mode set_mode_{this, true};

  // Index = line of our runtime; touched by that line only.
  recycled_vector<latest> latest_;
  mutable std::mutex mutex_;  // Guards the rest.
  recycled_vector<std::unique_ptr<ensemble>> all_;
  detail::small_vector<ensemble*, 2> idle_;
  std::optional<error> last_failure_;
  std::shared_ptr<troupe::owners> owners_;  // Made for the first variable.
};

}  // namespace troupe
