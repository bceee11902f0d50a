// Bugs of programs that write variables from several places.

#include "tests/planted/planted.hpp"

namespace troupe::planted {
namespace {

using counter = variable<int, first_op>;

task<> add_by_hand(counter v, cell* pace) {
  const int before = co_await v.read();
  static_cast<void>(co_await pace->ask<get>());
  co_await v.assign(before + 1);
}
task<> read_then_assign(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const counter v(strategy, 0);
  cell pace(w.runtime());
  co_await together(add_by_hand(v, &pace), add_by_hand(v, &pace));
  const int after = co_await v.read();
  w.check(after == 2, "both count");
}

task<> add_in_run(replica_context ctx, counter v) {
  const int before = v.read(ctx);
  co_await ctx.merge_call([] {});
  co_await v.assign(ctx, before + 1);
}
task<> write_in_run(const strategy* on, counter v) { co_await on->run(add_in_run, v); }
task<> two_runs_write(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const counter v(strategy, 0);
  co_await together(write_in_run(&strategy, v), write_in_run(&strategy, v));
  const int after = co_await v.read();
  w.check(after == 2, "both runs count");
}

task<> write_two(counter a, counter b, int value) {
  co_await a.assign(value);
  co_await b.assign(value);
}
task<> read_two(counter a, counter b, bool* alike) {
  const int of_a = co_await a.read();
  const int of_b = co_await b.read();
  *alike = of_a == of_b;
}
task<> torn_checkpoint(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const counter a(strategy, 0);
  const counter b(strategy, 0);
  bool alike = false;
  co_await together(write_two(a, b, 1), read_two(a, b, &alike));
  w.check(alike, "a checkpoint is of one moment");
}

task<> scale(counter v) {
  co_await v.assign_add(1);
  const int now = co_await v.read();
  co_await v.assign(10 * now);
}
task<> steps_of_two_mix(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const counter v(strategy, 0);
  co_await together(scale(v), scale(v));
  const int after = co_await v.read();
  w.check(after == 110, "one after the other");
}

}  // namespace

bugs of_variables() {
  return {{"variable: read, then assigned", 2, read_then_assign},
          {"variable: two runs write what they have read", 2, two_runs_write},
          {"variable: a checkpoint of two moments", 2, torn_checkpoint},
          {"variable: the steps of two writers mix", 2, steps_of_two_mix}};
}

}  // namespace troupe::planted
