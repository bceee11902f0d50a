// Bugs of what is cancelled, or ends, while something is under way.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <chrono>
#include <cstdint>
#include <exception>

#include "tests/planted/planted.hpp"

namespace troupe::planted {
namespace {

using std::chrono::milliseconds;

/// A task that is cancelled from outside.
struct cancelled_task {
  asio::cancellation_signal cancel;
  int ended = 0;
  bool failed = false;

  void start(world& w, task<> body) {
    launch(w.runtime(), std::move(body),
           asio::bind_cancellation_slot(cancel.slot(), [this](std::exception_ptr thrown) {
             ++ended;
             failed = thrown != nullptr;
           }));
  }
};

/// Cancels after some questions; in the default order only when all is over.
task<> cancel_somewhere(world& w, cancelled_task* which) {
  cell pace(w.runtime());
  const std::uint32_t questions = w.choose(4);
  if (questions == 0) co_await sleep_for(milliseconds(1));
  for (std::uint32_t i = 0; i < questions; ++i) static_cast<void>(co_await pace.ask<get>());
  which->cancel.emit(asio::cancellation_type::terminal);
  co_await sleep_for(milliseconds(10));
}

// The item is taken out of the cell, and then the taker is gone.
task<> take_item(cell* from, int* got) {
  const int item = co_await from->ask<get>();
  from->tell(put(0));
  static_cast<void>(co_await from->ask<get>());
  *got = item;
}
task<> item_lost_by_cancellation(world& w) {
  cell store(w.runtime(), 7);
  int got = 0;
  cancelled_task taker;
  taker.start(w, take_item(&store, &got));
  co_await cancel_somewhere(w, &taker);
  const int left = co_await store.ask<get>();
  w.check(left + got == 7, "the item is here or there");
}

// What is undone on cancellation is undone though it was done.
task<> charge(cell* account, bool* charged) {
  account->tell(put(10));
  static_cast<void>(co_await account->ask<get>());
  *charged = true;
}
task<> charged_and_told_not(world& w) {
  cell account(w.runtime());
  bool charged = false;
  cancelled_task payer;
  payer.start(w, charge(&account, &charged));
  co_await cancel_somewhere(w, &payer);
  const int taken = co_await account.ask<get>();
  w.check((taken == 10) == charged, "the payer knows whether it has paid");
}

// The lock is given back by who ends well only.
task<> hold_lock(cell* lock, cell* work) {
  lock->tell(put(1));
  static_cast<void>(co_await work->ask<get>());
  lock->tell(put(0));
}
task<> lock_kept_by_the_cancelled(world& w) {
  cell lock(w.runtime());
  cell work(w.runtime());
  cancelled_task holder;
  holder.start(w, hold_lock(&lock, &work));
  co_await cancel_somewhere(w, &holder);
  const int held = co_await lock.ask<get>();
  w.check(held == 0, "the lock is free");
}

// A run is cancelled between the halves of what its replicas write together.
task<> write_half(replica_context ctx, std::vector<int>* written) {
  co_await sleep_for(milliseconds(1 + ctx.replica_id()));
  (*written)[static_cast<std::size_t>(ctx.replica_id())] = 1;
  co_await ctx.merge_call([] {});
}
task<> run_it(const strategy* on, std::vector<int>* written) {
  co_await on->run(write_half, written);
}
task<> half_a_run(world& w) {
  std::vector<int> written(2);
  mirrored_strategy strategy(w.runtime(), 2);
  cancelled_task run;
  run.start(w, run_it(&strategy, &written));
  co_await sleep_for(milliseconds(3 - w.choose(4)));
  run.cancel.emit(asio::cancellation_type::terminal);
  co_await sleep_for(milliseconds(10));
  w.check(written[0] == written[1], "all or nothing is written");
}

}  // namespace

bugs of_cancellation() {
  return {{"cancellation: an item is lost", item_lost_by_cancellation},
          {"cancellation: paid, and not told", charged_and_told_not},
          {"cancellation: a lock is kept", lock_kept_by_the_cancelled},
          {"cancellation: half a run", half_a_run}};
}

}  // namespace troupe::planted
