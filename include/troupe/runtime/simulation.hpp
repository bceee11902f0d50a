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
//   repeated       the first run, every 2, 4, 8, … and a failing one are made again, elsewhere
//                  in memory; a program that takes another course then is reported, with the
//                  step at which it does;
//   small          a failing schedule has no single deviation to spare;
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
#include <vector>

#include "troupe/core/place.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/faults.hpp"
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

  /// What may go wrong from here on, in place of what was said before.
  void faults(const fault_budget& budget);

  /// Nothing goes wrong any more, and what was late comes now. Fails the run if it takes more
  /// than `steps` from here.
  void heal(std::uint64_t steps = 10'000);

  /// Virtual time since the world began.
  std::chrono::nanoseconds now() const noexcept;

  /// Fails the run, naming this line, unless `holds`.
  void check(bool holds, std::string_view claim, place at = place::current());

  /// Fails the run as soon as `holds()` is false between two steps, from now until the program
  /// returns. What it looks at lives that long, in the program's own function for instance.
  void always(std::string_view claim, std::function<bool()> holds, place at = place::current());

  /// Fails the run at its end unless `holds()` was true between two of its steps.
  void eventually(std::string_view claim, std::function<bool()> holds, place at = place::current());

  /// Fails the exploration at its end if this was true under no schedule: what it was to show
  /// was never reached.
  void sometimes(std::string_view claim, bool happened = true);

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

/// How schedules are drawn.
enum class drawing : std::uint8_t {
  portfolio,    ///< In all these ways, one after the other: none of them finds everything.
  uniform,      ///< Whoever can step next is as likely as all others.
  priorities,   ///< Whoever comes first in a drawn order goes on; at up to two steps that one
                ///< becomes the last of all (PCT of depth 1, 2 and 3).
  starvation,   ///< Somebody moves only when nobody else can.
  round_robin,  ///< All in turn, each for a drawn number of steps.
};

struct simulation_options {
  /// One schedule of each partial order of the steps is tried, because others differ in nothing
  /// the program could notice. False: they are not told apart.
  bool partial_orders = true;
  /// When every partial order has been tried, their other schedules are tried as well, all or
  /// drawn ones: they show what is shared without the world's knowledge.
  bool check_sequences = true;
  /// Everything is tried while there is at most this much of it …
  std::uint64_t exhaustive = 20'000;
  /// … and otherwise this many drawn schedules, …
  std::uint64_t samples = 1'000;
  /// … drawn like this …
  drawing draw = drawing::portfolio;
  /// … from this seed.
  std::uint64_t seed = 1;
  /// A run that takes more steps fails with errc::too_long; so does one in which Asio's handlers
  /// and timers go on as often, or 10,000 times if that is more, and nobody takes a step.
  std::uint64_t max_steps = 1'000'000;
  /// So many times in a run a timer may end though something can run: the machine was slow.
  unsigned early_timeouts = 0;
  /// Lines of execution: replicas and actors are dealt out to them, as on a pool.
  std::size_t lines = 2;
  /// Makes a failing schedule as small as it gets before it is reported.
  bool shrink = true;
  /// Finds the step after which a failure could not be avoided any more.
  bool why = true;
  /// Reads TROUPE_SIM_SCHEDULE; if it is set, replays that schedule instead of exploring, with
  /// TROUPE_SIM_REPLAY=nearest as far as it fits. TROUPE_SIM_SEED and TROUPE_SIM_SAMPLES take the
  /// place of `seed` and `samples`.
  bool heed_environment = true;
  /// Where a line is rewritten twice a second once an exploration has lasted for one: schedules so
  /// far, how many a second, about how much of all that is. Null: nowhere.
  std::ostream* progress = terminal();
  /// Whether Ctrl-C ends an exploration after the run under way, with what is known by then; a
  /// second one ends the process. Without a value: if progress is shown.
  std::optional<bool> heed_interrupt = {};
  /// A file: an interrupted search for partial orders is written there, and goes on from there the
  /// next time. Empty: it begins anew.
  std::string frontier = {};
  /// Schedules are drawn, and partial orders searched for, on so many threads: the program then
  /// runs on several at once, each time in a world of its own, and must not share anything between
  /// worlds. The orders found are those of one thread; of several that fail, the one is reported
  /// that is met first. TROUPE_SIM_JOBS takes its place.
  unsigned jobs = 1;

  /// Standard error if it is a terminal, or else null.
  static std::ostream* terminal();
};

/// How a run failed.
struct failure {
  std::exception_ptr exception;
  std::string what;
  std::string schedule;  ///< For TROUPE_SIM_SCHEDULE and simulation::replay().
  std::string picture;   ///< The run as a table: a line an event, a column a party.
  std::uint64_t steps = 0;
  std::size_t deviations_found = 0;  ///< Of the schedule it was found under, before …
  std::uint64_t replays = 0;         ///< … so many replays made it smaller.
  /// After this many of its steps every way on that was drawn failed alike; none if the search for
  /// it took too long.
  std::optional<std::uint64_t> unavoidable;
  std::string unavoidable_by;  ///< Whose step that was.
  /// Every partial order of steps had held, each under another schedule.
  bool same_order_held = false;
};

struct exploration {
  std::uint64_t schedules = 0;   ///< Runs made.
  bool complete = false;         ///< There is nothing that was not tried.
  bool every_sequence = false;   ///< Every single schedule was, not only every partial order.
  std::uint64_t orders = 0;      ///< Partial orders among them; 0 if those tell nothing.
  std::uint64_t redundant = 0;   ///< Runs that turned out to have the order of another one: with
                                 ///< several jobs perhaps more, and not always as many.
  double sequences = 0;          ///< Schedules with these orders; 0 if that is not known.
  std::optional<double> unseen;  ///< Of drawn schedules, about what part has an order not seen yet.
  std::uint64_t steps = 0;       ///< Of all these runs together.
  std::uint64_t trace = 0;       ///< Of all steps of the runs that looked for orders, a number that
                                 ///< is the same in every build; another one with several jobs.
  std::chrono::nanoseconds taken{0};
  bool interrupted = false;      ///< By Ctrl-C: there may be more to know …
  bool saved = false;            ///< … and the next exploration goes on with it, …
  bool not_saved = false;        ///< … or should, but its file could not be written.
  bool replayed = false;         ///< One given schedule was run, nothing explored.
  std::size_t left_out = 0;      ///< Of a given schedule, what did not fit and was left out.
  bool program_changed = false;  ///< The given schedule is one of other participants.
  std::optional<troupe::failure> failure;
  std::vector<std::string> never;  ///< Claims of world::sometimes() that nothing has met.

  bool passed() const noexcept { return !failure && never.empty() && !interrupted; }

  /// The result in prose; for a failure with its schedule, the picture and the command that
  /// replays it. \param arguments Of that command; without, those this program was given.
  std::string text(std::optional<std::string_view> arguments = {}) const;

  /// The command alone; empty if nothing has failed.
  std::string replay_command(std::optional<std::string_view> arguments = {}) const;
};

class simulation {
 public:
  using program = std::function<task<>(world&)>;

  explicit simulation(simulation_options options = simulation_options()) : options_(options) {}

  /// \throws nothing of the program's: that is in the report.
  exploration explore(const program& body) const;

  /// Runs exactly this schedule; the report tells whether it failed, and how.
  /// \throws errc::invalid_schedule if `text` cannot be read. A schedule that does not fit
  ///         the program is a failed run with errc::schedule_diverged.
  exploration replay(const program& body, std::string_view text) const;

  /// The same as far as it fits: what does not is left out, and counted in the report.
  exploration replay_nearest(const program& body, std::string_view text) const;

 private:
  simulation_options options_;
};

}  // namespace troupe
