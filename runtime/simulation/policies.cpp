// policies.cpp - see policies.hpp.

#include "runtime/simulation/policies.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "troupe/core/error.hpp"

namespace troupe::detail {

std::uint64_t seeded::next() noexcept {
  state_ += 0x9e3779b97f4a7c15u;
  return scrambled(state_);
}

void throw_another_course() {
  throw error(errc::schedule_diverged, "the program took another course under the same schedule",
              "let nothing but the world order it: no pointers, clocks, threads, statics");
}

std::size_t every_choice::choose(const choice_point& point) {
  if (depth_ == digits_.size()) digits_.push_back({0, point.count, point.usual});
  const auto& d = digits_[depth_++];
  // A run that differs under the same choices is not controlled by them.
  if (d.count != point.count || d.usual != point.usual) throw_another_course();
  return (d.value + d.usual) % d.count;  // The default order comes first.
}

bool every_choice::next() {
  digits_.resize(depth_);
  depth_ = 0;
  while (!digits_.empty() && digits_.back().value + 1 == digits_.back().count) digits_.pop_back();
  if (digits_.empty()) return false;
  ++digits_.back().value;
  return true;
}

double every_choice::done() const {
  double before = 0;
  double share = 1;
  for (const auto& d : digits_) {
    share /= static_cast<double>(d.count);
    before += share * static_cast<double>(d.value);
  }
  return before;
}

random_priorities::random_priorities(std::uint64_t seed, unsigned depth, std::uint64_t length)
    : dice_(seed) {
  for (unsigned i = 1; i < depth; ++i) {
    changes_.push_back(dice_.next() % std::max<std::uint64_t>(length, 1));
  }
  std::sort(changes_.begin(), changes_.end());
}

std::uint64_t& random_priorities::priority_of(std::uint32_t party) {
  if (priorities_.size() <= party) priorities_.resize(party + 1);
  // Above those that a change point gives, which count down from the number of changes.
  if (priorities_[party] == 0) priorities_[party] = dice_.next() | (std::uint64_t{1} << 32);
  return priorities_[party];
}

std::size_t random_priorities::highest(const choice_point& point) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < point.count; ++i) {
    if (priority_of(point.party_id(i)) > priority_of(point.party_id(best))) best = i;
  }
  return best;
}

std::size_t random_priorities::choose(const choice_point& point) {
  if (point.is_value) return dice_.below(point.count);
  std::size_t best = highest(point);
  while (changed_ < changes_.size() && point.engine.steps() >= changes_[changed_]) {
    ++changed_;
    priority_of(point.party_id(best)) = changes_.size() - changed_ + 1;
    best = highest(point);
  }
  return best;
}

std::size_t starvation::choose(const choice_point& point) {
  if (point.is_value) return dice_.below(point.count);
  const auto is_victim = [&](std::size_t i) { return point.party_id(i) == victim_; };
  std::size_t others = 0;
  for (std::size_t i = 0; i < point.count; ++i) others += is_victim(i) ? 0u : 1u;
  if (others == 0) return dice_.below(point.count);
  std::size_t wanted = dice_.below(others);
  for (std::size_t i = 0;; ++i) {
    if (is_victim(i)) continue;
    if (wanted-- == 0) return i;
  }
}

std::size_t round_robin::choose(const choice_point& point) {
  if (point.is_value) return dice_.below(point.count);
  if (left_ > 0) {
    --left_;
    return point.usual;
  }
  left_ = burst_ - 1;
  // The lowest party above the latest one, or else the lowest of all.
  std::size_t next = point.count;
  std::size_t lowest = 0;
  for (std::size_t i = 0; i < point.count; ++i) {
    const std::uint32_t party = point.party_id(i);
    if (party < point.party_id(lowest)) lowest = i;
    if (party > latest_ && (next == point.count || party < point.party_id(next))) next = i;
  }
  if (next == point.count) next = lowest;
  latest_ = point.party_id(next);
  return next;
}

std::unique_ptr<choice_policy> drawn_policy(drawing how, std::uint64_t seed, std::uint64_t i,
                                            std::uint64_t length) {
  const std::uint64_t own = seed * 0x2545f4914f6cdd1du + i;
  std::uint64_t depth = 1 + i % 3;
  if (how == drawing::portfolio) {
    const std::uint64_t place = i % 8;
    const bool by_priorities = place == 1 || place == 3 || place == 5;
    depth = (place + 1) / 2;
    how = by_priorities ? drawing::priorities
          : place == 6  ? drawing::starvation
          : place == 7  ? drawing::round_robin
                        : drawing::uniform;
  }
  switch (how) {
    case drawing::priorities:
      return std::make_unique<random_priorities>(own, static_cast<unsigned>(depth), length);
    case drawing::starvation: return std::make_unique<starvation>(own);
    case drawing::round_robin: return std::make_unique<round_robin>(own);
    default: return std::make_unique<random_walk>(own);
  }
}

namespace {

auto place_of(const schedule::deviation& d) { return std::tuple(d.after, d.own_step); }

std::string impossible(const choice_point& point, const schedule::deviation& wanted) {
  if (point.is_value) {
    return "choose() should give " + std::to_string(wanted.then.index) + ", but it has " +
           std::to_string(point.count) + " values only";
  }
  const std::string who = point.engine.text_of(wanted.then);
  if (!who.empty()) return who + " should step next, but it cannot";
  return "somebody with index " + std::to_string(wanted.then.index) +
         " should step next, whom this run does not have here";
}

}  // namespace

given_choice::given_choice(schedule s, fit how)
    : schedule_(std::move(s)),
      how_(how),
      by_place_(schedule_.deviations.size()),
      used_(schedule_.deviations.size()) {
  std::iota(by_place_.begin(), by_place_.end(), std::size_t{0});
  std::sort(by_place_.begin(), by_place_.end(), [&](std::size_t a, std::size_t b) {
    const auto first = place_of(schedule_.deviations[a]);
    const auto second = place_of(schedule_.deviations[b]);
    return first != second ? first < second : a < b;
  });
}

std::size_t given_choice::choose(const choice_point& point) {
  // A place is met once in a run; what the first entry for it says counts.
  const auto place = place_of(point.place());
  const auto at = std::lower_bound(
      by_place_.begin(), by_place_.end(), place,
      [&](std::size_t a, const auto& here) { return place_of(schedule_.deviations[a]) < here; });
  if (at == by_place_.end() || place_of(schedule_.deviations[*at]) != place) return point.usual;
  const auto& wanted = schedule_.deviations[*at];
  for (std::size_t i = 0; i < point.count; ++i) {
    if (point.told(i) != wanted) continue;
    if (!used_[*at]) ++met_;
    used_[*at] = true;
    return i;
  }
  if (how_ == fit::nearest) return point.usual;
  diverged(*at, impossible(point, wanted));
}

void given_choice::require_used_up() const {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (!used_[i]) diverged(i, "the run never came to that point");
  }
}

void given_choice::diverged(std::size_t entry, const std::string& why) const {
  throw error(errc::schedule_diverged,
              "the schedule does not fit this program: at its entry " + std::to_string(entry + 1) +
                  " of " + std::to_string(schedule_.deviations.size()) + ", " + why,
              "the program has changed since, or it is another one; TROUPE_SIM_REPLAY=nearest "
              "leaves out what does not fit");
}

}  // namespace troupe::detail
