// explorer.cpp - which schedules are run, which runs are repeated, and what is told of a failure.

#include "runtime/simulation/exploration/explorer.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/simulation/exploration/interrupt.hpp"
#include "runtime/simulation/exploration/progress.hpp"
#include "runtime/simulation/exploration/stirred_heap.hpp"
#include "runtime/simulation/one_run.hpp"
#include "runtime/simulation/policies.hpp"
#include "runtime/simulation/sim_engine.hpp"
#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

/// How the first step differs that a repetition took, as a sentence.
std::string difference(const one_run& first, const one_run& second) {
  const auto& a = first.journal;
  const auto& b = second.journal;
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto told = [](const one_run& run, auto step) {
    if (step == run.journal.end()) return std::string("had ended");
    if (step->owner == step_record::no_owner) {
      return "was a choose(" + std::to_string(step->ready) + ")";
    }
    return "was " + run.participants[step->owner] + "'s, one of " + std::to_string(step->ready) +
           " that could be taken";
  };
  return "step " + std::to_string(at - a.begin() + 1) + " " + told(first, at) +
         ", and in a repetition it " + told(second, other);
}

bool is_another_course(const failure& found) {
  try {
    std::rethrow_exception(found.exception);
  } catch (const error& told) {
    return told.code() == errc::schedule_diverged;
  } catch (...) {
    return false;
  }
}

/// One exploration under way.
class explorer {
 public:
  explorer(const simulation_options& options, const simulation::program& body)
      : options_(options),
        body_(body),
        watch_(options.heed_interrupt.value_or(options.progress != nullptr)),
        line_(options.progress) {}

  exploration explore() && {
    try_all();
    if (!over() && !result_.complete) draw();
    for (const auto& claim : made_) {
      const bool never = std::find(met_.begin(), met_.end(), claim) == met_.end();
      if (never && !over()) result_.never.push_back(claim);
    }
    return std::move(result_);
  }

 private:
  void try_all() {
    every_choice all;
    do {
      if (!holds_under(all)) return;
      result_.complete = !all.next();
      if (line_.due()) {
        const auto percent = static_cast<std::uint64_t>(100 * all.done());
        line_.show(result_.schedules, "about " + std::to_string(percent) + " % of all");
      }
    } while (!result_.complete && result_.schedules < options_.exhaustive);
  }

  void draw() {
    for (std::uint64_t i = 0; i < options_.samples; ++i) {
      if (!holds_under(*drawn_policy(options_.seed, i, length_))) return;
      if (line_.due()) {
        line_.show(result_.schedules,
                   with_commas(i + 1) + " of " + with_commas(options_.samples) + " drawn");
      }
    }
  }

  bool holds_under(choice_policy& policy) {
    ++result_.schedules;
    run_wishes wishes;
    wishes.journal = std::has_single_bit(result_.schedules);
    one_run run = run_once(options_, policy, body_, wishes);
    length_ = std::max(length_, run.steps);
    note(made_, run.sometimes);
    note(met_, run.sometimes_met);
    if (run.failure) {
      report(*std::move(run.failure));
    } else if (wishes.journal) {
      // The first one more often: a small program may have no other.
      const int times = result_.schedules == 1 ? 4 : 1;
      for (int i = 0; i < times && !result_.failure && !watch_.interrupted(); ++i) repeat(run);
    }
    if (watch_.interrupted()) result_.interrupted = true;
    return !over();
  }

  bool over() const noexcept { return result_.failure || result_.interrupted; }

  static void note(std::vector<std::string>& all, const std::vector<std::string>& some) {
    for (const auto& claim : some) {
      if (std::find(all.begin(), all.end(), claim) == all.end()) all.push_back(claim);
    }
  }

  /// Makes the same run again: what the world orders must be all there is.
  void repeat(const one_run& run) {
    const stirred_heap elsewhere(++stirs_);  // For what is ordered by addresses.
    given_choice again(run.taken, given_choice::fit::nearest);
    run_wishes wishes;
    wishes.journal = true;
    const one_run second = run_once(options_, again, body_, wishes);
    std::string how;
    if (run.journal != second.journal) {
      how = difference(run, second);
    } else if (second.failure) {
      how = "it held, and in a repetition it failed: " + second.failure->what;
    } else {
      return;
    }
    auto& failed = result_.failure.emplace();
    failed.exception = std::make_exception_ptr(error(
        errc::schedule_diverged, "the program took another course under the same schedule: " + how,
        "let nothing but the world order it: no pointers, clocks, threads, statics"));
    failed.what = describe(failed.exception);
    failed.schedule = to_string(run.taken);
    failed.steps = run.steps;
  }

  /// The search has met another course than before. At which step, a few repetitions may show.
  void report_another_course(failure found) {
    const schedule taken = parse_schedule(found.schedule);
    for (int i = 0; i < 4 && !result_.failure; ++i) {
      given_choice policy(taken, given_choice::fit::nearest);
      run_wishes wishes;
      wishes.journal = true;
      const one_run first = run_once(options_, policy, body_, wishes);
      if (!first.failure) repeat(first);
    }
    if (!result_.failure) result_.failure = std::move(found);
  }

  void report(failure found) {
    if (is_another_course(found)) {
      report_another_course(std::move(found));
      return;
    }
    if (!fails_again(found)) {
      found.what += "\n  Under the same schedule it did not fail again: the program is ordered by "
                    "something besides the world.";
      result_.failure = std::move(found);
      return;
    }
    if (options_.shrink) found = shrink(options_, body_, std::move(found), watch_);
    fails_again(found);
    result_.failure = std::move(found);
  }

  /// Runs it again, recorded: pictures cost nothing while all is well.
  bool fails_again(failure& found) {
    const stirred_heap elsewhere(++stirs_);
    given_choice again(parse_schedule(found.schedule), given_choice::fit::strict);
    run_wishes wishes;
    wishes.picture = true;
    one_run recorded = run_once(options_, again, body_, wishes);
    if (!recorded.failure || !same_failure(*recorded.failure, found)) return false;
    found.picture = std::move(recorded.failure->picture);
    return true;
  }

  simulation_options options_;
  const simulation::program& body_;
  exploration result_;
  interrupt_watch watch_;
  progress_line line_;
  std::uint64_t length_ = 0;  // Steps of the longest run so far.
  std::uint64_t stirs_ = 0;
  std::vector<std::string> made_;
  std::vector<std::string> met_;
};

}  // namespace

exploration explore(const simulation_options& options, const simulation::program& body) {
  return explorer(options, body).explore();
}

}  // namespace troupe::detail
