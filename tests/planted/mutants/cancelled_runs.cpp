// What is cancelled while it waits for what never comes; in the default order it comes.

#include <atomic>
#include <chrono>
#include <cstdint>

#include "tests/planted/cancelled_task.hpp"
#include "tests/planted/mutants/programs.hpp"

namespace troupe::planted {

namespace {

/// Opens the door, or cancels after some questions and leaves it closed.
task<> open_or_cancel(stage& w, door* d, cancelled_task* which, bool* cancelled) {
  *cancelled = w.choose(2) == 1;
  if (!*cancelled) {
    d->tell(let_in());
    co_return;
  }
  cell pace(w.runtime());
  const std::uint32_t questions = w.choose(4);
  for (std::uint32_t i = 0; i < questions; ++i) static_cast<void>(co_await pace.ask<get>());
  which->emit();
}

/// \return how `body`, which waits at the door, has ended.
task<std::exception_ptr> end_of(stage& w, door* d, bool* cancelled, task<> body) {
  cancelled_task one;
  co_await together(run_cancellable(w, &one, std::move(body)),
                    open_or_cancel(w, d, &one, cancelled));
  co_return one.failure;
}

task<int> ask_inside(per_replica<door*> doors) { co_return co_await doors[0]->ask<knock>(); }
task<> merge_at_the_door(replica_context ctx, door* d) {
  static_cast<void>(co_await ctx.merge_call(ask_inside, d));
}
task<> run_merge(const strategy* on, door* d) { co_await on->run(merge_at_the_door, d); }

task<int> ask_pace(per_replica<cell*> cells) { co_return co_await cells[0]->ask<get>(); }
task<> merge_then_knock(replica_context ctx, cell* pace, door* d) {
  static_cast<void>(co_await ctx.merge_call(ask_pace, pace));
  static_cast<void>(co_await d->ask<knock>());
}
task<> run_then_knock(const strategy* on, cell* pace, door* d) {
  co_await on->run(merge_then_knock, pace, d);
}

task<> cancelled_outside(stage& w, mirrored_options how) {
  door d(w.runtime());
  cell pace(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2, how);
  bool cancelled = false;
  const auto failure = co_await end_of(w, &d, &cancelled, run_then_knock(&strategy, &pace, &d));
  co_await d.stop();
  co_await pace.stop();
  w.check(cancelled ? code_of(failure) == errc::cancelled : !failure, "cancelled, or ended well");
}

}  // namespace

task<> cancelled_in_a_merge(stage& w) {
  door d(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  bool cancelled = false;
  const auto failure = co_await end_of(w, &d, &cancelled, run_merge(&strategy, &d));
  co_await d.stop();
  w.check(cancelled ? code_of(failure) == errc::cancelled : !failure, "cancelled, or ended well");
  co_await require_a_good_run(w, &strategy);
}
task<> cancelled_after_a_merge(stage& w) { return cancelled_outside(w, {}); }
task<> cancelled_in_turn(stage& w) {
  return cancelled_outside(w, {.order = replica_order::one_by_one});
}

namespace {

task<> do_nothing(std::atomic<int>* entered) {
  ++*entered;
  co_return;
}
task<> run_nothing(const strategy* on, std::atomic<int>* entered) {
  co_await on->run(do_nothing, entered);
}

}  // namespace

task<> cancelled_when_all_is_done(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  std::atomic<int> entered = 0;
  cancelled_task run;
  co_await together(run_cancellable(w, &run, run_nothing(&strategy, &entered)),
                    cancel_somewhere(w, &run));
  w.check(!run.failure || entered < 2, "what has ended is not cancelled any more");
}
task<> run_after_a_late_cancel(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  std::atomic<int> entered = 0;
  cancelled_task run;
  co_await together(run_cancellable(w, &run, run_nothing(&strategy, &entered)),
                    cancel_somewhere(w, &run));
  const auto second = co_await thrown_by(require_a_good_run(w, &strategy));
  // What is on its way finds the strategy.
  co_await sleep_for(std::chrono::milliseconds(1));
  w.check(!second, "the next run is another one");
}

namespace {

task<> knock_once(door* d) { static_cast<void>(co_await d->ask<knock>()); }
task<> ask_then_run(const strategy* on, cell* pace, door* d) {
  static_cast<void>(co_await pace->ask<get>());
  co_await on->run(knock_once, d);
}

task<> ask_then_knock(cell* pace, door* d) {
  static_cast<void>(co_await pace->ask<get>());
  static_cast<void>(co_await d->ask<knock>());
}

task<> ask_then_branch(cell* pace, door* d) {
  static_cast<void>(co_await pace->ask<get>());
  co_await together(knock_once(d), knock_once(d));
}

}  // namespace

task<> stopped_before_a_run(stage& w) {
  door d(w.runtime());
  cell pace(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  bool cancelled = false;
  const auto failure = co_await end_of(w, &d, &cancelled, ask_then_run(&strategy, &pace, &d));
  co_await d.stop();
  co_await pace.stop();
  w.check(cancelled == static_cast<bool>(failure), "cancelled, or ended well");
}
task<> stopped_between_two_questions(stage& w) {
  door d(w.runtime());
  cell pace(w.runtime());
  bool cancelled = false;
  const auto failure = co_await end_of(w, &d, &cancelled, ask_then_knock(&pace, &d));
  co_await d.stop();
  co_await pace.stop();
  w.check(cancelled == static_cast<bool>(failure), "cancelled, or ended well");
}
task<> stopped_branches(stage& w) {
  door d(w.runtime());
  cell pace(w.runtime());
  bool cancelled = false;
  const auto failure = co_await end_of(w, &d, &cancelled, ask_then_branch(&pace, &d));
  co_await d.stop();
  co_await pace.stop();
  w.check(cancelled == static_cast<bool>(failure), "cancelled, or ended well");
}

}  // namespace troupe::planted
