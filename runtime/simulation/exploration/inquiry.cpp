// inquiry.cpp - see inquiry.hpp.

#include "runtime/simulation/exploration/inquiry.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "runtime/simulation/exploration/stirred_heap.hpp"
#include "runtime/simulation/exploration/swapped_letters.hpp"
#include "runtime/simulation/policies.hpp"
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
    const std::string among =
        step->ready == 1 ? "the only one" : "one of " + std::to_string(step->ready);
    return "was " + run.participants[step->owner] + "'s, " + among + " that could be taken";
  };
  return "step " + std::to_string(at - a.begin() + 1) + " " + told(first, at) +
         ", and in a repetition it " + told(second, other);
}

}  // namespace

std::optional<failure> inquiry::repeat(const one_run& run, int times) {
  std::optional<failure> differs;
  for (int i = 0; i < times && !differs && !watch_.interrupted(); ++i) differs = repeat(run);
  return differs;
}

std::optional<failure> inquiry::repeat(const one_run& run) {
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
    return {};
  }
  failure failed;
  failed.exception = std::make_exception_ptr(error(
      errc::schedule_diverged, "the program took another course under the same schedule: " + how,
      "let nothing but the world order it: no pointers, clocks, threads, statics"));
  failed.what = describe(failed.exception);
  failed.schedule = to_string(run.taken);
  failed.steps = run.steps;
  return failed;
}

/// The search has met another course than before. At which step, a few repetitions may show.
failure inquiry::another_course(failure found) {
  const schedule taken = parse_schedule(found.schedule);
  for (int i = 0; i < 4; ++i) {
    given_choice policy(taken, given_choice::fit::nearest);
    run_wishes wishes;
    wishes.journal = true;
    const one_run first = run_once(options_, policy, body_, wishes);
    if (first.failure) continue;
    if (auto differs = repeat(first)) return *std::move(differs);
  }
  return found;
}

failure inquiry::told(failure found) {
  if (is_a(found, errc::schedule_diverged)) return another_course(std::move(found));
  if (!fails_again(found)) {
    found.what +=
        "\n  Under the same schedule it did not fail again: it keeps something from run to "
        "run, such as a static, or something besides the world orders it.";
    return found;
  }
  if (options_.shrink) found = shrink(options_, body_, std::move(found), watch_);
  // What never ends takes too long to be drawn often.
  const bool explained = !is_not_commutative(found) && !is_a(found, errc::too_long);
  if (options_.why && explained) explain(options_, body_, found, watch_);
  fails_again(found);
  return found;
}

/// Runs it again, recorded: pictures cost nothing while all is well.
bool inquiry::fails_again(failure& found) {
  const stirred_heap elsewhere(++stirs_);
  given_choice again(parse_schedule(found.schedule), given_choice::fit::strict);
  run_wishes wishes;
  wishes.picture = true;
  wishes.mark = found.unavoidable.value_or(0);
  one_run recorded = is_not_commutative(found) ? run_and_swap(options_, again, body_, wishes)
                                               : run_once(options_, again, body_, wishes);
  if (!recorded.failure || !same_failure(*recorded.failure, found)) return false;
  found.picture = std::move(recorded.failure->picture);
  return true;
}

}  // namespace troupe::detail
