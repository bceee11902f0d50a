// sim_faults.cpp - what goes wrong in a world, and timers that end before their time.

#include <algorithm>

#include "runtime/simulation/sim_engine.hpp"

namespace troupe::detail {

namespace {

/// What a picture calls it.
trace_kind kind_of(fault what) noexcept {
  switch (what) {
    case fault::stall: return trace_kind::stall;
    case fault::delay: return trace_kind::delay;
    case fault::cancellation: return trace_kind::cancel;
    default: return trace_kind::crash;
  }
}

}  // namespace

/// A step of the clock's.
void sim_engine::let_time_pass() {
  if (log_) {
    log_->begin(clock_id_, log_->link_of(clock_id_, 0), step_log::none);
    log_->touch_all_lines(lines());
  }
  begin_step(clock_id_, 0, ready_.size() + 1);
  end_timers();
  run_hops();  // What ended timers set going comes of this step.
  if (log_) log_->end();
}

fault sim_engine::decide_fault(const party& who) {
  // Who suffers something leaves less for the others, and yet their steps may be swapped: in either
  // order the same steps may suffer the same faults, as many as there are. Only what there is at
  // all somebody may change.
  footprint::touches(&faults_, touch::look);
  const auto possible = faults_.possible(who);
  if (possible.size() == 1) return fault::none;
  const std::uint32_t value = pick_value(static_cast<std::uint32_t>(possible.size()), true);
  const fault suffered = possible[value];
  if (log_) {
    // Where others are used up, it has another number; where all are, there is nothing to choose.
    // It is told as what no choose() gives.
    log_->chose(value, chosen_value::untold - static_cast<std::uint32_t>(suffered));
  }
  if (suffered == fault::none) return suffered;
  faults_.spend(suffered);
  who.on->trace(kind_of(suffered), who);
  return suffered;
}

/// What the link has, and what it gets meanwhile, comes later.
void sim_engine::hold(std::size_t entry) {
  held_link late{ready_[entry], 0};
  ready_.erase(entry);
  late.ticket = tickets_ + 1;
  const auto forever = std::chrono::nanoseconds::max() - now_;
  const auto how_long = std::clamp(faults_.lasting(), std::chrono::nanoseconds(0), forever);
  add_timer(now_ + how_long, [this, ticket = late.ticket] { let_go(ticket); });
  held_.push_back(late);
}

void sim_engine::let_go(std::uint64_t ticket) {
  const auto same = [&](const held_link& h) { return h.ticket == ticket; };
  const auto late = std::find_if(held_.begin(), held_.end(), same);
  if (late == held_.end()) return;
  // A step that lets it go has to come before it.
  if (log_ && log_->now() != step_log::none) late->what.cause = log_->now();
  ready_.push_back(late->what);
  held_.erase(late);
}

void sim_engine::allow_faults(const fault_budget& budget) noexcept {
  footprint::touches(&faults_, touch::change);
  faults_.allow(budget);
  step_limit_ = options_.max_steps;  // What heal() asked for ends here.
}

void sim_engine::heal(std::uint64_t steps) {
  footprint::touches(&faults_, touch::change);
  faults_.heal();
  early_timeouts_ = 0;
  if (steps < step_limit_ - std::min(steps_, step_limit_)) step_limit_ = steps_ + steps;
  while (!held_.empty()) {
    remove_timer(held_.front().ticket);
    let_go(held_.front().ticket);
  }
}

}  // namespace troupe::detail
