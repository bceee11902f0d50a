// Two replicas that share one copy of their variables.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using numbers = per_replica<float>;

task<std::pair<float, numbers>> assign_outside(runtime& rt) {
  central_storage_strategy strategy(rt, 2);
  const variable v(strategy, 1.0f);
  co_await v.assign(3.0f);
  const float now = co_await v.read();
  const numbers kept = co_await v.components();
  co_return std::pair(now, kept);
}

TEST_CASE("core-233 a variable with central storage is written outside of runs, in its one place") {
  check_in_every_world(assign_outside, {3.0f, {3}});
}

task<float> add_two(replica_context ctx, variable<float, mean_op> v) {
  co_return co_await v.assign_add(ctx, 2.0f);
}

task<std::pair<numbers, numbers>> add_by_mean(runtime& rt) {
  central_storage_strategy strategy(rt, 2);
  const variable v(strategy, 1.0f, aggregation::mean);
  const numbers returned = co_await strategy.run(add_two, v);
  const numbers local = co_await strategy.experimental_local_results(v);
  co_return std::pair(returned, local);
}

TEST_CASE("core-234 its local results are a single value") {
  // What a run returns is one for each replica, as always.
  check_in_every_world(add_by_mean, {{3, 3}, {3}});
}

using sums = variable<double, sum_op>;
using firsts = variable<double, first_op>;

task<> increment(replica_context ctx, sums x, sums y, firsts z) {
  co_await x.assign_add(ctx, 1.0);
  co_await y.assign_add(ctx, 1.0);
  co_await z.assign_add(ctx, 1.0);
}

task<std::vector<double>> increment_three(runtime& rt) {
  central_storage_strategy strategy(rt, 2);
  const sums x(strategy, 10);
  const sums y(strategy, 20);
  const firsts z(strategy, 30);
  co_await strategy.run(increment, x, y, z);
  std::vector<double> now;
  now.push_back(co_await x.read());
  now.push_back(co_await y.read());
  now.push_back(co_await z.read());
  co_return now;
}

TEST_CASE("core-236 what replicas add to the one copy is added by the variable's aggregation") {
  check_in_every_world(increment_three, {12, 22, 31});
}

void add(float& component, float value) { component += value; }

TEST_CASE("core-237 an update of the one copy takes no value of each replica") {
  // In the model neither one that is mirrored, as that has components, too; here it is one value.
  asio::io_context io;
  runtime rt{io.get_executor()};
  const central_storage_strategy strategy(rt, 2);
  const variable v(strategy, 1.0f);
  const strategy_extended extended = strategy.extended();
  CHECK(is(thrown_by([&] { return extended.update(v, add, numbers({1, 2})); }),
           errc::aggregation_required));
  block_on(rt, extended.update(v, add, mirrored(2.0f)));
  CHECK(block_on(rt, v.read()) == 3);
}

TEST_CASE("a strategy with central storage makes values from functions, as later releases do") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const central_storage_strategy strategy(rt, 2);
  const auto id_of = [](value_context ctx) { return ctx.replica_id; };
  CHECK(strategy.experimental_distribute_values_from_function(id_of) == per_replica<int>({0, 1}));
}

}  // namespace
}  // namespace troupe::test
