// simulation.cpp - what a program and its author see of a simulation.

#include "troupe/runtime/simulation.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "runtime/core/wording.hpp"
#include "runtime/simulation/exploration/explorer.hpp"
#include "runtime/simulation/exploration/swapped_letters.hpp"
#include "runtime/simulation/one_run.hpp"
#include "runtime/simulation/policies.hpp"
#include "runtime/simulation/sim_engine.hpp"
#include "troupe/core/error.hpp"

namespace troupe {

namespace {

using detail::count_of;
using detail::given_choice;

/// As a shell must be given it.
std::string quoted(const std::string& word) {
  constexpr std::string_view plain =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.:-/=+,@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// How this program was called, with other arguments if there are any.
std::string command(std::optional<std::string_view> arguments) {
  std::ifstream file("/proc/self/cmdline");
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) {
    text += (text.empty() ? "" : " ") + quoted(word);
    if (arguments) break;
  }
  if (text.empty()) text = "<the same program>";
  if (arguments && !arguments->empty()) text += " " + std::string(*arguments);
  return text;
}

const char* environment(const simulation_options& options, const char* name) {
  const char* const given = options.heed_environment ? std::getenv(name) : nullptr;
  return given && *given ? given : nullptr;
}

/// \return what the variable says, or `otherwise`. \throws errc::invalid_schedule
std::uint64_t number(const simulation_options& options, const char* name, std::uint64_t otherwise) {
  const char* const given = environment(options, name);
  if (!given) return otherwise;
  const std::string_view text(given);
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw error(errc::invalid_schedule, std::string(name) + "=" + given + " is no number",
                "give a number below 2^64, or leave the variable out");
  }
  return value;
}

/// Whether a given schedule is replayed as far as it fits. \throws errc::invalid_schedule
bool nearest_wanted(const simulation_options& options) {
  const char* const given = environment(options, "TROUPE_SIM_REPLAY");
  if (!given || std::string_view(given) == "strict") return false;
  if (std::string_view(given) == "nearest") return true;
  throw error(errc::invalid_schedule, std::string("TROUPE_SIM_REPLAY=") + given + " is no way",
              "write strict or nearest, or leave the variable out");
}

exploration replay_given(const simulation_options& options, const simulation::program& body,
                         std::string_view text, given_choice::fit how) {
  const schedule given = parse_schedule(text);
  given_choice policy(given, how);
  detail::run_wishes wishes;
  wishes.picture = true;
  if (how == given_choice::fit::strict) wishes.check = [&] { policy.require_used_up(); };
  exploration result;
  result.schedules = 1;
  result.replayed = true;
  detail::one_run run = detail::run_and_swap(options, policy, body, wishes);
  result.failure = std::move(run.failure);
  result.program_changed = given.program != 0 && given.program != run.taken.program;
  result.left_out = policy.left_out();
  return result;
}

/// "0.4 ms".
std::string text_of(std::chrono::nanoseconds taken) {
  const double ms = static_cast<double>(taken.count()) / 1e6;
  char text[32];
  std::snprintf(text, sizeof text,
                ms < 10       ? "%.1f ms"
                : ms < 10'000 ? "%.0f ms"
                              : "%.0f s",
                ms < 10'000 ? ms : ms / 1000);
  return text;
}

/// "5,400", or "4.5e+35" when nobody wants to read all the digits.
std::string text_of_count(double count) {
  if (count < 1e15) return detail::with_commas(static_cast<std::uint64_t>(count));
  char text[32];
  std::snprintf(text, sizeof text, "%.1e", count);
  return text;
}

std::string proof_of(const exploration& all) {
  const std::string time = ", " + text_of(all.taken);
  const std::string sequences = text_of_count(all.sequences);
  const bool only_one = all.sequences == 1;
  if (all.orders == 0) {
    return "proved: holds under " +
           (only_one ? "its only schedule" : "all " + sequences + " schedules") + time;
  }
  std::string text =
      "proved: " + detail::with_commas(all.orders) + " of " + count_of(all.orders, "partial order");
  if (all.sequences > 0) {
    text += " (" + sequences + (only_one ? " interleaving" : " interleavings");
    if (all.every_sequence) text += only_one ? ", which was run" : ", each was run";
    text += ")";
  }
  return text + ", " + detail::with_commas(all.redundant) + " redundant" + time;
}

std::string why_text(std::uint64_t unavoidable, const std::string& by) {
  if (unavoidable == 0) return "unavoidable from the beginning";
  return "before * some ways on hold, after it none does (" + by + ")";
}

std::string sample_of(const exploration& some) {
  std::string text = "holds under " + count_of(some.schedules, "schedule");
  if (some.orders == 0) return text + "; there are more";
  text += " of " + count_of(some.orders, "partial order") + "; there are more";
  if (!some.unseen) return text;
  char part[64];
  std::snprintf(part, sizeof part, ": about %.2g %% of what is drawn is new", 100 * *some.unseen);
  return text + part;
}

}  // namespace

world::world(std::shared_ptr<detail::sim_engine> engine)
    : engine_(std::move(engine)), runtime_(engine_) {}
world::~world() = default;

std::uint32_t world::choose(std::uint32_t n) { return engine_->choose(n); }

void world::faults(const fault_budget& budget) { engine_->allow_faults(budget); }
void world::heal(std::uint64_t steps) { engine_->heal(steps); }

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
    return nearest_wanted(options_) ? replay_nearest(body, given) : replay(body, given);
  }
  simulation_options wanted = options_;
  wanted.seed = number(options_, "TROUPE_SIM_SEED", options_.seed);
  wanted.samples = number(options_, "TROUPE_SIM_SAMPLES", options_.samples);
  wanted.jobs = static_cast<unsigned>(
      std::clamp<std::uint64_t>(number(options_, "TROUPE_SIM_JOBS", options_.jobs), 1, 256));
  return detail::explore(wanted, body);
}

exploration simulation::replay(const program& body, std::string_view text) const {
  return replay_given(options_, body, text, given_choice::fit::strict);
}

exploration simulation::replay_nearest(const program& body, std::string_view text) const {
  return replay_given(options_, body, text, given_choice::fit::nearest);
}

std::string exploration::replay_command(std::optional<std::string_view> arguments) const {
  if (!failure) return "";
  return "TROUPE_SIM_SCHEDULE=" + failure->schedule + " " + command(arguments);
}

std::string exploration::text(std::optional<std::string_view> arguments) const {
  std::string left;
  if (left_out > 0) {
    left = "; " + std::to_string(left_out) + " of its entries did not fit and " +
           (left_out == 1 ? "was" : "were") + " left out";
  }
  if (program_changed) left += "; the program has changed since: its participants are others";
  if (!failure) {
    if (!never.empty()) {
      std::string text = "never met under " + count_of(schedules, "schedule") + ":";
      for (const auto& claim : never) text += "\n  sometimes: " + claim;
      return text;
    }
    if (interrupted) {
      return "interrupted: holds under the " + count_of(schedules, "schedule") +
             " tried; there are more" +
             (saved       ? ", and the next time it goes on"
              : not_saved ? ", and the search could not be written to its file"
                          : "");
    }
    if (replayed) return "replayed: holds under the given schedule" + left;
    return complete ? proof_of(*this) : sample_of(*this);
  }
  std::string text = replayed ? "fails under the given schedule" + left
                              : "fails under schedule " + std::to_string(schedules);
  text += ", after " + count_of(failure->steps, "step") + ":\n" + failure->what + "\n";
  if (!failure->picture.empty()) text += failure->picture;
  text += "schedule: " + failure->schedule;
  const auto now = parse_schedule(failure->schedule).deviations.size();
  if (failure->deviations_found > now) {
    text += "\nshrunk:   from " + count_of(failure->deviations_found, "deviation") + " to " +
            std::to_string(now) + " in " + count_of(failure->replays, "replay");
  }
  if (failure->unavoidable) {
    text += "\nwhy:      " + why_text(*failure->unavoidable, failure->unavoidable_by);
  }
  if (failure->same_order_held) {
    text +=
        "\nnote:     another schedule in which the same steps depend on each other held: replicas "
        "or "
        "actors\n          share something that the world does not see; put it into sim::shared";
  }
  if (interrupted) text += "\ninterrupted: there may be a smaller one";
  text += "\nreplay:   " + replay_command(arguments) + "\n";
  return text;
}

}  // namespace troupe
