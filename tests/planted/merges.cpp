// Bugs of programs whose replicas merge.

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "tests/planted/planted.hpp"

namespace troupe::planted {
namespace {

task<> add_on_arrival(replica_context ctx, double* total) {
  const std::array<double, 3> values = {1e16, 1, -1e16};
  *total += values[static_cast<std::size_t>(ctx.replica_id())];
  co_await ctx.merge_call([] {});
}
task<> sum_by_arrival(world& w) {
  double total = 0;
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(add_on_arrival, &total);
  w.check(total == (1e16 + 1.0) + -1e16, "the bits of the sum in replica order");
}

task<> first_one_leads(replica_context ctx, std::optional<int>* leader) {
  if (!*leader) *leader = ctx.replica_id();
  co_await ctx.merge_call([] {});
}
task<> leader_by_arrival(world& w) {
  std::optional<int> leader;
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(first_one_leads, &leader);
  w.check(leader == 0, "replica 0 leads");
}

task<> clear_then_add(replica_context ctx, int* total) {
  for (int epoch = 0; epoch < 2; ++epoch) {
    if (ctx.replica_id() == 0) *total = 0;
    *total += 1;
    co_await ctx.merge_call([] {});
  }
}
task<> chief_clears_late(world& w) {
  int total = 0;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(clear_then_add, &total);
  w.check(total == 2, "both replicas have added");
}

struct shared_value {
  int published = 0;
  int read = 0;
};
task<> publish_after_merge(replica_context ctx, shared_value* shared) {
  co_await ctx.merge_call([] {});
  if (ctx.replica_id() == 0) shared->published = 7;
  if (ctx.replica_id() == 1) shared->read = shared->published;
}
task<> read_beside_the_writer(world& w) {
  shared_value shared;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(publish_after_merge, &shared);
  w.check(shared.read == 7, "replica 1 reads what is published");
}

task<> stop_when_told(replica_context ctx, bool* done) {
  if (ctx.replica_id() == 1) *done = true;
  if (ctx.replica_id() == 0 && *done) co_return;
  co_await ctx.merge_call([] {});
}
task<> one_merge_less(world& w) {
  bool done = false;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(stop_when_told, &done);
}

task<> push_back(replica_context ctx, std::vector<int>* gathered) {
  gathered->push_back(ctx.replica_id());
  co_await ctx.merge_call([] {});
}
task<> exact_order_of_four(world& w) {
  std::vector<int> gathered;
  mirrored_strategy strategy(w.runtime(), 4);
  co_await strategy.run(push_back, &gathered);
  w.check(gathered != std::vector<int>({3, 1, 2, 0}), "gathered in any order but this");
}

task<> count_laps(replica_context ctx, std::vector<int>* last) {
  for (int lap = 0; lap < 3; ++lap) {
    last->push_back(ctx.replica_id());
    co_await ctx.merge_call([] {});
  }
}
task<> last_in_every_lap(world& w) {
  std::vector<int> order;
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(count_laps, &order);
  w.check(!(order[1] == 0 && order[3] == 0 && order[5] == 0), "replica 0 is not last three times");
}

}  // namespace

bugs of_merges() {
  return {{"merge: sum in the order of arrival", sum_by_arrival},
          {"merge: who arrives first leads", leader_by_arrival},
          {"merge: the chief clears the total late", chief_clears_late},
          {"merge: reads what is written beside it", read_beside_the_writer},
          {"merge: whether to merge is a race", one_merge_less},
          {"merge: one order of 24", exact_order_of_four},
          {"merge: last in each of three laps", last_in_every_lap}};
}

}  // namespace troupe::planted
