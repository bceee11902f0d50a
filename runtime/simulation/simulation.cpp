// simulation.cpp - which schedules are run, and what a failing one tells.

#include "troupe/runtime/simulation.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/simulation/one_run.hpp"
#include "runtime/simulation/policies.hpp"
#include "runtime/simulation/sim_engine.hpp"
#include "troupe/core/error.hpp"

namespace troupe {

namespace {

using detail::given_choice;
using detail::one_run;
using detail::run_once;

std::string program_name() {
  std::ifstream file("/proc/self/cmdline");
  std::string line((std::istreambuf_iterator<char>(file)), {});
  std::string command;
  for (const char c : line) command += c == '\0' ? ' ' : c;
  while (!command.empty() && command.back() == ' ') command.pop_back();
  return command.empty() ? "<the same program>" : command;
}

const char* environment(const simulation_options& options, const char* name) {
  const char* const given = options.heed_environment ? std::getenv(name) : nullptr;
  return given && *given ? given : nullptr;
}

void read_number(const simulation_options& options, const char* name, std::uint64_t& into) {
  const char* const given = environment(options, name);
  if (!given) return;
  char* end = nullptr;
  const auto number = std::strtoull(given, &end, 10);
  if (*end != '\0') {
    throw error(errc::invalid_schedule, std::string(name) + "=" + given + " is no number",
                "give a number, or leave the variable out");
  }
  into = number;
}

/// How the first step differs that a repetition took, as a sentence.
std::string difference(const one_run& first, const one_run& second) {
  const auto& a = first.journal;
  const auto& b = second.journal;
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto told = [](const one_run& run, auto step) {
    if (step == run.journal.end()) return std::string("had ended");
    if (step->owner == detail::step_record::no_owner) {
      return "was a choose(" + std::to_string(step->ready) + ")";
    }
    return "was " + run.participants[step->owner] + "'s, one of " + std::to_string(step->ready) +
           " that could be taken";
  };
  return "step " + std::to_string(at - a.begin() + 1) + " " + told(first, at) +
         ", and in a repetition it " + told(second, other);
}

/// One exploration under way.
class explorer {
 public:
  explorer(const simulation_options& options, const simulation::program& body)
      : options_(options), body_(body) {}

  exploration explore() && {
    read_number(options_, "TROUPE_SIM_SEED", options_.seed);
    read_number(options_, "TROUPE_SIM_SAMPLES", options_.samples);
    try_all();
    if (!result_.failure && !result_.complete) draw();
    for (const auto& claim : made_) {
      const bool never = std::find(met_.begin(), met_.end(), claim) == met_.end();
      if (never && !result_.failure) result_.never.push_back(claim);
    }
    return std::move(result_);
  }

 private:
  void try_all() {
    detail::every_choice all;
    do {
      if (!holds_under(all)) return;
      result_.complete = !all.next();
    } while (!result_.complete && result_.schedules < options_.exhaustive);
  }

  void draw() {
    for (std::uint64_t i = 0; i < options_.samples; ++i) {
      if (!holds_under(*detail::drawn_policy(options_.seed, i, length_))) return;
    }
  }

  bool holds_under(detail::choice_policy& policy) {
    ++result_.schedules;
    detail::run_wishes wishes;
    wishes.journal = std::has_single_bit(result_.schedules);
    one_run run = run_once(options_, policy, body_, wishes);
    length_ = std::max(length_, run.steps);
    note(made_, run.sometimes);
    note(met_, run.sometimes_met);
    if (run.failure) {
      report(*std::move(run.failure));
    } else if (wishes.journal) {
      repeat(run);
    }
    return !result_.failure;
  }

  static void note(std::vector<std::string>& all, const std::vector<std::string>& some) {
    for (const auto& claim : some) {
      if (std::find(all.begin(), all.end(), claim) == all.end()) all.push_back(claim);
    }
  }

  /// Makes the same run again: what the world orders must be all there is.
  void repeat(const one_run& run) {
    // Elsewhere in memory, for what is ordered by addresses.
    const std::unique_ptr<char[]> padding(new char[(1 + result_.schedules % 7) * 4096]);
    given_choice again(run.taken, given_choice::fit::nearest);
    detail::run_wishes wishes;
    wishes.journal = true;
    const one_run second = run_once(options_, again, body_, wishes);
    if (run.journal == second.journal && !second.failure) return;
    auto& failed = result_.failure.emplace();
    const std::string how = run.journal == second.journal
                                ? "it held, and in a repetition it failed: " + second.failure->what
                                : difference(run, second);
    failed.exception = std::make_exception_ptr(error(
        errc::schedule_diverged, "the program took another course under the same schedule: " + how,
        "let nothing but the world order it: no pointers, clocks, threads, statics"));
    failed.what = describe(failed.exception);
    failed.schedule = to_string(run.taken);
    failed.steps = run.steps;
  }

  void report(failure found) {
    if (!fails_again(found)) {
      found.what += "\n  Under the same schedule it did not fail again: the program is ordered by "
                    "something besides the world.";
      result_.failure = std::move(found);
      return;
    }
    if (options_.shrink) found = detail::shrink(options_, body_, std::move(found));
    fails_again(found);
    result_.failure = std::move(found);
  }

  /// Runs it again, recorded: pictures cost nothing while all is well.
  bool fails_again(failure& found) {
    given_choice again(parse_schedule(found.schedule), given_choice::fit::strict);
    detail::run_wishes wishes;
    wishes.picture = true;
    one_run recorded = run_once(options_, again, body_, wishes);
    if (!recorded.failure || !detail::same_failure(*recorded.failure, found)) return false;
    found.picture = std::move(recorded.failure->picture);
    return true;
  }

  simulation_options options_;
  const simulation::program& body_;
  exploration result_;
  std::uint64_t length_ = 0;  // Steps of the longest run so far.
  std::vector<std::string> made_;
  std::vector<std::string> met_;
};

}  // namespace

world::world(std::shared_ptr<detail::sim_engine> engine)
    : engine_(std::move(engine)), runtime_(engine_) {}
world::~world() = default;

std::uint32_t world::choose(std::uint32_t n) { return engine_->choose(n); }

std::chrono::nanoseconds world::now() const noexcept {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(engine_->now()));
}

void world::check(bool holds, std::string_view claim, place at) {
  if (!holds) throw check_failed(claim, at);
}

void world::always(std::string_view claim, std::function<bool()> holds, place at) {
  engine_->claims().always(std::string(claim), std::move(holds), at);
}
void world::eventually(std::string_view claim, std::function<bool()> holds, place at) {
  engine_->claims().eventually(std::string(claim), std::move(holds), at);
}
void world::sometimes(std::string_view claim, bool happened) {
  engine_->claims().sometimes(std::string(claim), happened);
}

check_failed::check_failed(std::string_view claim, place at)
    : text_(std::string("does not hold: ") + std::string(claim) + " (" + to_string(at) + ")"),
      at_(at) {}

exploration simulation::explore(const program& body) const {
  if (const char* given = environment(options_, "TROUPE_SIM_SCHEDULE")) {
    const char* const how = environment(options_, "TROUPE_SIM_REPLAY");
    return how && std::string_view(how) == "nearest" ? replay_nearest(body, given)
                                                     : replay(body, given);
  }
  return explorer(options_, body).explore();
}

exploration simulation::replay(const program& body, std::string_view text) const {
  given_choice policy(parse_schedule(text), given_choice::fit::strict);
  detail::run_wishes wishes;
  wishes.picture = true;
  wishes.check = [&] { policy.require_used_up(); };
  exploration result;
  result.schedules = 1;
  result.replayed = true;
  result.failure = run_once(options_, policy, body, wishes).failure;
  return result;
}

exploration simulation::replay_nearest(const program& body, std::string_view text) const {
  given_choice policy(parse_schedule(text), given_choice::fit::nearest);
  detail::run_wishes wishes;
  wishes.picture = true;
  exploration result;
  result.schedules = 1;
  result.replayed = true;
  result.failure = run_once(options_, policy, body, wishes).failure;
  result.left_out = policy.left_out();
  return result;
}

std::string exploration::text() const {
  const std::string left = left_out == 0 ? ""
                                         : "; " + std::to_string(left_out) +
                                               " of its entries did not fit and were left out";
  if (!failure) {
    if (!never.empty()) {
      std::string text = "never met under " + std::to_string(schedules) + " schedules:";
      for (const auto& claim : never) text += "\n  sometimes: " + claim;
      return text;
    }
    if (replayed) return "replayed: holds under the given schedule" + left;
    return complete ? "proved: holds under all " + std::to_string(schedules) + " schedules"
                    : "holds under " + std::to_string(schedules) + " schedules; there are more";
  }
  std::string text = replayed ? "fails under the given schedule" + left
                              : "fails under schedule " + std::to_string(schedules);
  text += ", after " + std::to_string(failure->steps) + " steps:\n" + failure->what + "\n";
  if (!failure->picture.empty()) text += failure->picture;
  text += "schedule: " + failure->schedule;
  const auto now = parse_schedule(failure->schedule).deviations.size();
  if (failure->deviations_found > now) {
    text += "\nshrunk:   from " + std::to_string(failure->deviations_found) + " deviations to " +
            std::to_string(now) + " in " + std::to_string(failure->replays) + " replays";
  }
  text += "\nreplay:   TROUPE_SIM_SCHEDULE=" + failure->schedule + " " + program_name() + "\n";
  return text;
}

}  // namespace troupe
