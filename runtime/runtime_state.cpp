// runtime_state.cpp - the list of what runs on a runtime, its names and its trace.

#include "troupe/runtime/runtime_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "troupe/core/error.hpp"

namespace troupe {

std::string to_string(const party& who) {
  return std::string(who.kind) + "/" + std::to_string(who.index);
}

party runtime_state::enroll(std::string_view kind, std::uint32_t index, std::size_t line_number) {
  const auto guard = lock();
  const bool fresh = retired_.empty();
  const auto id = fresh ? static_cast<std::uint32_t>(names_.size()) : retired_.back();
  const party who{.kind = kind,
                  .index = index,
                  .id = id,
                  .on = &line(line_number == ~std::size_t{0} ? id : line_number)};
  if (fresh) {
    if (names_.size() == names_.capacity()) [[unlikely]] {
      const std::size_t room = 2 * names_.size();
      retired_.reserve(room);  // First, so that retire() never allocates.
      names_.reserve(room);
    }
    names_.push_back(who);
  } else {
    names_[id] = who;
    retired_.pop_back();
  }
  enrolled(who);
  return who;
}

void runtime_state::retire(const party& who) noexcept {
  const auto guard = lock();
  retired_.push_back(who.id);
}

bool runtime_state::enlist(root& r) noexcept {
  const auto guard = lock();
  if (all_abandoned_) return false;
  r.after_ = roots_;
  if (roots_) roots_->before_ = &r;
  roots_ = &r;
  return true;
}

void runtime_state::unlink(root& r) noexcept {
  if (r.before_) r.before_->after_ = r.after_;
  if (r.after_) r.after_->before_ = r.before_;
  if (roots_ == &r) roots_ = r.after_;
  r.before_ = r.after_ = nullptr;
}

void runtime_state::delist(root& r) noexcept {
  {
    const auto guard = lock();
    unlink(r);
  }
  if (!closed()) return;
  const std::lock_guard until_it_is_let_go(abandoning_);
}

void runtime_state::require_open() const {
  if (closed()) {
    throw error(errc::runtime_gone, "the runtime has ended",
                "keep the runtime and its executor alive for as long as something uses them");
  }
}

void runtime_state::abandon_roots() noexcept {
  for (;;) {
    const std::lock_guard in_hand(abandoning_);
    root* next = nullptr;
    {
      const auto guard = lock();
      next = roots_;
      all_abandoned_ = next == nullptr;
      if (next) unlink(*next);
    }
    if (!next) return;
    next->abandon();
  }
}

std::vector<std::string> runtime_state::waiting() const {
  const auto guard = lock();
  std::vector<std::string> lines;
  for (const root* r = roots_; r; r = r->after_) r->describe(lines);
  std::sort(lines.begin(), lines.end());  // By name: independent of the order of creation.
  return lines;
}

void runtime_state::trace(std::size_t events) {
  for (auto* line : schedulers_) line->trace_to(nullptr);
  tracers_.clear();
  if (events == 0) return;
  const auto clock = [](const void* source) noexcept {
    return static_cast<const runtime_state*>(source)->now();
  };
  for (auto* line : schedulers_) {
    if (tracers_.empty() || !one_thread()) {
      tracers_.push_back(std::make_unique<tracer>(events, clock, this));
    }
    line->trace_to(tracers_.back().get());
  }
}

recording runtime_state::traced() const {
  recording all;
  for (const auto& t : tracers_) {
    const auto part = t->events();
    std::vector<trace_event> merged;
    std::merge(all.events.begin(), all.events.end(), part.begin(), part.end(),
               std::back_inserter(merged),
               [](const auto& a, const auto& b) { return a.time < b.time; });
    all.events = std::move(merged);
    all.lost += t->lost();
  }
  all.names = participants();
  return all;
}

std::vector<std::string> runtime_state::participants() const {
  const auto guard = lock();
  std::vector<std::string> names;
  for (const auto& who : names_) names.push_back(to_string(who));
  return names;
}

}  // namespace troupe
