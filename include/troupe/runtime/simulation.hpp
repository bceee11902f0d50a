// simulation.hpp - the same program under every interleaving, on one thread.
//
//     simulation sim;
//     auto report = sim.explore([](world& w) -> task<> {
//       mirrored_strategy strategy{w.runtime(), 3};
//       auto r = co_await strategy.run(step, 3);
//       w.check(r[0] == 15, "replica 0 gets 15");
//     });
//     if (!report.passed()) std::cerr << report.text();
//
// The program runs once for each schedule, in a fresh world. Small programs run under
// every schedule; larger ones under a number of seeded random ones. The first failure
// ends the exploration: an exception out of the program, a check that does not hold, a
// deadlock, too many steps. Its report holds the schedule as a string and the command
// that replays it.
//
// Guarantees
//   controlled     every step of every actor, replica and barrier is a choice;
//                  time is virtual and moves only when nothing can run;
//   exact          the same schedule gives the same run, in any build;
//   verdict        when nothing can run and somebody waits, the run fails at once, with
//                  a line for each waiting coroutine: who, for what, file and line.
//
// The program's own threads, clocks, random numbers and pointers order nothing here: use
// the world's. Memory that two actors share is invisible to the schedule.

#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "troupe/core/place.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/runtime.hpp"

namespace troupe {

namespace detail {
class sim_engine;
}

/// What a simulated program sees of its world.
class world {
 public:
  explicit world(std::shared_ptr<detail::sim_engine> engine);
  ~world();

  /// The runtime on which strategies and actors of this world live.
  troupe::runtime& runtime() noexcept { return runtime_; }

  /// One of 0 … n - 1; exploration tries all of them. \pre n > 0, else throws.
  std::uint32_t choose(std::uint32_t n);

  /// Virtual time since the world began.
  std::chrono::nanoseconds now() const noexcept;

  /// Fails the run, naming this line, unless `holds`.
  void check(bool holds, std::string_view claim, place at = place::current());

 private:
  std::shared_ptr<detail::sim_engine> engine_;
  troupe::runtime runtime_;
};

/// What a world's check() throws.
class check_failed : public std::exception {
 public:
  check_failed(std::string_view claim, place at);
  const char* what() const noexcept override { return text_.c_str(); }
  const place& at() const noexcept { return at_; }

 private:
  std::string text_;
  place at_;
};

struct simulation_options {
  /// Every schedule is tried while there are at most this many …
  std::uint64_t exhaustive = 20'000;
  /// … and otherwise this many random ones, …
  std::uint64_t samples = 1'000;
  /// … drawn from this seed.
  std::uint64_t seed = 1;
  /// A run that takes more steps fails with errc::too_long.
  std::uint64_t max_steps = 1'000'000;
  /// Lines of execution: replicas and actors are dealt out to them, as on a pool.
  std::size_t lines = 2;
  /// Reads TROUPE_SIM_SCHEDULE; if it is set, replays that schedule instead of exploring.
  bool heed_environment = true;
};

/// How a run failed.
struct failure {
  std::exception_ptr exception;
  std::string what;
  std::string schedule;  ///< For TROUPE_SIM_SCHEDULE and simulation::replay().
  std::string picture;   ///< The run as a table: a line an event, a column a party.
  std::uint64_t steps = 0;
};

struct exploration {
  std::uint64_t schedules = 0;  ///< Runs made.
  bool complete = false;        ///< Those were all there are.
  bool replayed = false;        ///< One given schedule was run, nothing explored.
  std::optional<troupe::failure> failure;

  bool passed() const noexcept { return !failure; }

  /// The result in prose; for a failure with its schedule, the command that replays it
  /// and the picture.
  std::string text() const;
};

class simulation {
 public:
  using program = std::function<task<>(world&)>;

  explicit simulation(simulation_options options = {}) : options_(options) {}

  /// \throws nothing of the program's: that is in the report.
  exploration explore(const program& body) const;

  /// Runs exactly this schedule; the report tells whether it failed, and how.
  /// \throws errc::invalid_schedule if `text` cannot be read. A schedule that does not fit
  ///         the program is a failed run with errc::schedule_diverged.
  exploration replay(const program& body, std::string_view text) const;

 private:
  simulation_options options_;
};

}  // namespace troupe
