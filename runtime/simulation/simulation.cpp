// simulation.cpp - which schedules are run, and what a failing one tells.

#include "troupe/runtime/simulation.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "runtime/simulation/sim_engine.hpp"
#include "troupe/core/error.hpp"

namespace troupe {

namespace {

using detail::choice_point;
using detail::choice_policy;

/// Every schedule, in lexicographic order: an odometer over the choices of one run.
class every_choice final : public choice_policy {
 public:
  std::size_t choose(const choice_point& point) override {
    if (depth_ == digits_.size()) digits_.push_back({0, point.count, point.usual});
    const auto& d = digits_[depth_++];
    // A run that differs under the same choices is not controlled by them.
    if (d.count != point.count || d.usual != point.usual) {
      throw error(errc::schedule_diverged,
                  "the program took another course under the same schedule",
                  "let nothing but the world order it: no pointers, clocks, threads, statics");
    }
    return (d.value + d.usual) % d.count;  // The default order comes first.
  }

  /// Advances to the next schedule; false when there is none.
  bool next() {
    digits_.resize(depth_);
    depth_ = 0;
    while (!digits_.empty() && digits_.back().value + 1 == digits_.back().count) digits_.pop_back();
    if (digits_.empty()) return false;
    ++digits_.back().value;
    return true;
  }

 private:
  struct digit {
    std::size_t value, count, usual;
  };
  std::vector<digit> digits_;
  std::size_t depth_ = 0;
};

/// Uniform choices from a seed; splitmix64, so that a seed means the same everywhere.
class random_choice final : public choice_policy {
 public:
  explicit random_choice(std::uint64_t seed) : state_(seed) {}

  std::size_t choose(const choice_point& point) override {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>((z ^ (z >> 31)) % point.count);
  }

 private:
  std::uint64_t state_;
};

/// The default order, except where the schedule says otherwise.
class replayed_choice final : public choice_policy {
 public:
  explicit replayed_choice(schedule s) : schedule_(std::move(s)) {}

  std::size_t choose(const choice_point& point) override {
    if (at_ == schedule_.deviations.size()) return point.usual;
    const auto& wanted = schedule_.deviations[at_];
    if (wanted.after != point.here.after || wanted.own_step != point.here.own_step) {
      return point.usual;
    }
    for (std::size_t i = 0; i < point.count; ++i) {
      if (point.name(i) == wanted) {
        ++at_;
        return i;
      }
    }
    diverged("party " + std::to_string(wanted.then) + " should step next, but it cannot");
  }

  /// \throws unless every deviation was met.
  void require_used_up() const {
    if (at_ != schedule_.deviations.size()) diverged("the run never came to that point");
  }

 private:
  [[noreturn]] void diverged(const std::string& why) const {
    throw error(errc::schedule_diverged,
                "the schedule does not fit this program: at its entry " + std::to_string(at_ + 1) +
                    " of " + std::to_string(schedule_.deviations.size()) + ", " + why,
                "the program has changed since, or it is another one");
  }

  schedule schedule_;
  std::size_t at_ = 0;
};

std::string program_name() {
  std::ifstream file("/proc/self/cmdline");
  std::string line((std::istreambuf_iterator<char>(file)), {});
  std::string command;
  for (const char c : line) command += c == '\0' ? ' ' : c;
  while (!command.empty() && command.back() == ' ') command.pop_back();
  return command.empty() ? "<the same program>" : command;
}

template <class Check>
std::optional<failure> run_once(const simulation_options& options, choice_policy& policy,
                                const simulation::program& body, bool picture, Check&& check) {
  const auto engine = std::make_shared<detail::sim_engine>(options, policy);
  // All lines write one ring: virtual time stands still, and would not order several.
  const auto clock = [](const void* source) noexcept {
    return static_cast<const detail::sim_engine*>(source)->now();
  };
  tracer ring(picture ? 4096 : 1, clock, engine.get());
  for (std::size_t i = 0; picture && i < engine->lines(); ++i) engine->line(i).trace_to(&ring);
  std::optional<failure> failed;
  try {
    engine->run(body);
    check();
  } catch (...) {
    failed.emplace();
    failed->exception = std::current_exception();
    failed->what = describe(failed->exception);
    failed->schedule = to_string(engine->taken());
    failed->steps = engine->steps();
  }
  if (failed && picture) {
    std::ostringstream out;
    write_trace(out, {ring.events(), engine->participants(), ring.lost()});
    failed->picture = out.str();
  }
  // Whoever holds on to the world finds nobody listening.
  for (std::size_t i = 0; i < engine->lines(); ++i) engine->line(i).trace_to(nullptr);
  return failed;
}

/// The same run again, recorded: pictures cost nothing while all is well.
failure with_picture(const simulation_options& options, const simulation::program& body,
                     failure found) {
  replayed_choice again(parse_schedule(found.schedule));
  auto recorded = run_once(options, again, body, true, [] {});
  if (recorded && recorded->what == found.what) found.picture = std::move(recorded->picture);
  return found;
}

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

check_failed::check_failed(std::string_view claim, place at)
    : text_(std::string("does not hold: ") + std::string(claim) + " (" + to_string(at) + ")"),
      at_(at) {}

exploration simulation::explore(const program& body) const {
  if (const char* given = std::getenv("TROUPE_SIM_SCHEDULE");
      given && *given && options_.heed_environment) {
    return replay(body, given);
  }
  exploration result;
  every_choice all;
  do {
    ++result.schedules;
    if (auto failed = run_once(options_, all, body, false, [] {})) {
      result.failure = with_picture(options_, body, *std::move(failed));
      return result;
    }
    result.complete = !all.next();
  } while (!result.complete && result.schedules < options_.exhaustive);
  if (result.complete) return result;
  for (std::uint64_t i = 0; i < options_.samples; ++i) {
    ++result.schedules;
    random_choice random(options_.seed * 0x2545f4914f6cdd1du + i);
    if (auto failed = run_once(options_, random, body, false, [] {})) {
      result.failure = with_picture(options_, body, *std::move(failed));
      return result;
    }
  }
  return result;
}

exploration simulation::replay(const program& body, std::string_view text) const {
  replayed_choice policy(parse_schedule(text));
  exploration result;
  result.schedules = 1;
  result.replayed = true;
  result.failure = run_once(options_, policy, body, true, [&] { policy.require_used_up(); });
  return result;
}

std::string exploration::text() const {
  if (!failure) {
    if (replayed) return "replayed: holds under the given schedule";
    return complete ? "proved: holds under all " + std::to_string(schedules) + " schedules"
                    : "holds under " + std::to_string(schedules) + " schedules; there are more";
  }
  std::string text = replayed ? "fails under the given schedule"
                              : "fails under schedule " + std::to_string(schedules);
  text += ", after " + std::to_string(failure->steps) + " steps:\n" + failure->what + "\n";
  if (!failure->picture.empty()) text += failure->picture;
  text += "schedule: " + failure->schedule +
          "\nreplay:   TROUPE_SIM_SCHEDULE=" + failure->schedule + " " + program_name() + "\n";
  return text;
}

}  // namespace troupe
