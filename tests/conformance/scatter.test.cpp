// Writes to some rows of a variable, in replicas and in cross-replica context.
//
// What the model refuses when it is called, minima, maxima and new values by sum or mean, does
// not compile here: tests/compile_fail.

#include <cstddef>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using floats = std::vector<float>;
using ints = std::vector<int>;
template <class T>
using slices = indexed_slices<std::vector<T>>;

/// One row out of three.
template <class T>
slices<T> row(int index, T value) {
  return slices<T>({static_cast<std::size_t>(index)}, {value}, {3});
}

// -- in replicas: the rows of all, by the variable's aggregation ----------------------------------

task<> subtract(replica_context ctx, variable<floats, mean_op> v) {
  const auto id = static_cast<std::size_t>(ctx.replica_id());
  const auto x = static_cast<float>(ctx.replica_id());
  const slices<float> mine({id, id + 1}, {x, x + 1}, {3});
  co_await v.scatter_sub(ctx, mine);
}

task<per_replica<floats>> subtract_on_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const floats initial = {0, 0, 0};
  const variable v(strategy, initial, aggregation::mean);
  co_await strategy.run(subtract, v);
  co_return co_await v.components();
}

TEST_CASE("core-150 scatter_sub by mean subtracts all replicas' rows, each divided by two") {
  check_in_every_world(subtract_on_two, {{0, -1, -1}, {0, -1, -1}});
}

task<> divide(replica_context ctx, variable<ints, sum_op> v) {
  const slices<int> mine = row(ctx.replica_id(), ctx.replica_id() + 2);
  co_await v.scatter_div(ctx, mine);
}

task<per_replica<ints>> divide_on_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const ints initial = {1, 6, 1};
  const variable v(strategy, initial, aggregation::sum);
  co_await strategy.run(divide, v);
  co_return co_await v.components();
}

TEST_CASE("core-152 scatter_div by sum divides by all replicas' rows; integers are cut off") {
  check_in_every_world(divide_on_two, {{0, 2, 1}, {0, 2, 1}});
}

task<> multiply(replica_context ctx, variable<floats, mean_op> v) {
  const slices<float> mine = row(ctx.replica_id(), static_cast<float>(ctx.replica_id()) + 2);
  co_await v.scatter_mul(ctx, mine);
}

task<per_replica<floats>> multiply_on_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const floats initial = {2, 1, 1};
  const variable v(strategy, initial, aggregation::mean);
  co_await strategy.run(multiply, v);
  co_return co_await v.components();
}

TEST_CASE("core-153 scatter_mul by mean multiplies by all replicas' rows, each divided by two") {
  check_in_every_world(multiply_on_two, {{2, 1.5, 1}, {2, 1.5, 1}});
}

using first_of_floats = variable<floats, first_op>;

/// Replica 1 brings another row, which is not written.
slices<float> own_row(replica_context ctx, float value) {
  return row(1 + ctx.replica_id(), value - static_cast<float>(ctx.replica_id()) * 10);
}
task<> lower(replica_context ctx, first_of_floats v) {
  const slices<float> mine = own_row(ctx, 1);
  co_await v.scatter_min(ctx, mine);
}
task<> raise(replica_context ctx, first_of_floats v) {
  const slices<float> mine = own_row(ctx, 12);
  co_await v.scatter_max(ctx, mine);
}
task<> replace(replica_context ctx, first_of_floats v) {
  const slices<float> mine = own_row(ctx, 3);
  co_await v.scatter_update(ctx, mine);
}

template <task<> (*Write)(replica_context, first_of_floats)>
task<per_replica<floats>> write_first_on_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const floats initial = {0, 2, 0};
  const first_of_floats v(strategy, initial, aggregation::only_first_replica);
  co_await strategy.run(Write, v);
  co_return co_await v.components();
}

TEST_CASE("core-154 scatter_min by the first replica takes the smaller of its rows' numbers") {
  check_in_every_world(write_first_on_two<lower>, {{0, 1, 0}, {0, 1, 0}});
}

TEST_CASE("scatter_max by the first replica takes the larger of its rows' numbers") {
  check_in_every_world(write_first_on_two<raise>, {{0, 12, 0}, {0, 12, 0}});
}

TEST_CASE("core-156 scatter_update by the first replica replaces its rows") {
  check_in_every_world(write_first_on_two<replace>, {{0, 3, 0}, {0, 3, 0}});
}

task<> lower_own(replica_context ctx, variable<floats> v) {
  const slices<float> mine = row(ctx.replica_id(), -1.0f);
  co_await v.scatter_min(ctx, mine);
}

task<per_replica<floats>> lower_own_on_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const floats initial = {0, 2, 0};
  const variable v(strategy, initial, aggregation::none);
  co_await strategy.run(lower_own, v);
  co_return co_await v.components();
}

TEST_CASE("without an aggregation a replica scatters to its own component alone") {
  check_in_every_world(lower_own_on_two, {{-1, 2, 0}, {0, -1, 0}});
}

// -- in cross-replica context: once to every component --------------------------------------------

task<std::vector<per_replica<floats>>> scatter_outside(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const floats ones = {1, 1, 1};
  const slices<float> two_at_0 = row(0, 2.0f);
  const variable summed(strategy, ones, aggregation::sum);
  const variable plain(strategy, ones, aggregation::none);
  co_await summed.scatter_add(two_at_0);
  co_await plain.scatter_min(two_at_0);
  std::vector<per_replica<floats>> all;
  all.push_back(co_await summed.components());
  all.push_back(co_await plain.components());
  co_await plain.scatter_max(two_at_0);
  all.push_back(co_await plain.components());
  co_return all;
}

TEST_CASE("core-157 in cross-replica context rows are written once, whatever the aggregation") {
  const per_replica<floats> added = {{3, 1, 1}, {3, 1, 1}};
  const per_replica<floats> kept = {{1, 1, 1}, {1, 1, 1}};
  const per_replica<floats> raised = {{2, 1, 1}, {2, 1, 1}};
  check_in_every_world(scatter_outside, {added, kept, raised});
}

}  // namespace
}  // namespace troupe::test
