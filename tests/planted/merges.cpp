// Bugs of programs whose replicas merge.

#include <array>
#include <atomic>
#include <cstddef>

#include "tests/planted/planted.hpp"

namespace troupe::planted {
namespace {

task<> add_on_arrival(replica_context ctx, std::atomic<double>* total) {
  const std::array<double, 3> values = {1e16, 1, -1e16};
  total->fetch_add(values[static_cast<std::size_t>(ctx.replica_id())]);
  co_await ctx.merge_call([] {});
}
task<> sum_by_arrival(stage& w) {
  std::atomic<double> total = 0;
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(add_on_arrival, &total);
  w.check(total == (1e16 + 1.0) + -1e16, "the bits of the sum in replica order");
}

task<> first_one_leads(replica_context ctx, std::atomic<int>* leader) {
  int nobody = -1;
  leader->compare_exchange_strong(nobody, ctx.replica_id());
  co_await ctx.merge_call([] {});
}
template <int Replicas>
task<> leader_by_arrival(stage& w) {
  std::atomic<int> leader = -1;
  mirrored_strategy strategy(w.runtime(), Replicas);
  co_await strategy.run(first_one_leads, &leader);
  w.check(leader == 0, "replica 0 leads");
}

task<> clear_then_add(replica_context ctx, std::atomic<int>* total) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    if (ctx.replica_id() == 0) *total = 0;
    *total += 1;
    co_await ctx.merge_call([] {});
  }
}
task<> chief_clears_late(stage& w) {
  std::atomic<int> total = 0;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(clear_then_add, &total);
  w.check(total == 2, "both replicas have added");
}

struct shared_value {
  std::atomic<int> published = 0;
  std::atomic<int> read = 0;
};
task<> publish_after_merge(replica_context ctx, shared_value* shared) {
  co_await ctx.merge_call([] {});
  if (ctx.replica_id() == 0) shared->published = 7;
  if (ctx.replica_id() == 1) shared->read = shared->published.load();
}
task<> read_beside_the_writer(stage& w) {
  shared_value shared;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(publish_after_merge, &shared);
  w.check(shared.read == 7, "replica 1 reads what is published");
}

task<> stop_when_told(replica_context ctx, std::atomic<bool>* done) {
  if (ctx.replica_id() == 1) *done = true;
  if (ctx.replica_id() == 0 && *done) co_return;
  co_await ctx.merge_call([] {});
}
task<> one_merge_less(stage& w) {
  std::atomic<bool> done = false;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(stop_when_told, &done);
}

task<> note_arrival(replica_context ctx, notes* arrived) {
  arrived->add(ctx.replica_id());
  co_await ctx.merge_call([] {});
}
task<> exact_order_of_four(stage& w) {
  notes arrived;
  mirrored_strategy strategy(w.runtime(), 4);
  co_await strategy.run(note_arrival, &arrived);
  w.check(arrived.all() != std::vector<int>({3, 1, 2, 0}), "gathered in any order but this");
}
task<> exact_order_of_five(stage& w) {
  notes arrived;
  mirrored_strategy strategy(w.runtime(), 5);
  co_await strategy.run(note_arrival, &arrived);
  w.check(arrived.all() != std::vector<int>({4, 3, 2, 1, 0}), "not the other way round");
}

task<> count_laps(replica_context ctx, notes* last) {
  for (int lap = 0; lap < 3; ++lap) {
    last->add(ctx.replica_id());
    co_await ctx.merge_call([] {});
  }
}
task<> last_in_every_lap(stage& w) {
  notes laps;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(count_laps, &laps);
  const std::vector<int>& order = laps.all();
  w.check(!(order[1] == 0 && order[3] == 0 && order[5] == 0), "replica 0 is not last three times");
}

// A signal is heard by those who wait already.
struct ring {};
struct listen {
  using answer_type = int;
  explicit listen(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
class bell final : public actor<bell, listen, ring> {
 public:
  explicit bell(runtime& on) : actor(on, "bell") {}
  void on(listen m) { waiting_.push_back(std::move(m)); }
  void on(ring) {
    for (auto& each : waiting_) each.to.set(1);
    waiting_.clear();
  }

 private:
  std::vector<listen> waiting_;
};
task<> ring_or_listen(replica_context ctx, bell* signal) {
  if (ctx.replica_id() == 1) {
    signal->tell(ring());
    co_return;
  }
  co_await signal->ask<listen>();
}
task<> signal_that_nobody_hears(stage& w) {
  bell signal(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(ring_or_listen, &signal);
}

}  // namespace

bugs of_merges() {
  return {{"merge: sum in the order of arrival", 1, sum_by_arrival},
          {"merge: who arrives first leads", 1, leader_by_arrival<3>},
          {"merge: the first of two leads", 1, leader_by_arrival<2>},
          {"merge: the chief clears the total late", 1, chief_clears_late},
          {"merge: reads what is written beside it", 1, read_beside_the_writer},
          {"merge: whether to merge is a race", 1, one_merge_less},
          {"merge: one order of 24", 3, exact_order_of_four},
          {"merge: one order of 120", 4, exact_order_of_five, 2'000},
          {"merge: last in each of three laps", 3, last_in_every_lap},
          {"merge: a signal that nobody hears", 1, signal_that_nobody_hears}};
}

}  // namespace troupe::planted
