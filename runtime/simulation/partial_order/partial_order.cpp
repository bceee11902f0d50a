// partial_order.cpp - see partial_order.hpp.

#include "runtime/simulation/partial_order/partial_order.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace troupe::detail {

namespace {

constexpr std::uint32_t none = step_log::none;

/// States of sequences, each with as many to follow as there are parties.
constexpr std::size_t most_of_one_length = 20'000;

}  // namespace

void partial_order::read(const step_log& log, std::size_t from) {
  begin(log);
  for (index i = 0; i < log.steps().size(); ++i) read_step(i, i >= from);
}

void partial_order::begin(const step_log& log) {
  log_ = &log;
  parties_ = log.parties();
  clocks_.assign(log.steps().size() * parties_, 0);
  floor_.assign(parties_, 0);
  counts_.assign(parties_, 0);
  latest_.assign(parties_, none);
  for (std::size_t i = 0; i < things_; ++i) history_[i].touchers.clear();
  things_ = 0;
  std::fill(buckets_.begin(), buckets_.end(), none);
  others_touched_ = false;
  previous_.resize(log.steps().size());
  races_.clear();
  fingerprint_ = 0;
  sequence_matters_ = false;
}

void partial_order::read_step(index i, bool look_for_races) {
  const auto& s = log_->steps()[i];
  if (s.after_idling) floor_ = counts_;
  std::copy(floor_.begin(), floor_.end(), clock(i));
  edges_ = 0;
  const bool concluding = join_causes(i);
  collect_conflicts(i);
  // From the latest to the first: what comes before a conflict is no conflict of its own.
  std::sort(conflicts_.begin(), conflicts_.end(), std::greater<>());
  for (const index j : conflicts_) {
    if (before(j, i)) continue;
    if (look_for_races) races_.push_back({j, i});
    hash_edge(j);
    join(i, j);
  }
  clock(i)[s.owner] = ++counts_[s.owner];
  if (s.watched && !std::equal(counts_.begin(), counts_.end(), clock(i))) sequence_matters_ = true;
  std::uint64_t hash = mixed(id_of(i), edges_);
  // Who posts what comes of many is whoever happens to be the last of them.
  if (!concluding) hash = mixed(hash, s.link);
  for (const auto& chosen : log_->values(i)) {
    if (chosen.told != chosen_value::untold) hash = mixed(hash, chosen.told);
  }
  fingerprint_ += hash;
  previous_[i] = latest_[s.owner];
  latest_[s.owner] = i;
  remember(i);
}

void partial_order::join(index into, index other) noexcept {
  std::uint32_t* const to = clock(into);
  const std::uint32_t* const from = clock(other);
  for (std::size_t p = 0; p < parties_; ++p) to[p] = std::max(to[p], from[p]);
}

bool partial_order::join_causes(index i) {
  const auto& s = log_->steps()[i];
  if (s.cause != none) join(i, s.cause);
  // Of what its owner got from this sender, everything earlier has been taken.
  for (index j = latest_[s.owner]; j != none && !before(j, i); j = previous_[j]) {
    if (log_->steps()[j].link == s.link) join(i, j);
  }
  if (log_->has_lanes()) join_lanes(i);
  bool concluding = false;
  for (const auto& t : log_->touches(i)) {
    if (t.how != touch::conclude) continue;
    concluding = true;
    const auto* h = history_of(t.thing);
    if (!h) continue;
    for (const auto& each : h->touchers) {
      join(i, each.step);
      hash_edge(each.step);
    }
  }
  if (!concluding && s.cause != none) hash_edge(s.cause);
  return concluding;
}

/// A link whose letters commute in part has two parties: the actor, and the sender's lane to it.
void partial_order::join_lanes(index i) {
  const auto& s = log_->steps()[i];
  const std::uint32_t actor = log_->actor_of(s.owner);
  for (std::uint32_t p = 0; p < parties_; ++p) {
    if (p == s.owner || log_->actor_of(p) != actor) continue;
    for (index j = latest_[p]; j != none && !before(j, i); j = previous_[j]) {
      if (log_->steps()[j].link == s.link) join(i, j);
    }
  }
}

void partial_order::collect_conflicts(index i) {
  const auto& s = log_->steps()[i];
  conflicts_.clear();
  if (latest_[s.owner] != none) conflicts_.push_back(latest_[s.owner]);
  if (others_touched_) {
    collect_touchers(log_->key_of(s.owner));
    collect_touchers(step_log::line_key(s.line));
  }
  for (const auto& t : log_->touches(i)) {
    if (t.how == touch::conclude) continue;
    if (t.is != logged_touch::what::thing) collect_steps_of(t);
    const auto* h = history_of(t.thing);
    if (!h) continue;
    for (const auto& each : h->touchers) {
      if (!commute(each.how, t.how)) conflicts_.push_back(each.step);
    }
  }
}

void partial_order::collect_steps_of(const logged_touch& touched) {
  if (touched.is == logged_touch::what::party) {
    if (latest_[touched.number] != none) conflicts_.push_back(latest_[touched.number]);
    return;
  }
  for (std::uint32_t p = 0; p < parties_; ++p) {
    if (log_->line_of(p) == touched.number && latest_[p] != none) conflicts_.push_back(latest_[p]);
  }
}

void partial_order::collect_touchers(step_key thing) {
  const auto* h = history_of(thing);
  if (!h) return;
  for (const auto& each : h->touchers) conflicts_.push_back(each.step);
}

void partial_order::remember(index i) {
  const auto& s = log_->steps()[i];
  for (const auto& t : log_->touches(i)) {
    if (t.how == touch::conclude) continue;
    if (t.is != logged_touch::what::thing) others_touched_ = true;
    auto* h = history_of(t.thing);
    if (!h) h = &make_history(t.thing);
    const auto same = [&](const toucher& x) { return x.party == s.owner && x.how == t.how; };
    const auto known = std::find_if(h->touchers.begin(), h->touchers.end(), same);
    if (known != h->touchers.end()) {
      known->step = i;
    } else {
      h->touchers.push_back({s.owner, t.how, i});
    }
  }
}

partial_order::thing_history* partial_order::history_of(step_key thing) noexcept {
  if (buckets_.empty()) return nullptr;
  const std::size_t mask = buckets_.size() - 1;
  for (std::size_t at = thing & mask; buckets_[at] != none; at = (at + 1) & mask) {
    if (history_[buckets_[at]].thing == thing) return &history_[buckets_[at]];
  }
  return nullptr;
}

partial_order::thing_history& partial_order::make_history(step_key thing) {
  if (things_ == history_.size()) history_.emplace_back();
  history_[things_].thing = thing;
  if (2 * (things_ + 1) > buckets_.size()) {
    buckets_.assign(std::max<std::size_t>(32, 2 * buckets_.size()), none);
    for (std::uint32_t i = 0; i < things_; ++i) put_in_bucket(i);
  }
  put_in_bucket(static_cast<std::uint32_t>(things_));
  return history_[things_++];
}

void partial_order::put_in_bucket(std::uint32_t which) noexcept {
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = history_[which].thing & mask;
  while (buckets_[at] != none) at = (at + 1) & mask;
  buckets_[at] = which;
}

std::uint64_t partial_order::id_of(index step) const noexcept {
  const auto& s = log_->steps()[step];
  return mixed(log_->key_of(s.owner), s.own_number);
}

double partial_order::sequences(std::size_t& states) const {
  // A state is how far each party is, as one number: the digit of a party counts its steps.
  std::vector<std::vector<index>> steps_of(parties_);
  for (index i = 0; i < log_->steps().size(); ++i) steps_of[log_->steps()[i].owner].push_back(i);
  std::vector<std::uint64_t> place(parties_);
  std::uint64_t above = 1;
  for (std::size_t p = 0; p < parties_; ++p) {
    place[p] = above;
    if (above > std::numeric_limits<std::uint64_t>::max() / (steps_of[p].size() + 1)) return 0;
    above *= steps_of[p].size() + 1;
  }
  // All states of one length are known before the next ones.
  std::vector<std::pair<std::uint64_t, double>> now{{0, 1.0}};
  std::vector<std::pair<std::uint64_t, double>> next;
  std::vector<std::uint32_t> so_far(parties_);
  for (std::size_t taken = 0; taken < log_->steps().size(); ++taken) {
    if (now.size() > std::min(states, most_of_one_length)) return 0;
    states -= now.size();
    next.clear();
    for (const auto& [state, ways] : now) {
      for (std::size_t p = 0; p < parties_; ++p) {
        so_far[p] = static_cast<std::uint32_t>(state / place[p] % (steps_of[p].size() + 1));
      }
      for (std::size_t p = 0; p < parties_; ++p) {
        if (so_far[p] == steps_of[p].size() || !may_come(steps_of[p][so_far[p]], so_far)) continue;
        next.emplace_back(state + place[p], ways);
      }
    }
    std::sort(next.begin(), next.end());
    now.clear();
    for (const auto& [state, ways] : next) {
      if (!now.empty() && now.back().first == state) {
        now.back().second += ways;
      } else {
        now.emplace_back(state, ways);
      }
    }
  }
  return now.front().second;
}

bool partial_order::may_come(index step, const std::vector<std::uint32_t>& so_far) const noexcept {
  const std::uint32_t* const needs = clock(step);
  const std::uint32_t owner = log_->steps()[step].owner;
  for (std::uint32_t p = 0; p < parties_; ++p) {
    if (so_far[p] + (p == owner ? 1 : 0) < needs[p]) return false;
  }
  return true;
}

}  // namespace troupe::detail
