// partial_order.hpp - which steps of a run came before which others, and which of them might as
// well have come after.
//
// A step comes after the step that posted it, after those before it in its link, after the
// steps of its owner, and after those that touched what it touches, unless both commute. Runs
// with the same order are one to the program, whatever the sequence.
//
// Vector clocks: the clock of a step counts, for each party, how many of its steps come before.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/simulation/partial_order/step_log.hpp"

namespace troupe::detail {

class partial_order {
 public:
  using index = std::uint32_t;

  /// Two steps next to each other in the order, of which the second could have come first.
  struct race {
    index first;
    index second;
  };

  /// Reads a run. Races are looked for whose second step is number `from` or a later one.
  void read(const step_log& log, std::size_t from);

  std::span<const race> races() const noexcept { return races_; }

  /// Whether `a` comes before `b`. \pre a < b
  bool before(index a, index b) const noexcept {
    const auto& s = log_->steps()[a];
    return clock(b)[s.owner] >= s.own_number;
  }

  /// The same number for all runs with this order, and hardly ever for others.
  std::uint64_t fingerprint() const noexcept { return fingerprint_; }

  /// Whether some claim looked at the world after a step that might have come before another
  /// one: then the sequence matters, not only the order.
  bool sequence_matters() const noexcept { return sequence_matters_; }

  /// Whether a step may come next, after so many steps of each party. \pre The same for all of
  /// these.
  bool may_come(index step, const std::vector<std::uint32_t>& so_far) const noexcept;

  /// How many sequences have this order. Counting them uses up `states`; 0 if they are too few.
  double sequences(std::size_t& states) const;

 private:
  /// The latest touch of one kind by one party.
  struct toucher {
    std::uint32_t party;
    touch how;
    index step;
  };
  struct thing_history {
    step_key thing;
    std::vector<toucher> touchers;
  };

  const std::uint32_t* clock(index step) const noexcept {
    return clocks_.data() + std::size_t{step} * parties_;
  }
  std::uint32_t* clock(index step) noexcept {
    return clocks_.data() + std::size_t{step} * parties_;
  }

  void begin(const step_log& log);
  void read_step(index i, bool look_for_races);
  void join(index into, index other) noexcept;
  /// \return whether the step concludes something, and might have been posted by another step.
  bool join_causes(index i);
  void join_lanes(index i);
  void collect_conflicts(index i);
  void collect_steps_of(const logged_touch& touched);
  void collect_touchers(step_key thing);
  void remember(index i);
  thing_history* history_of(step_key thing) noexcept;
  thing_history& make_history(step_key thing);
  void put_in_bucket(std::uint32_t which) noexcept;
  void hash_edge(index to) noexcept { edges_ += id_of(to); }
  std::uint64_t id_of(index step) const noexcept;

  const step_log* log_ = nullptr;
  std::size_t parties_ = 0;
  std::vector<std::uint32_t> clocks_;
  std::vector<std::uint32_t> floor_;   // What came before time moved last.
  std::vector<std::uint32_t> counts_;  // Steps of each party so far.
  std::vector<index> latest_;          // Step of each party; none if it has made no step.
  std::vector<index> previous_;        // Of each step's owner.
  std::vector<thing_history> history_;
  std::size_t things_ = 0;              // Of history_, those in use.
  std::vector<std::uint32_t> buckets_;  // Where in history_, by the thing's key.
  bool others_touched_ = false;         // Somebody has touched a party or a line.
  std::vector<index> conflicts_;        // Of the step that is being read.
  std::vector<race> races_;
  std::uint64_t edges_ = 0;
  std::uint64_t fingerprint_ = 0;
  bool sequence_matters_ = false;
};

/// Whether two touches of one thing may be swapped.
constexpr bool commute(touch a, touch b) noexcept {
  return a == b && a != touch::change && a != touch::conclude;
}

}  // namespace troupe::detail
