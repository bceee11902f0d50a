// verdicts.cpp - what is said of a run in which nobody fails and which does not end.

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/core/wording.hpp"
#include "runtime/simulation/sim_engine.hpp"
#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t most_named = 8;

/// The shortest stretch that comes at least three times in a row at the end; 0 if there is none.
std::size_t period_of(const std::vector<std::uint32_t>& steps) {
  for (std::size_t period = 1; 3 * period <= steps.size(); ++period) {
    const auto last = steps.end() - static_cast<std::ptrdiff_t>(2 * period);
    if (std::equal(last, steps.end(), last - static_cast<std::ptrdiff_t>(period))) return period;
  }
  return 0;
}

/// What Asio's own timers, sockets and signals wait for does not come into a world.
bool somebody_awaits_asio(const std::vector<std::string>& waiting) {
  return std::any_of(waiting.begin(), waiting.end(), [](const std::string& line) {
    return line.find("an asynchronous operation") != line.npos ||
           line.find("an asio::awaitable") != line.npos;
  });
}

}  // namespace

std::string sim_engine::lasso() const {
  const std::size_t period = period_of(end_);
  if (period == 0) return "";
  const auto names = participants();
  std::string text = "; at its end the same " + std::to_string(period) +
                     (period == 1 ? " step comes" : " steps come") + " again and again:";
  for (std::size_t i = end_.size() - period; i < end_.size(); ++i) {
    if (i == end_.size() - period + most_named) {
      text += " ...";
      break;
    }
    text += " " + names[end_[i]];
  }
  for (const auto& l : ready_) {
    const auto begin = end_.end() - static_cast<std::ptrdiff_t>(period);
    if (std::find(begin, end_.end(), l.owner) != end_.end()) continue;
    return text + ", while " + names[l.owner] + " could have gone on";
  }
  return text;
}

void sim_engine::fail_as_too_long() const {
  if (step_limit_ < options_.max_steps) {
    throw error(errc::too_long,
                "after world::heal() the run took more steps than it was given, " +
                    std::to_string(step_limit_) + " in all" + lasso(),
                "look for who waits for what never comes, or give heal() more steps");
  }
  throw error(errc::too_long,
              "the run took more than " + count_of(options_.max_steps, "step") + lasso(),
              "look for a loop that never ends, or raise simulation_options::max_steps");
}

/// Loops of Asio's own coroutines and timers take no step of ours.
void sim_engine::fail_as_endless() const {
  throw error(errc::too_long,
              "after step " + std::to_string(steps_) +
                  ", at t=" + std::to_string(now_.count() / 1'000'000) +
                  "ms, Asio's handlers and timers went on " + std::to_string(most_unseen_) +
                  " times, and nobody took another step",
              "look for a loop that never ends, or raise simulation_options::max_steps");
}

void sim_engine::fail_as_deadlock() const {
  error_facts facts(errc::deadlock, "deadlock at step " + std::to_string(steps_) +
                                        ", t=" + std::to_string(now_.count() / 1'000'000) +
                                        "ms: nothing can run and somebody waits");
  facts.waiting = waiting();
  facts.fix = "look for who never answers: each line names what a coroutine waits for";
  if (somebody_awaits_asio(facts.waiting)) {
    facts.fix += "; an asio::steady_timer, a socket and a signal are real, and end in no world: a "
                 "troupe::timer and sleep_for() do";
  }
  facts.replay = to_string(taken());
  throw error(std::move(facts));
}

}  // namespace troupe::detail
