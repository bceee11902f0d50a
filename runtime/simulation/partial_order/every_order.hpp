// every_order.hpp - one schedule for each partial order of a program's steps, and no more.
//
// After each run, two steps that raced, next to each other in the run's order and taken in
// one of two ways, are to be taken in the other way once: where the first was taken, some step
// is tried instead that leads to the second (source sets). What was tried at a place before
// is not tried again behind its neighbours until something happens that it depends on (sleep
// sets). Values of choose() are all tried. This is dynamic partial order reduction in the form of
// Abdulla, Aronis, Jonsson and Sagonas.
//
// Each thread has a policy of its own; what is left to try is in a frontier, which they share.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "runtime/simulation/partial_order/frontier.hpp"
#include "runtime/simulation/partial_order/moment.hpp"
#include "runtime/simulation/partial_order/partial_order.hpp"
#include "runtime/simulation/partial_order/step_log.hpp"
#include "runtime/simulation/sim_engine.hpp"

namespace troupe::detail {

/// Thrown by choose(): whatever comes now is in the order of a run that was made before.
struct seen_before {};

class every_order final : public choice_policy {
 public:
  /// `log` is that of every run under this policy. \pre The frontier's lock is held.
  every_order(frontier& left, const step_log& log) : left_(left), self_(left.enter()), log_(log) {}

  /// Advances to a schedule that nobody has run; false when there is none, or after a stop.
  /// \pre The frontier's lock is held, by `lock`.
  bool next(std::unique_lock<std::mutex>& lock);

  std::size_t choose(const choice_point& point) override;

  /// To be called when a run has held. \throws errc::schedule_diverged if it was another one.
  void require_this_run();

  /// Learns from the run that has ended what concerns nobody else, …
  void read();
  /// … and then the rest. \return false if its order was there before.
  /// \pre The frontier's lock is held.
  bool learn();

  /// The order of the latest run.
  const partial_order& order() const noexcept { return order_; }

 private:
  /// A moment, and how the present run leaves it.
  struct passed {
    moment* at = nullptr;
    std::uint32_t way = 0;
    step_key link = 0;  // Of a step.
  };

  void go_to_next(bool behind);
  void catch_up();
  void enter_step();
  moment& append(std::uint32_t values, bool of_fault = false);
  void put_to_sleep(moment& now, const passed& before);
  std::uint32_t spare_values(moment& now, const passed& step);
  void reverse(const partial_order::race& r);
  std::size_t pick(const choice_point& point, const moment& now) const;
  void note_touches(std::size_t step);

  frontier& left_;
  frontier::searcher& self_;
  const step_log& log_;
  partial_order order_;
  std::vector<passed> path_;
  std::size_t known_ = 0;  // Of the path, what the frontier has; only the last way is new.
  std::size_t at_ = 0;     // How far the present run is.
  std::size_t steps_ = 0;  // How many of the log's steps have a moment.
  std::vector<std::size_t> by_step_;  // The moment of each.
  std::size_t changed_step_ = 0;  // The first step that is new, or may touch other things now; …
  std::size_t fresh_step_ = 0;    // … the first one whose moment is new.
  bool seen_before_ = false;
  std::vector<partial_order::index> initials_;
};

}  // namespace troupe::detail
