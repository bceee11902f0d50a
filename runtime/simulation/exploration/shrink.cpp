// shrink.cpp - from the schedule in which a failure was found to one that has nothing to spare.
//
// A schedule is a list of deviations from the default order. Whole stretches of the list are
// left out, then shorter ones, down to single entries (delta debugging); what remains fits as
// nearly as it can. Where that ends, "A lets X go on, X lets B go on" may still be "A lets B go
// on", and somebody may be spared altogether. The result cannot spare any single entry.
//
// A short way may be another one altogether. So what is still long is drawn anew a few times, and
// the smallest of all is kept.

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "runtime/simulation/exploration/swapped_letters.hpp"
#include "runtime/simulation/one_run.hpp"
#include "runtime/simulation/policies.hpp"

namespace troupe::detail {

namespace {

/// Tries schedules against one failure, as long as the budget lasts.
class shrinker {
 public:
  shrinker(const simulation_options& options, const simulation::program& body, failure found,
           const interrupt_watch& watch)
      : options_(options),
        body_(body),
        watch_(watch),
        best_(std::move(found)),
        schedule_(parse_schedule(best_.schedule)) {}

  failure smallest() && {
    shrink_this();
    for (std::uint64_t i = 0; i < more_starts && is_long() && may_go_on(); ++i) begin_again();
    best_.replays = replays_;
    return std::move(best_);
  }

 private:
  static constexpr std::uint64_t budget = 10'000;
  static constexpr std::size_t few = 3;  // Deviations that somebody still can think through.
  static constexpr std::uint64_t more_starts = 5;
  static constexpr std::uint64_t draws_a_start = 500;

  bool is_long() const noexcept { return schedule_.deviations.size() > few; }

  void shrink_this() {
    do {
      leave_out();
    } while (may_go_on() && (take_a_short_cut() || leave_out_a_party()));
  }

  /// From another schedule that fails alike, unless none is drawn.
  void begin_again() {
    const std::uint64_t end = draws_ + draws_a_start;
    while (draws_ < end && may_go_on()) {
      const auto policy = drawn_policy(drawing::portfolio, ~options_.seed, ++draws_, best_.steps);
      one_run run = replayed(*policy);
      if (!run.failure || !same_failure(*run.failure, best_)) continue;
      failure before = std::exchange(best_, *std::move(run.failure));
      schedule shorter = std::exchange(schedule_, std::move(run.taken));
      shrink_this();
      if (schedule_.deviations.size() < shorter.deviations.size()) return;
      best_ = std::move(before);
      schedule_ = std::move(shorter);
      return;
    }
  }

  bool may_go_on() const noexcept { return replays_ < budget && !watch_.interrupted(); }

  void leave_out() {
    std::size_t pieces = 2;
    while (schedule_.deviations.size() > 1 && may_go_on()) {
      if (leave_out_one_of(pieces)) {
        pieces = std::max<std::size_t>(pieces - 1, 2);
      } else if (pieces < schedule_.deviations.size()) {
        pieces = std::min(2 * pieces, schedule_.deviations.size());
      } else {
        break;
      }
    }
    if (schedule_.deviations.size() == 1) leave_out_one_of(1);
  }

  /// Cuts the list into pieces, and goes on without the first one that can be spared.
  bool leave_out_one_of(std::size_t pieces) {
    const std::size_t size = schedule_.deviations.size();
    for (std::size_t i = 0; i < pieces && may_go_on(); ++i) {
      const std::size_t first = size * i / pieces;
      const std::size_t end = size * (i + 1) / pieces;
      const auto spared = [&](std::size_t j) { return j >= first && j < end; };
      if (fails_alike(without(spared))) return true;
    }
    return false;
  }

  /// Where one party after the other was let go on, lets the last of them go on at once: the
  /// longest stretches first.
  bool take_a_short_cut() {
    const std::size_t size = schedule_.deviations.size();
    for (std::size_t length = size; length > 1; --length) {
      for (std::size_t first = 0; first + length <= size && may_go_on(); ++first) {
        const std::size_t last = first + length - 1;
        schedule less = without([&](std::size_t j) { return j > first && j <= last; });
        less.deviations[first].then = schedule_.deviations[last].then;
        less.deviations[first].link = schedule_.deviations[last].link;
        if (fails_alike(std::move(less))) return true;
      }
    }
    return false;
  }

  /// Goes on without whatever concerns one party.
  bool leave_out_a_party() {
    std::set<schedule::party_name> all;
    for (const auto& d : schedule_.deviations) all.insert({d.after, d.then});
    for (const auto& who : all) {
      if (!may_go_on()) break;
      const auto concerned = [&](std::size_t j) {
        const auto& d = schedule_.deviations[j];
        return d.after == who || d.then == who;
      };
      if (fails_alike(without(concerned))) return true;
    }
    return false;
  }

  schedule without(const auto& spared) const {
    schedule less;
    less.program = schedule_.program;
    for (std::size_t j = 0; j < schedule_.deviations.size(); ++j) {
      if (!spared(j)) less.deviations.push_back(schedule_.deviations[j]);
    }
    return less;
  }

  one_run replayed(choice_policy& policy) {
    ++replays_;
    return swaps_ ? run_and_swap(options_, policy, body_) : run_once(options_, policy, body_);
  }

  bool fails_alike(schedule tried) {
    const std::size_t before = schedule_.deviations.size();
    given_choice policy(std::move(tried), given_choice::fit::nearest);
    one_run run = replayed(policy);
    // What was not left out, but did not fit, is not in what was taken either.
    if (!run.failure || run.taken.deviations.size() >= before) return false;
    if (!same_failure(*run.failure, best_)) return false;
    schedule_ = std::move(run.taken);
    best_ = *std::move(run.failure);
    return true;
  }

  const simulation_options& options_;
  const simulation::program& body_;
  const interrupt_watch& watch_;
  failure best_;
  const bool swaps_ = is_not_commutative(best_);
  schedule schedule_;
  std::uint64_t replays_ = 0;
  std::uint64_t draws_ = 0;
};

}  // namespace

failure shrink(const simulation_options& options, const simulation::program& body, failure found,
               const interrupt_watch& watch) {
  const std::size_t deviations = parse_schedule(found.schedule).deviations.size();
  failure smallest = shrinker(options, body, std::move(found), watch).smallest();
  smallest.deviations_found = deviations;
  return smallest;
}

}  // namespace troupe::detail
