// Variables that are written while others look.

#include <atomic>

#include "tests/planted/mutants/programs.hpp"

namespace troupe::planted {

namespace {

using number = variable<int, first_op>;

task<> assign_it(number v, int value) { co_await v.assign(value); }

}  // namespace

task<> two_writers(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2);
  const number v(strategy, 0);
  co_await together(assign_it(v, 1), assign_it(v, 2));
  const per_replica<int> all = co_await v.components();
  w.check(all[0] == all[1] && all[0] != 0, "both components were written in one order");
}

namespace {

task<> write_and_tell(replica_context ctx, number v, std::atomic<bool>* written) {
  co_await v.assign(ctx, 7);
  *written = true;
}
task<> run_write(const strategy* on, number v, std::atomic<bool>* written) {
  co_await on->run(write_and_tell, v, written);
}
task<> read_when_told(cell* pace, number v, const std::atomic<bool>* written, bool* stale) {
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(co_await pace->ask<get>());
    const bool told = *written;
    const int value = co_await v.read();
    if (told && value != 7) *stale = true;
  }
}

}  // namespace

task<> read_after_a_write(stage& w) {
  cell pace(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  const number v(strategy, 0);
  std::atomic<bool> written = false;
  bool stale = false;
  co_await together(run_write(&strategy, v, &written), read_when_told(&pace, v, &written, &stale));
  w.check(!stale, "what a replica has written is read everywhere");
}

namespace {

task<> write_then_fail(replica_context ctx, number v, const std::atomic<bool>* told) {
  co_await v.assign(ctx, 7);
  if (ctx.replica_id() == 0 && !*told) throw own_failure();
}
task<int> read_own(replica_context ctx, number v) { co_return v.read(ctx); }
task<> run_in_turn(const strategy* on, number v, const std::atomic<bool>* told) {
  static_cast<void>(co_await thrown_by(on->run(write_then_fail, v, told)));
}
task<> tell_it(std::atomic<bool>* told) {
  *told = true;
  co_return;
}

}  // namespace

task<> unwound_in_turn(stage& w) {
  mirrored_strategy strategy(w.runtime(), 2, {.order = replica_order::one_by_one});
  const number v(strategy, 0);
  std::atomic<bool> told = false;
  co_await together(run_in_turn(&strategy, v, &told), tell_it(&told));
  const per_replica<int> all = co_await strategy.run(read_own, v);
  w.check(all[0] == all[1], "the components are alike");
}

}  // namespace troupe::planted
