// swapped_letters.cpp - see swapped_letters.hpp.

#include "runtime/simulation/exploration/swapped_letters.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/simulation/partial_order/partial_order.hpp"
#include "runtime/simulation/policies.hpp"
#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

/// Follows the order of a run. What commutes comes when nothing else can, the last of it first.
class same_order final : public choice_policy {
 public:
  /// `now` is the log of the run under this policy.
  same_order(const step_log& before, const step_log& now)
      : before_(before), now_(now), so_far_(before.parties()) {
    order_.read(before, before.steps().size());
    const auto& steps = before.steps();
    for (std::uint32_t i = 0; i < steps.size(); ++i) of_link_[steps[i].link].push_back(i);
    for (auto& [link, all] : of_link_) std::reverse(all.begin(), all.end());
  }

  std::size_t choose(const choice_point& point) override {
    follow();
    if (lost_) return point.usual;
    if (point.is_value) return value(point);
    std::size_t best = point.count;
    std::uint32_t best_step = 0;
    for (std::size_t i = 0; i < point.count; ++i) {
      const auto link = of_link_.find(point.engine.ready_link(i));
      if (link == of_link_.end() || link->second.empty()) continue;
      const std::uint32_t step = link->second.back();
      if (!order_.may_come(step, so_far_)) continue;
      if (best != point.count && !goes_first(step, best_step)) continue;
      best = i;
      best_step = step;
    }
    lost_ = best == point.count;
    return lost_ ? point.usual : best;
  }

  /// Whether the run that has ended was one of this order.
  bool kept() {
    follow();
    return !lost_ && now_.steps().size() == before_.steps().size();
  }

 private:
  bool commutes(std::uint32_t step) const noexcept {
    return before_.is_lane(before_.steps()[step].owner);
  }
  bool goes_first(std::uint32_t a, std::uint32_t b) const noexcept {
    if (commutes(a) != commutes(b)) return commutes(b);
    return commutes(a) ? a > b : a < b;
  }

  /// Notes what the run has done since, asked or not.
  void follow() {
    for (; followed_ < now_.steps().size() && !lost_; ++followed_) {
      const auto link = of_link_.find(now_.steps()[followed_].link);
      lost_ = link == of_link_.end() || link->second.empty();
      if (lost_) return;
      latest_ = link->second.back();
      link->second.pop_back();
      ++so_far_[before_.steps()[latest_].owner];
      if (followed_ > 0) values_ = 0;  // What is chosen before the first step belongs to it.
    }
  }

  std::size_t value(const choice_point& point) {
    const auto chosen =
        before_.steps().empty() ? std::span<const chosen_value>() : before_.values(latest_);
    lost_ = values_ == chosen.size() || chosen[values_].value >= point.count;
    return lost_ ? point.usual : chosen[values_++].value;
  }

  const step_log& before_;
  const step_log& now_;
  partial_order order_;
  std::map<step_key, std::vector<std::uint32_t>> of_link_;  // Steps to come, the last one first.
  std::vector<std::uint32_t> so_far_;                       // Of each party, by the first run.
  std::size_t followed_ = 0;
  std::uint32_t latest_ = 0;
  std::size_t values_ = 0;  // Chosen in the latest step.
  bool lost_ = false;
};

/// Of both runs, the first actor that was left in another state; empty if there is none.
std::string first_difference(const step_log& a, const step_log& b) {
  std::map<step_key, std::vector<std::uint64_t>> others;
  for (const auto& each : b.shown()) others[each.whose].push_back(each.state);
  std::map<step_key, std::size_t> seen;
  for (const auto& each : a.shown()) {
    const auto& all = others[each.whose];
    const std::size_t which = seen[each.whose]++;
    if (which >= all.size() || all[which] != each.state) return each.name;
  }
  return {};
}

}  // namespace

std::optional<failure> swapped_failure(const simulation_options& options,
                                       const simulation::program& body, const schedule& taken,
                                       const step_log& log, bool picture) {
  step_log other;
  same_order policy(log, other);
  run_wishes wishes;
  wishes.log = &other;
  wishes.journal = true;
  wishes.picture = picture;
  one_run swapped = run_once(options, policy, body, wishes);
  if (swapped.failure) return std::move(swapped.failure);
  if (!policy.kept()) return {};
  const std::string who = first_difference(log, other);
  if (who.empty()) return {};
  given_choice again(taken, given_choice::fit::nearest);
  run_wishes recorded;
  recorded.picture = picture;
  recorded.check = [&] {
    throw error(errc::not_commutative,
                who +
                    " is left in another state when the same messages come in another order, as "
                    "under " +
                    to_string(swapped.taken),
                "take `commutes` out of a message whose order matters; sums of floating-point "
                "numbers are among them");
  };
  return run_once(options, again, body, recorded).failure;
}

one_run run_and_swap(const simulation_options& options, choice_policy& policy,
                     const simulation::program& body, run_wishes wishes) {
  step_log own;
  if (!wishes.log) wishes.log = &own;
  wishes.journal = true;
  one_run run = run_once(options, policy, body, wishes);
  if (!run.failure && !run.broken_off && wishes.log->has_lanes()) {
    run.failure = swapped_failure(options, body, run.taken, *wishes.log, wishes.picture);
  }
  return run;
}

bool is_not_commutative(const failure& found) {
  try {
    std::rethrow_exception(found.exception);
  } catch (const error& told) {
    return told.code() == errc::not_commutative;
  } catch (...) {
    return false;
  }
}

}  // namespace troupe::detail
