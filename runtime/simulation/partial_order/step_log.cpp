// step_log.cpp - see step_log.hpp.

#include "runtime/simulation/partial_order/step_log.hpp"

#include <algorithm>

namespace troupe::detail {

void step_log::clear() noexcept {
  steps_.clear();
  touches_.clear();
  values_.clear();
  parties_.clear();
  by_id_.clear();
  things_.clear();
  lanes_.clear();
  shown_.clear();
  acting_ = none;
  made_ = made_outside_ = 0;
  clock_link_ = 0;
  idle_ = false;
}

step_key step_log::fresh_key() {
  if (acting_ == none) return mixed(3, ++made_outside_);
  const enrolled& maker = parties_[acting_];
  return mixed(mixed(maker.key, maker.steps), ++made_);
}

void step_log::enroll(std::uint32_t id, std::uint32_t line) {
  if (by_id_.size() == id) {
    by_id_.push_back(static_cast<std::uint32_t>(parties_.size()));
  } else {
    if (by_id_.size() < id) by_id_.resize(id + 1, none);
    by_id_[id] = static_cast<std::uint32_t>(parties_.size());
  }
  parties_.push_back({fresh_key(), line, 0, by_id_[id]});
}

step_key step_log::link_of(std::uint32_t owner_id, std::uint32_t sender_id_plus_1) const noexcept {
  const step_key owner = parties_[by_id_[owner_id]].key;
  if (sender_id_plus_1 == 0) return mixed(owner, 0);
  return mixed(owner, parties_[by_id_[sender_id_plus_1 - 1]].key);
}

step_key step_log::link_of_conclusion(std::uint32_t owner_id, const void* done) const noexcept {
  return mixed(mixed(6, parties_[by_id_[owner_id]].key), key_of(done));
}

void step_log::begin(std::uint32_t owner_id, step_key link, std::uint32_t cause) {
  acting_ = by_id_[owner_id];
  made_ = 0;
  enrolled& owner = parties_[acting_];
  steps_.push_back({.link = link,
                    .owner = acting_,
                    .line = owner.line,
                    .cause = cause,
                    .own_number = ++owner.steps,
                    .touches = static_cast<std::uint32_t>(touches_.size()),
                    // What was chosen before the first step belongs to it.
                    .values = steps_.empty() ? 0 : static_cast<std::uint32_t>(values_.size()),
                    .after_idling = idle_});
  idle_ = false;
}

std::span<const logged_touch> step_log::touches(std::size_t at) const noexcept {
  const std::size_t end = at + 1 < steps_.size() ? steps_[at + 1].touches : touches_.size();
  return std::span(touches_).subspan(steps_[at].touches, end - steps_[at].touches);
}

std::span<const chosen_value> step_log::values(std::size_t at) const noexcept {
  const std::size_t end = at + 1 < steps_.size() ? steps_[at + 1].values : values_.size();
  return std::span(values_).subspan(steps_[at].values, end - steps_[at].values);
}

void step_log::note_made(const void* thing) noexcept {
  const step_key key = fresh_key();
  const auto same = [&](const auto& t) { return t.first == thing; };
  if (auto known = std::find_if(things_.begin(), things_.end(), same); known != things_.end()) {
    known->second = key;
  } else {
    things_.emplace_back(thing, key);
  }
}

step_key step_log::key_of(const void* thing) const noexcept {
  const auto same = [&](const auto& t) { return t.first == thing; };
  const auto known = std::find_if(things_.rbegin(), things_.rend(), same);
  return known == things_.rend() ? unknown_thing : known->second;
}

void step_log::note(const void* thing, touch how) noexcept {
  add({key_of(thing), how, logged_touch::what::thing, 0});
}

void step_log::note(const party& other, touch how) noexcept {
  const std::uint32_t number = by_id_[other.id];
  if (number != acting_) add({parties_[number].key, how, logged_touch::what::party, number});
}

void step_log::note_line() noexcept {
  if (acting_ == none) return;
  const std::uint32_t number = parties_[acting_].line;
  add({line_key(number), touch::change, logged_touch::what::line, number});
}

/// The step under way was begun as the actor's own.
void step_log::note_commuting() noexcept {
  if (acting_ == none) return;
  step& s = steps_.back();
  const std::uint32_t actor = acting_;
  const auto same = [&](const auto& lane) { return lane.first == s.link; };
  const auto known = std::find_if(lanes_.begin(), lanes_.end(), same);
  if (known != lanes_.end()) {
    acting_ = known->second;
  } else {
    acting_ = static_cast<std::uint32_t>(parties_.size());
    parties_.push_back({mixed(4, s.link), s.line, 0, actor});
    lanes_.emplace_back(s.link, acting_);
  }
  --parties_[actor].steps;
  s.owner = acting_;
  s.own_number = ++parties_[acting_].steps;
  add({parties_[actor].key, touch::arrive, logged_touch::what::party, actor});
}

void step_log::note_state(const party& who, std::uint64_t state) noexcept {
  if (acting_ != none) shown_.push_back({parties_[by_id_[who.id]].key, state, to_string(who)});
}

/// Two steps that commute must not have the order of what they post to one party decided by theirs.
void step_log::touch_link_to(std::uint32_t owner_id) {
  const step_key sender = parties_[parties_[acting_].actor].key;
  const step_key link = mixed(mixed(5, sender), parties_[by_id_[owner_id]].key);
  add({link, touch::change, logged_touch::what::thing, 0});
}

void step_log::touch_all_lines(std::size_t lines) {
  for (std::uint32_t i = 0; i < lines; ++i) {
    add({line_key(i), touch::change, logged_touch::what::line, i});
  }
}

void step_log::add(const logged_touch& touched) {
  if (acting_ == none) return;  // Outside of all steps nothing else runs.
  for (std::size_t i = steps_.back().touches; i < touches_.size(); ++i) {
    auto& t = touches_[i];
    if (t.thing != touched.thing || t.how == touch::conclude) continue;
    if (touched.how == touch::conclude) continue;
    if (t.how != touched.how) t.how = touch::change;  // Two ways together commute with neither.
    return;
  }
  touches_.push_back(touched);
}

}  // namespace troupe::detail
