// TR-401 and following: schedules, and programs that do not end.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/catalogue/example.hpp"

namespace troupe::test {
namespace {

task<> does_nothing(world&) { co_return; }

std::exception_ptr replayed(const simulation::program& body, const std::string& schedule) {
  return thrown_by([&] {
    const exploration report = simulation().replay(body, schedule);
    if (report.failure) std::rethrow_exception(report.failure->exception);
  });
}

TEST_CASE("TR-401 invalid_schedule: a string that was cut off") {
  show(raised({.code = errc::invalid_schedule,
               .what = "'tr1:Gfwv:ahg2F' is not a schedule: it has no checksum after a '-'",
               .fix = "copy the whole string that the failing run printed, from 'tr1:' to its end"},
              replayed(does_nothing, "tr1:Gfwv:ahg2F")));
}

TEST_CASE("TR-402 schedule_diverged: the schedule is another program's") {
  // Recorded from a program of three replicas that merge.
  show(raised(
      {.code = errc::schedule_diverged,
       .what = "the schedule does not fit this program: at its entry 1 of 3, the run never "
               "came to that point",
       .fix = "the program has changed since, or it is another one; TROUPE_SIM_REPLAY=nearest "
              "leaves out what does not fit"},
      replayed(does_nothing, "tr1:Gfwv:ahg2F4gk-mp")));
}

TEST_CASE("TR-402 schedule_diverged: something orders the program that the world does not know") {
  int runs = 0;
  const failure found = failure_of([&runs](world& w) -> task<> {
    return [](world* in, int replicas) -> task<> {
      mirrored_strategy strategy(in->runtime(), replicas);
      co_await strategy.run([] {});
    }(&w, ++runs == 1 ? 3 : 2);
  });
  raised({.code = errc::schedule_diverged,
          .what = "the program took another course under the same schedule: step 2 was "
                  "replica/0's, one of 3 that could be taken, and in a repetition it was "
                  "replica/0's, one of 2 that could be taken",
          .fix = "let nothing but the world order it: no pointers, clocks, threads, statics"},
         found.exception);
}

task<> never_ends(world&) {
  for (;;) co_await sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("TR-403 too_long: a loop never ends") {
  simulation_options options;
  options.max_steps = 1000;
  const failure found = failure_of(never_ends, options);
  CHECK(found.steps == 1001);
  show(raised({.code = errc::too_long,
               .what = "the run took more than 1,000 steps; at its end the same 1 step comes again "
                       "and again: task/0",
               .fix = "look for a loop that never ends, or raise simulation_options::max_steps"},
              found.exception));
}

TEST_CASE("TR-403 too_long: a world that was healed gets nowhere") {
  const failure found = failure_of([](world& w) -> task<> {
    w.heal(100);
    co_await never_ends(w);
  });
  raised({.code = errc::too_long,
          .what = "after world::heal() the run took more steps than it was given, 101 in all; at "
                  "its end the same 1 step comes again and again: task/0",
          .fix = "look for who waits for what never comes, or give heal() more steps"},
         found.exception);
}

TEST_CASE("TR-404 injected_fault: a replica crashes before it begins") {
  const failure found = failure_of([](world& w) -> task<> {
    w.faults(fault_budget().crashes(1));
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run([] {});
  });
  show(raised({.code = errc::injected_fault,
               .what = "the replica crashed before it began, as the world allowed",
               .fix = "let the program live with it: see fault_budget::crashes()"},
              found.exception));
}

TEST_CASE("TR-405 leaked_coroutine: a task outlives its world") {
  std::vector<task<>> kept;
  const failure found = failure_of([&kept](world& w) -> task<> {
    return [](world* in, std::vector<task<>>* into) -> task<> {
      into->push_back(does_nothing(*in));
      co_return;
    }(&w, &kept);
  });
  show(raised({.code = errc::leaked_coroutine,
               .what = "the world has ended, and 1 coroutine of it is left",
               .fix = "look for a task that is kept outside of the program and was never awaited"},
              found.exception));
}

struct note {
  using commutes = void;
  explicit note(int v) : value(v) {}
  int value;
};

class latest final : public actor<latest, note> {
 public:
  explicit latest(runtime& on) : actor(on, "latest") {}
  void on(note m) { value_ = m.value; }
  int state() const { return value_; }

 private:
  int value_ = 0;
};

TEST_CASE("TR-406 not_commutative: the last of two messages that are said to commute is kept") {
  const failure found = failure_of([](world& w) -> task<> {
    latest who(w.runtime());
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run([](replica_context ctx, latest* to) { to->tell(note(ctx.replica_id())); },
                          &who);
    co_await who.stop();
  });
  show(raised({.code = errc::not_commutative,
               .what = "latest/0 is left in another state when the same messages come in another "
                       "order, as under tr1:kTWs:1AgwAwj.g2-wT",
               .fix = "take `commutes` out of a message whose order matters; sums of "
                      "floating-point numbers are among them"},
              found.exception));
}

}  // namespace
}  // namespace troupe::test
