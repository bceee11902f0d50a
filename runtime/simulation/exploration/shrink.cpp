// shrink.cpp - from the schedule in which a failure was found to one that has nothing to spare.
//
// A schedule is a list of deviations from the default order. Whole stretches of the list are
// left out, then shorter ones, down to single entries (delta debugging); what remains fits as
// nearly as it can. The result cannot spare any single entry.

#include <algorithm>
#include <cstddef>
#include <utility>

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
    best_.replays = replays_;
    return std::move(best_);
  }

 private:
  static constexpr std::uint64_t budget = 10'000;

  bool may_go_on() const noexcept { return replays_ < budget && !watch_.interrupted(); }

  /// Cuts the list into pieces, and goes on without the first one that can be spared.
  bool leave_out_one_of(std::size_t pieces) {
    const std::size_t size = schedule_.deviations.size();
    for (std::size_t i = 0; i < pieces && may_go_on(); ++i) {
      schedule less;
      less.program = schedule_.program;
      for (std::size_t j = 0; j < size; ++j) {
        const bool spared = j >= size * i / pieces && j < size * (i + 1) / pieces;
        if (!spared) less.deviations.push_back(schedule_.deviations[j]);
      }
      if (fails_alike(std::move(less))) return true;
    }
    return false;
  }

  bool fails_alike(schedule tried) {
    ++replays_;
    const std::size_t before = schedule_.deviations.size();
    given_choice policy(std::move(tried), given_choice::fit::nearest);
    one_run run = run_once(options_, policy, body_);
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
  schedule schedule_;
  std::uint64_t replays_ = 0;
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
