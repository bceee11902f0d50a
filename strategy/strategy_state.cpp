// strategy_state.cpp - the ensembles of a strategy, and whose context the caller is in.

#include "troupe/strategy/strategy_state.hpp"

#include <algorithm>
#include <utility>

#include "troupe/runtime/footprint.hpp"
#include "troupe/strategy/device.hpp"

namespace troupe {

namespace {

[[noreturn]] void refuse_mixed(const char* call) {
  throw error(errc::strategy_mixed,
              std::string(call) + " of one strategy inside a context of another",
              "use one strategy in a logical task; get_strategy() is the one in force");
}

}  // namespace

strategy_state::strategy_state(const troupe::strategy& facade, std::shared_ptr<runtime_state> on,
                               strategy_layout layout)
    : facade_(&facade),
      on_(std::move(on)),
      devices_(std::move(layout.devices)),
      one_copy_(!layout.parameter_device.empty() && devices_->size() > 1),
      rules_(layout.rules),
      latest_(on_ ? on_->lines() : 0) {
  footprint::made(this);
  if (!layout.parameter_device.empty()) {
    parameter_devices_.push_back(std::move(layout.parameter_device));
  }
}

strategy_state::~strategy_state() = default;

strategy_state::latest* strategy_state::latest_of(const scheduler& line) noexcept {
  return on_.get() == &line.home() ? &latest_[line.index()] : nullptr;
}

ensemble& strategy_state::acquire(scheduler& callers_line) {
  runtime_state& where = on_ ? *on_ : callers_line.home();
  where.require_open();
  footprint::touches(this, touch::change);
  if (latest* here = latest_of(callers_line); here && here->kept) {
    return *std::exchange(here->kept, nullptr);
  }
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const ensemble* e) { return e->lives_on(where); };
  if (auto found = std::find_if(idle_.begin(), idle_.end(), fits); found != idle_.end()) {
    ensemble& chosen = **found;
    idle_.erase(static_cast<std::size_t>(found - idle_.begin()));
    return chosen;
  }
  idle_.reserve(all_.size() + 1);  // So that put_aside() never allocates.
  return *all_.emplace_back(
      std::make_unique<ensemble>(where.shared_from_this(), replicas(), lines_of(where), this));
}

void strategy_state::begin(ensemble& with, activity& caller, replica_program& program,
                           const run_rules& rules) {
  with.begin(caller, {.program = &program,
                      .above = this,
                      .replica_mode = &replica_mode_,
                      .merge_mode = &merge_mode_,
                      .rules = rules});
}

void strategy_state::release(ensemble& used, scheduler& callers_line) noexcept {
  footprint::touches(this, touch::change);
  if (used.report()) {
    const std::lock_guard lock(mutex_);
    last_failure_ = used.report();
  }
  latest* const here = latest_of(callers_line);
  if (here && !here->kept && !used.cancel_sent()) {
    here->kept = &used;
    return;
  }
  used.release([](ensemble& idle) noexcept {
    static_cast<strategy_state*>(idle.keeper())->put_aside(idle);
  });
}

void strategy_state::put_aside(ensemble& idle) noexcept {
  footprint::touches(this, touch::change);
  const std::lock_guard lock(mutex_);
  idle_.push_back(&idle);
}

std::optional<error> strategy_state::last_failure() const {
  footprint::touches(this, touch::look);
  const std::lock_guard lock(mutex_);
  return last_failure_;
}

owners& strategy_state::owners() {
  const std::lock_guard lock(mutex_);
  footprint::touches(this, owners_ ? touch::look : touch::change);
  if (!owners_) {
    owners_ = std::make_shared<troupe::owners>(on_, replicas(), on_ ? lines_of(*on_) : 1);
  }
  return *owners_;
}

void strategy_state::require_home_of(const scheduler& callers_line, const char* call) const {
  if (is_default() || on_.get() == &callers_line.home()) return;
  on_->require_open();
  throw error(errc::foreign_runtime,
              std::string(call) + " from a task of another runtime than the strategy's",
              "co_await launch(its_runtime, operation, use_task)");
}

void strategy_state::require_inside(const char* call) const {
  const detail::mode* mode = detail::current_mode();
  if (mode && mode->owner == this) return;
  if (mode && !mode->owner->is_default()) refuse_mixed(call);
  throw error(errc::scope_required, std::string(call) + " outside of the strategy",
              "const auto inside = strategy.scope(); before it");
}

std::size_t strategy_state::replica_on(std::string_view name) const {
  const std::string asked = canonical_device(name);
  const auto& others = parameter_devices_;
  if (std::find(others.begin(), others.end(), asked) != others.end()) return 0;
  const auto found = std::find(devices_->begin(), devices_->end(), asked);
  if (found == devices_->end()) {
    detail::refuse_device("device \"" + std::string(name) + "\" is none of this strategy's");
  }
  return static_cast<std::size_t>(found - devices_->begin());
}

std::vector<std::size_t> strategy_state::replicas_on(const std::vector<std::string>& names) const {
  if (names.empty()) detail::refuse_device("a list of devices that is empty");
  std::vector<std::size_t> all;
  for (const auto& each : names) {
    const std::size_t replica = replica_on(each);
    if (std::find(all.begin(), all.end(), replica) == all.end()) all.push_back(replica);
  }
  return all;
}

void strategy_state::require_cross_replica(const char* call) const {
  const detail::mode* mode = detail::current_mode();
  const bool of_default = mode && mode->owner->is_default() && mode->owner != this;
  if (of_default && !mode->cross_replica) refuse_mixed(call);
  require_can_enter(call);
}

void strategy_state::require_can_enter(const char* call) const {
  const detail::mode* mode = detail::current_mode();
  if (!mode) return;
  if (mode->owner != this) {
    if (mode->owner->is_default()) return;
    refuse_mixed(call);
  }
  if (!mode->cross_replica) {
    throw error(errc::cross_replica_required,
                std::string(call) + " needs cross-replica context, but this is a replica",
                "call it from a merge function: co_await ctx.merge_call(fn), or before and "
                "after run()");
  }
}

}  // namespace troupe
