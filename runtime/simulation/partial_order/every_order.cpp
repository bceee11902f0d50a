// every_order.cpp - see every_order.hpp.

#include "runtime/simulation/partial_order/every_order.hpp"

#include <algorithm>
#include <utility>

#include "runtime/simulation/policies.hpp"

namespace troupe::detail {

namespace {

template <class List>
bool has_link(const List& list, step_key link) noexcept {
  return std::any_of(list.begin(), list.end(), [&](const auto& c) { return c.link == link; });
}

}  // namespace

bool every_order::candidate::depends_on(const candidate& other) const noexcept {
  if (owner == other.owner) return true;
  for (const auto& mine : touches) {
    if (mine.thing == other.owner || mine.thing == other.line) return true;
    for (const auto& theirs : other.touches) {
      if (mine.thing == theirs.thing && !commute(mine.how, theirs.how)) return true;
    }
  }
  return std::any_of(other.touches.begin(), other.touches.end(), [&](const logged_touch& theirs) {
    return theirs.thing == owner || theirs.thing == line;
  });
}

void every_order::candidate::add(const step_log& log, std::size_t step) {
  const auto& s = log.steps()[step];
  owner = log.key_of(s.owner);
  line = step_log::line_key(s.line);
  for (const auto& t : log.touches(step)) {
    const auto same = [&](const auto& known) {
      return known.thing == t.thing && known.how == t.how;
    };
    if (std::none_of(touches.begin(), touches.end(), same)) touches.push_back(t);
  }
}

std::size_t every_order::choose(const choice_point& point) {
  catch_up();
  if (point.is_value) {
    const bool known = at_ < size_;
    if (!known) {
      moment& now = append(true);
      now.values = static_cast<std::uint32_t>(point.count);
      now.step = static_cast<std::uint32_t>(steps_ == 0 ? 0 : steps_ - 1);
    }
    const moment& now = moments_[at_++];
    if (!now.is_value || now.values != point.count) throw_another_course();
    return now.value;
  }
  if (at_ < size_) {
    const moment& now = moments_[at_];
    for (std::size_t i = 0; i < point.count; ++i) {
      if (now.is_value || point.engine.ready_link(i) != now.taken.link) continue;
      enter_step();
      return i;
    }
    throw_another_course();
  }
  moment& now = append(false);
  // No run ends with a step of the clock that is still to come: nothing would race with it.
  if (point.engine.is_early_timeout(point.count - 1)) {
    clock_link_ = point.engine.ready_link(point.count - 1);
    now.wanted.push_back(clock_link_);
  }
  const std::size_t chosen = pick(point, now);
  seen_before_ = seen_before_ || chosen == point.count;
  if (seen_before_) {
    --size_;
    throw seen_before();
  }
  now.taken.link = point.engine.ready_link(chosen);
  enter_step();
  return chosen;
}

std::size_t every_order::pick(const choice_point& point, const moment& now) const {
  const auto awake = [&](std::size_t i) {
    return !has_link(now.asleep, point.engine.ready_link(i));
  };
  if (awake(point.usual)) return point.usual;
  std::size_t i = 0;
  while (i < point.count && !awake(i)) ++i;
  return i;
}

/// Gives a moment to steps that nobody was asked about, because nothing else could be taken.
void every_order::catch_up() {
  while (steps_ < log_.steps().size()) {
    const step_key link = log_.steps()[steps_].link;
    if (at_ == size_) {
      moment& now = append(false);
      now.taken.link = link;
      if (has_link(now.asleep, link)) seen_before_ = true;
    }
    if (moments_[at_].is_value || moments_[at_].taken.link != link) throw_another_course();
    enter_step();
  }
}

void every_order::enter_step() {
  by_step_.resize(steps_);
  by_step_.push_back(at_);
  moments_[at_].step = static_cast<std::uint32_t>(steps_);
  ++at_;
  ++steps_;
}

every_order::moment& every_order::append(bool is_value) {
  if (size_ == moments_.size()) moments_.emplace_back();
  moment& now = moments_[size_++];
  now.is_value = is_value;
  now.value = now.values = 0;
  now.taken.touches.clear();
  now.done.clear();
  now.asleep.clear();
  now.wanted.clear();
  if (!is_value && steps_ > 0) put_to_sleep(now, moments_[by_step_[steps_ - 1]]);
  return now;
}

/// What is asleep stays so until a step is taken on which it depends.
void every_order::put_to_sleep(moment& now, const moment& before) {
  if (before.asleep.empty() && before.done.empty()) return;
  candidate latest;
  latest.add(log_, steps_ - 1);
  for (const auto* some : {&before.asleep, &before.done}) {
    for (const auto& each : *some) {
      if (!each.depends_on(latest)) now.asleep.push_back(each);
    }
  }
}

bool every_order::learn() {
  catch_up();
  // The step of the moment that changed may touch other things now.
  const std::size_t from = changed_ < size_ ? moments_[changed_].step : steps_;
  for (std::size_t step = from; step < steps_; ++step) {
    moments_[by_step_[step]].taken.add(log_, step);
  }
  order_.read(log_, from);
  for (const auto& r : order_.races()) reverse(r);
  return !std::exchange(seen_before_, false);
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
  moment& at = moments_[by_step_[r.first]];
  // Where the clock could go on it is wanted already; elsewhere there was no timer yet.
  if (log_.steps()[initials_.front()].link == clock_link_) return;
  for (const auto k : initials_) {
    if (leads_to(at, log_.steps()[k].link)) return;
  }
  const bool directly = initials_.back() == r.second;
  at.wanted.push_back(log_.steps()[directly ? r.second : initials_.front()].link);
}

bool every_order::leads_to(const moment& at, step_key link) const {
  return at.taken.link == link ||
         std::find(at.wanted.begin(), at.wanted.end(), link) != at.wanted.end() ||
         has_link(at.done, link) || has_link(at.asleep, link);
}

bool every_order::next() {
  at_ = steps_ = 0;
  for (; size_ > 0; --size_) {
    moment& last = moments_[size_ - 1];
    changed_ = size_ - 1;
    if (last.is_value) {
      if (++last.value < last.values) return true;
      continue;
    }
    const auto fresh = [&](step_key link) {
      return link != last.taken.link && !has_link(last.done, link);
    };
    const auto found = std::find_if(last.wanted.begin(), last.wanted.end(), fresh);
    if (found == last.wanted.end()) continue;
    last.done.push_back(std::move(last.taken));
    last.taken = candidate();
    last.taken.link = *found;
    return true;
  }
  return false;
}

double every_order::done() const {
  double before = 0;
  double share = 1;
  for (std::size_t i = 0; i < size_; ++i) {
    const moment& m = moments_[i];
    const double all = m.is_value ? m.values : static_cast<double>(m.wanted.size()) + 1;
    share /= all;
    before += share * (m.is_value ? m.value : static_cast<double>(m.done.size()));
  }
  return before;
}

}  // namespace troupe::detail
