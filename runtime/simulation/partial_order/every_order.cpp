// every_order.cpp - see every_order.hpp.

#include "runtime/simulation/partial_order/every_order.hpp"

#include <algorithm>
#include <utility>

#include "runtime/simulation/policies.hpp"

namespace troupe::detail {

bool every_order::next(std::unique_lock<std::mutex>& lock) {
  const bool behind = left_.next_behind(self_);
  if (!behind && !left_.next_elsewhere(self_, lock)) return false;
  go_to_next(behind);
  return true;
}

void every_order::go_to_next(bool behind) {
  at_ = steps_ = 0;
  seen_before_ = false;
  moment* const last = self_.at;
  known_ = last ? last->depth + 1 : 0;
  path_.resize(known_);
  if (!last) return;
  path_.back() = {last, self_.way, last->is_value() ? 0 : last->tried[self_.way].link};
  for (moment* m = last; !behind && m->before; m = m->before) {
    moment* const before = m->before;
    const step_key link = before->is_value() ? 0 : before->tried[m->way].link;
    path_[before->depth] = {before, m->way, link};
  }
}

std::size_t every_order::choose(const choice_point& point) {
  catch_up();
  if (point.is_value) {
    const auto values = static_cast<std::uint32_t>(point.count);
    if (at_ == path_.size()) {
      if (seen_before_) return 0;  // As are all others.
      append(values, point.of_fault);
    }
    const passed& now = path_[at_++];
    if (now.at->values != values) throw_another_course();
    return now.way;
  }
  const bool may_be_early = point.engine.is_early_timeout(point.count - 1);
  if (at_ < path_.size()) {
    const passed& now = path_[at_];
    for (std::size_t i = 0; i < point.count; ++i) {
      if (now.at->is_value() || point.engine.ready_link(i) != now.link) continue;
      enter_step();
      return i;
    }
    throw_another_course();
  }
  moment& now = append(0);
  // No run ends with a step of the clock that is still to come: nothing would race with it.
  if (may_be_early) now.wanted.push_back(log_.clock_link());
  const std::size_t chosen = pick(point, now);
  seen_before_ = seen_before_ || chosen == point.count;
  if (seen_before_) {
    self_.spare.push_back(&now);
    path_.pop_back();
    throw seen_before();
  }
  path_.back().link = now.tried.front().link = point.engine.ready_link(chosen);
  enter_step();
  return chosen;
}

std::size_t every_order::pick(const choice_point& point, const moment& now) const {
  const auto awake = [&](std::size_t i) { return !now.is_asleep(point.engine.ready_link(i)); };
  if (awake(point.usual)) return point.usual;
  std::size_t i = 0;
  while (i < point.count && !awake(i)) ++i;
  return i;
}

/// Gives a moment to steps that nobody was asked about, because nothing else could be taken.
void every_order::catch_up() {
  while (steps_ < log_.steps().size()) {
    const step_key link = log_.steps()[steps_].link;
    if (at_ == path_.size()) {
      moment& now = append(0);
      path_.back().link = now.tried.front().link = link;
      if (now.is_asleep(link)) seen_before_ = true;
    }
    if (path_[at_].at->is_value() || path_[at_].link != link) throw_another_course();
    enter_step();
  }
}

void every_order::require_this_run() {
  catch_up();
  if (at_ < path_.size()) throw_another_course();
}

void every_order::enter_step() {
  by_step_.resize(steps_);
  by_step_.push_back(at_);
  ++at_;
  ++steps_;
}

moment& every_order::append(std::uint32_t values, bool of_fault) {
  moment* now = nullptr;
  if (self_.spare.empty()) {
    now = &self_.made.emplace_back();
  } else {
    now = self_.spare.back();
    self_.spare.pop_back();
  }
  const std::size_t step = values > 0 && steps_ > 0 ? steps_ - 1 : steps_;
  now->become_new(values, static_cast<std::uint32_t>(step));
  now->of_fault = of_fault;
  now->before = path_.empty() ? nullptr : path_.back().at;
  now->way = path_.empty() ? 0 : path_.back().way;
  now->depth = static_cast<std::uint32_t>(path_.size());
  path_.push_back({now, 0, 0});
  if (steps_ == 0) return *now;
  const passed& latest = path_[by_step_[steps_ - 1]];
  if (values == 0) {
    put_to_sleep(*now, latest);
  } else if (latest.at->depth + 1 == now->depth) {
    path_.back().way = spare_values(*now, latest);
  }
  return *now;
}

/// Of a step's first choice, what is asleep is not tried again. \return what is tried first.
std::uint32_t every_order::spare_values(moment& now, const passed& step) {
  for (const candidate& each : step.at->asleep) {
    if (each.link != step.link || !each.in_part) continue;
    // Fewer faults are others: some have been used up since. Where all have, what is chosen first
    // may be something else, of which there are as many.
    if (each.values != now.values || each.of_fault != now.of_fault) continue;
    now.spare(each);
    return now.begin();
  }
  return 0;
}

/// What is asleep stays so until a step is taken on which it depends.
void every_order::put_to_sleep(moment& now, const passed& before) {
  const moment& last = *before.at;
  if (last.asleep.empty() && before.way == 0) return;
  candidate latest;
  latest.add(log_, steps_ - 1);
  const auto leave_asleep = [&](const candidate& each) {
    now.asleep.push_back(each);
    if (!now.asleep.back().sleeps_on_behind(latest)) now.asleep.pop_back();
  };
  for (const auto& each : last.asleep) leave_asleep(each);
  // What was begun there before. Nobody begins another one until it is known what this one touches.
  for (std::uint32_t i = 0; i < before.way; ++i) leave_asleep(last.tried[i]);
}

void every_order::read() {
  changed_step_ = known_ > 0 ? path_[known_ - 1].at->step : 0;
  const bool knows_it = changed_step_ < steps_ && by_step_[changed_step_] < known_;
  fresh_step_ = changed_step_ + (knows_it ? 1 : 0);
  for (std::size_t step = fresh_step_; step < steps_; ++step) note_touches(step);
  for (std::size_t i = known_; i < path_.size(); ++i) path_[i].at->users = 1;
  order_.read(log_, changed_step_);
  for (const auto& r : order_.races()) {
    if (r.first >= fresh_step_) reverse(r);
  }
}

bool every_order::learn() {
  if (changed_step_ < fresh_step_) note_touches(changed_step_);
  for (const auto& r : order_.races()) {
    if (r.first < fresh_step_) reverse(r);
  }
  if (!path_.empty()) left_.ended(self_, *path_.back().at);
  return !seen_before_;
}

void every_order::note_touches(std::size_t step) {
  const passed& taken = path_[by_step_[step]];
  candidate& known = taken.at->tried[taken.way];
  known.add(log_, step);
  std::size_t last = by_step_[step];
  if (last + 1 < path_.size() && path_[last + 1].at->is_value()) {
    const moment& choice = *path_[last + 1].at;
    known.of_fault = choice.of_fault;
    known.add_variant(choice.values, path_[last + 1].way, log_, step);
    known.in_part = !choice.spared.empty();  // It stands for what is tried here, no more.
  }
  while (last + 1 < path_.size() && path_[last + 1].at->is_value()) ++last;
  path_[last].at->learn_whole(path_[last].way);
}

void every_order::reverse(const partial_order::race& r) {
  // Steps behind the first that do not come of it, then the second: which of them can be first?
  initials_.clear();
  for (partial_order::index k = r.first + 1; k <= r.second; ++k) {
    if (k != r.second && order_.before(r.first, k)) continue;
    const bool later = std::any_of(initials_.begin(), initials_.end(),
                                   [&](auto earlier) { return order_.before(earlier, k); });
    if (!later) initials_.push_back(k);
  }
  // Where the clock could go on it is wanted already; elsewhere there was no timer yet.
  if (log_.steps()[initials_.front()].link == log_.clock_link()) return;
  moment& at = *path_[by_step_[r.first]].at;
  for (const auto k : initials_) {
    if (at.leads_to(log_.steps()[k].link)) return;
  }
  const bool directly = initials_.back() == r.second;
  at.wanted.push_back(log_.steps()[directly ? r.second : initials_.front()].link);
}

}  // namespace troupe::detail
