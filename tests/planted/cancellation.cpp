// Bugs of what is cancelled, or ends, while something is under way.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>

#include "tests/planted/cancelled_task.hpp"

namespace troupe::planted {
namespace {

using std::chrono::milliseconds;

// The item is taken out of the cell, and then the taker is gone.
task<> take_item(cell* from, int* got) {
  const int item = co_await from->ask<get>();
  from->tell(put(0));
  static_cast<void>(co_await from->ask<get>());
  *got = item;
}
task<> item_lost_by_cancellation(stage& w) {
  cell store(w.runtime(), 7);
  int got = 0;
  cancelled_task taker;
  co_await together(run_cancellable(w, &taker, take_item(&store, &got)),
                    cancel_somewhere(w, &taker));
  const int left = co_await store.ask<get>();
  w.check(left + got == 7, "the item is here or there");
}

// What is undone on cancellation is undone though it was done.
task<> charge(cell* account, bool* charged) {
  account->tell(put(10));
  static_cast<void>(co_await account->ask<get>());
  *charged = true;
}
task<> charged_and_told_not(stage& w) {
  cell account(w.runtime());
  bool charged = false;
  cancelled_task payer;
  co_await together(run_cancellable(w, &payer, charge(&account, &charged)),
                    cancel_somewhere(w, &payer));
  const int taken = co_await account.ask<get>();
  w.check((taken == 10) == charged, "the payer knows whether it has paid");
}

// The lock is given back by who ends well only.
task<> hold_lock(cell* lock, cell* work) {
  lock->tell(put(1));
  static_cast<void>(co_await work->ask<get>());
  lock->tell(put(0));
}
task<> lock_kept_by_the_cancelled(stage& w) {
  cell lock(w.runtime());
  cell work(w.runtime());
  cancelled_task holder;
  co_await together(run_cancellable(w, &holder, hold_lock(&lock, &work)),
                    cancel_somewhere(w, &holder));
  const int held = co_await lock.ask<get>();
  w.check(held == 0, "the lock is free");
}

// A run is cancelled between the halves of what its replicas write together.
using halves = std::array<std::atomic<int>, 2>;

task<> write_half(replica_context ctx, halves* written) {
  co_await sleep_for(milliseconds(1 + ctx.replica_id()));
  (*written)[static_cast<std::size_t>(ctx.replica_id())] = 1;
  co_await ctx.merge_call([] {});
}
task<> run_it(const strategy* on, halves* written) { co_await on->run(write_half, written); }
task<> cancel_after(milliseconds delay, cancelled_task* which) {
  co_await sleep_for(delay);
  which->emit();
}
task<> half_a_run(stage& w) {
  halves written = {};
  mirrored_strategy strategy(w.runtime(), 2);
  cancelled_task run;
  const milliseconds delay(3 - w.choose(4));
  co_await together(run_cancellable(w, &run, run_it(&strategy, &written)),
                    cancel_after(delay, &run));
  w.check(written[0] == written[1], "all or nothing is written");
}

// What was begun twice is cancelled once.
task<> begin_and_end(cell* begun, cell* ended) {
  begun->tell(put(1));
  static_cast<void>(co_await begun->ask<get>());
  ended->tell(put(1));
  static_cast<void>(co_await ended->ask<get>());
  begun->tell(put(2));
  static_cast<void>(co_await begun->ask<get>());
  ended->tell(put(2));
}
task<> stopped_between_two_steps(stage& w) {
  cell begun(w.runtime());
  cell ended(w.runtime());
  cancelled_task worker;
  co_await together(run_cancellable(w, &worker, begin_and_end(&begun, &ended)),
                    cancel_somewhere(w, &worker));
  const int first = co_await begun.ask<get>();
  const int second = co_await ended.ask<get>();
  w.check(!(first == 2 && second == 1), "the second step is not half done");
}

}  // namespace

bugs of_cancellation() {
  return {{"cancellation: an item is lost", 2, item_lost_by_cancellation},
          {"cancellation: paid, and not told", 2, charged_and_told_not},
          {"cancellation: a lock is kept", 2, lock_kept_by_the_cancelled},
          {"cancellation: half a run", 2, half_a_run},
          {"cancellation: a second step half done", 2, stopped_between_two_steps}};
}

}  // namespace troupe::planted
