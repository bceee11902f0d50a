// every_order.hpp - one schedule for each partial order of a program's steps, and no more.
//
// After each run, two steps that raced, next to each other in the run's order and taken in
// one of two ways, are to be taken in the other way once: where the first was taken, some step
// is tried instead that leads to the second (source sets). What was tried at a place before
// is not tried again behind its neighbours until something happens that it depends on (sleep
// sets). Values of choose() are all tried. This is dynamic partial order reduction in the form of
// Abdulla, Aronis, Jonsson and Sagonas.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <vector>

#include "runtime/simulation/partial_order/partial_order.hpp"
#include "runtime/simulation/partial_order/step_log.hpp"
#include "runtime/simulation/sim_engine.hpp"

namespace troupe::detail {

/// Thrown by choose(): whatever comes now is in the order of a run that was made before.
struct seen_before {};

class every_order final : public choice_policy {
 public:
  /// `log` is that of every run under this policy.
  explicit every_order(const step_log& log) noexcept : log_(log) {}

  std::size_t choose(const choice_point& point) override;

  /// Learns from the run that has ended. \return false if its order was there before.
  bool learn();

  /// The order of the latest run.
  const partial_order& order() const noexcept { return order_; }

  /// Advances to the next schedule; false when there is none.
  bool next();

  /// Between next() and the run: what there is left to do, as text.
  void save(std::ostream& out) const;
  /// Goes on from there. \return false if it is no such text.
  bool load(std::istream& in);
  /// Whether what was loaded leaves anything to do.
  bool has_more() const noexcept { return size_ > 0; }

  /// About how much of all lies before this schedule, 0 to 1.
  double done() const;

 private:
  /// A step as far as others depend on it: all that it was seen to touch there.
  struct candidate {
    step_key link = 0;
    step_key owner = 0;
    step_key line = 0;
    std::vector<logged_touch> touches;

    bool depends_on(const candidate& other) const noexcept;
    void add(const step_log& log, std::size_t step);
    void save(std::ostream& out) const;
    bool load(std::istream& in);
  };

  /// A moment of the present schedule: a step is taken, or a value chosen.
  struct moment {
    bool is_value = false;
    std::uint32_t step = 0;    ///< Which one, or in which one.
    std::uint32_t value = 0;   ///< If it is a value: which …
    std::uint32_t values = 0;  ///< … of how many.
    candidate taken;
    std::vector<candidate> done;    ///< Taken here before.
    std::vector<candidate> asleep;  ///< Leads to what was seen before this moment.
    std::vector<step_key> wanted;   ///< To be taken here, or taken already.
  };

  void catch_up();
  void enter_step();
  moment& append(bool is_value);
  void put_to_sleep(moment& now, const moment& before);
  void reverse(const partial_order::race& r);
  bool leads_to(const moment& at, step_key link) const;
  std::size_t pick(const choice_point& point, const moment& now) const;

  const step_log& log_;
  partial_order order_;
  std::vector<moment> moments_;  // Those behind size_ keep their memory.
  std::size_t size_ = 0;
  std::size_t at_ = 0;                // How far the present run is.
  std::size_t changed_ = 0;           // The first moment of this schedule that is new.
  std::size_t steps_ = 0;             // How many of the log's steps have a moment.
  std::vector<std::size_t> by_step_;  // The moment of each.
  bool seen_before_ = false;
  std::vector<partial_order::index> initials_;
  step_key clock_link_ = 0;  // Of timers that end early, if any could.
};

}  // namespace troupe::detail
