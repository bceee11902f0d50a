// find_the_interleaving.cpp - a bug that 1,000 live runs do not show, found and replayed.
//
// Training goes on in epochs. In every epoch each replica adds its loss to one running
// total, and replica 0, the chief, clears the total for the new epoch first.
//
// First? Nothing says so. All replicas leave the merge at the end of an epoch together,
// and whoever adds its loss before the chief has cleared the total has added it for
// nothing. On one io_context replicas go on in the order of their ids, so that the chief
// always comes first: here. On a pool, or once the chief awaits one thing more, it does
// not. The simulation asks for no luck: it tries every order.
//
// Exits with 0 exactly when the live runs show nothing, the simulation finds the bug and
// replays it, and the repaired program holds under every schedule.

#include <asio/io_context.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <troupe/troupe.hpp>

namespace {

using namespace troupe;

constexpr int replicas = 2;
constexpr int epochs = 2;
constexpr long loss_of_an_epoch = 1 + 2;  // Replica i has a loss of i + 1.

/// What the replicas share. They live on one line each at most: it is never torn.
struct running_total {
  long loss = 0;
};

// The merges. Each runs once, when everybody has arrived.

void end_epoch(cross_replica_context) {}

// [repair]
void begin_epoch(cross_replica_context, const per_replica<running_total*>& totals) {
  *totals[0] = running_total();  // Nobody adds now: everybody waits.
}
// [/repair]

// [bug]
task<> train(replica_context ctx, running_total* total) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    if (ctx.replica_id() == 0) *total = running_total();
    total->loss += ctx.replica_id() + 1;
    co_await ctx.merge_call(end_epoch);
  }
}
// [/bug]

task<> train_repaired(replica_context ctx, running_total* total) {
  for (int epoch = 0; epoch < epochs; ++epoch) {
    co_await ctx.merge_call(begin_epoch, total);
    total->loss += ctx.replica_id() + 1;
    co_await ctx.merge_call(end_epoch);
  }
}

using training = task<> (*)(replica_context, running_total*);

/// One run on the program's own io_context: what the last epoch's total is.
long train_live(training step) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, replicas};
  running_total total;
  block_on(rt, strategy.run(step, &total));
  return total.loss;
}

// [simulated]
/// The same in a simulated world, with a claim about its end.
task<> train_and_check(world& w, training step) {
  mirrored_strategy strategy{w.runtime(), replicas};
  running_total total;
  co_await strategy.run(step, &total);
  w.check(total.loss == loss_of_an_epoch, "the last epoch's total holds every replica's loss");
}

task<> buggy(world& w) { return train_and_check(w, train); }
// [/simulated]
task<> repaired(world& w) { return train_and_check(w, train_repaired); }

bool live_runs_show_nothing() {
  for (int i = 0; i < 1'000; ++i) {
    if (train_live(train) != loss_of_an_epoch) return false;
  }
  std::cout << "live:       1,000 runs, every total right\n";
  return true;
}

bool simulation_finds_and_replays() {
  // [explore]
  const simulation sim;
  const exploration found = sim.explore(buggy);
  if (found.passed()) return false;
  std::cout << "simulation: " << found.text();
  if (found.replayed) return true;  // The user gave the schedule: shown, no more to find.

  const exploration again = sim.replay(buggy, found.failure->schedule);
  // [/explore]
  if (again.passed() || again.failure->what != found.failure->what ||
      again.failure->steps != found.failure->steps) {
    return false;
  }
  std::cout << "replay:     the same failure, step for step\n";
  return true;
}

bool repair_holds() {
  simulation_options options;
  options.heed_environment = false;  // A schedule given by the user is one of the other program.
  options.exhaustive = 1'000'000;
  const exploration all = simulation(options).explore(repaired);
  std::cout << "repaired:   " << all.text() << "\n";
  return all.passed() && all.complete;
}

}  // namespace

int main() {
  try {
    if (live_runs_show_nothing() && simulation_finds_and_replays() && repair_holds()) return 0;
    std::cerr << "find_the_interleaving: not as expected\n";
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
  }
  return 1;
}
