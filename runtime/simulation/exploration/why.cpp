// why.cpp - after which step a failure could not be avoided any more.
//
// The run is repeated up to some step and goes on at random from there, many times. Before the
// decisive step some ways on hold, after it none does: that step is found by halving.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/simulation/one_run.hpp"
#include "runtime/simulation/policies.hpp"

namespace troupe::detail {

namespace {

/// Notes what another policy chooses, and for which step.
class noted_choices final : public choice_policy {
 public:
  struct choice {
    std::uint64_t step;
    std::size_t chosen;
  };

  explicit noted_choices(choice_policy& of) noexcept : of_(of) {}
  std::size_t choose(const choice_point& point) override {
    const std::uint64_t step = point.engine.steps() + (point.is_value ? 0 : 1);
    choices_.push_back({step, of_.choose(point)});
    return choices_.back().chosen;
  }
  const std::vector<choice>& choices() const noexcept { return choices_; }

 private:
  choice_policy& of_;
  std::vector<choice> choices_;
};

/// As noted for the first `steps` steps, then at random.
class noted_then_drawn final : public choice_policy {
 public:
  noted_then_drawn(const std::vector<noted_choices::choice>& noted, std::uint64_t steps,
                   std::unique_ptr<choice_policy> drawn) noexcept
      : noted_(noted), steps_(steps), drawn_(std::move(drawn)) {}

  std::size_t choose(const choice_point& point) override {
    const bool as_noted =
        next_ < noted_.size() && noted_[next_].step <= steps_ && noted_[next_].chosen < point.count;
    return as_noted ? noted_[next_++].chosen : drawn_->choose(point);
  }

 private:
  const std::vector<noted_choices::choice>& noted_;
  std::uint64_t steps_;
  std::unique_ptr<choice_policy> drawn_;
  std::size_t next_ = 0;
};

constexpr std::uint64_t ways_on = 200;         // Drawn from each place.
constexpr std::uint64_t most_steps = 500'000;  // In all: longer programs get no answer.

}  // namespace

void explain(const simulation_options& options, const simulation::program& body, failure& found,
             const interrupt_watch& watch) {
  given_choice given(parse_schedule(found.schedule), given_choice::fit::strict);
  noted_choices noted(given);
  run_wishes wishes;
  wishes.journal = true;
  const one_run run = run_once(options, noted, body, wishes);
  std::uint64_t spent = run.steps;
  const auto fails_always = [&](std::uint64_t after) {
    for (std::uint64_t i = 0; i < ways_on && spent < most_steps; ++i) {
      noted_then_drawn policy(noted.choices(), after,
                              drawn_policy(drawing::portfolio, options.seed, i, run.steps));
      const one_run other = run_once(options, policy, body);
      spent += other.steps;
      if (!other.failure || !same_failure(*other.failure, found)) return false;
    }
    return true;
  };
  // It fails always after `late`, and not always after what is before `early`.
  std::uint64_t early = 0;
  std::uint64_t late = run.steps;
  while (early < late && spent < most_steps && !watch.interrupted()) {
    const std::uint64_t middle = early + (late - early) / 2;
    if (fails_always(middle)) {
      late = middle;
    } else {
      early = middle + 1;
    }
  }
  if (early != late || spent >= most_steps || watch.interrupted()) return;
  found.unavoidable = late;
  if (const auto* step = record_of_step(run.journal, late)) {
    found.unavoidable_by = run.participants[step->owner];
  }
}

}  // namespace troupe::detail
