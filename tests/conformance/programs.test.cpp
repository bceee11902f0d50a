// Whole programs: the same code under the default strategy, one device, mirrored variables and
// central storage. Where the model names an answer for each of the four, so do the tests;
// where it is one answer, assert_equivalent() compares them all, with three replicas, too.

#include <cmath>
#include <cstddef>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/strategies.hpp"
#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using floats = std::vector<float>;

// -- one device -----------------------------------------------------------------------------------

int twice(int i) { return 2 * i; }

task<int> sum_of_twice(runtime& rt) {
  one_device_strategy strategy(rt);
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    const per_replica<int> each = co_await strategy.run(twice, i);
    sum += each[0];
  }
  co_return sum;
}

TEST_CASE("core-238 a loop of runs on one device") { check_in_every_world(sum_of_twice, 90); }

// -- moving averages ------------------------------------------------------------------------------

using averaged = variable<floats, mean_op>;

/// What is subtracted from a moving average when it meets a value.
floats step_towards(const floats& now, const floats& value, float decay) {
  floats delta = now;
  for (std::size_t i = 0; i < delta.size(); ++i) delta[i] = (now[i] - value[i]) * (1 - decay);
  return delta;
}

task<floats> meet_own_value(replica_context ctx, averaged average) {
  const auto id = static_cast<float>(ctx.replica_id());
  const floats value = {1 + id, 2 - id};
  const floats delta = step_towards(average.read(ctx), value, 0.25f);
  co_return co_await average.assign_sub(ctx, delta);
}

task<floats> average_in_replicas(const strategy& s) {
  const floats initial = {10, 11};
  const averaged average(s, initial, aggregation::mean);
  co_await s.run(meet_own_value, average);
  co_return co_await average.read();
}

task<std::vector<floats>> average_under_four(runtime& rt) {
  const every_strategy strategies(rt);
  co_return co_await answers_under(strategies.four(), average_in_replicas);
}

TEST_CASE("core-240 a moving average meets the mean of the replicas' values") {
  const floats one = {3.25, 4.25};
  const floats two = {3.625, 3.875};
  check_in_every_world(average_under_four, {one, one, two, two});
}

task<floats> average_outside(const strategy& s) {
  const floats initial = {10, 11};
  const floats value = {1, 2};
  const averaged average(s, initial, aggregation::mean);
  const floats now = co_await average.read();
  const floats delta = step_towards(now, value, 0.25f);
  co_return co_await average.assign_sub(delta);
}

task<floats> meet_variable(replica_context ctx, averaged average, averaged value) {
  const floats delta = step_towards(average.read(ctx), value.read(ctx), 0.25f);
  co_return co_await average.assign_sub(ctx, delta);
}

task<floats> average_of_variable(const strategy& s) {
  const floats initial = {10, 11};
  const floats value = {1, 2};
  const averaged average(s, initial, aggregation::mean);
  const averaged met(s, value, aggregation::mean);
  co_await s.run(meet_variable, average, met);
  co_return co_await average.read();
}

task<std::pair<floats, floats>> average_under_all(runtime& rt) {
  const every_strategy strategies(rt);
  const floats outside = co_await assert_equivalent(strategies.all(), average_outside);
  const floats of_variable = co_await assert_equivalent(strategies.all(), average_of_variable);
  co_return std::pair(outside, of_variable);
}

TEST_CASE("core-241 in cross-replica context, and of a variable, it is the same everywhere") {
  const floats met = {3.25, 4.25};
  check_in_every_world(average_under_all, {met, met});
}

using number = variable<double, mean_op>;

task<> apply_average(replica_context ctx, number average, number w) {
  const double delta = (average.read(ctx) - w.read(ctx)) * 0.2;
  co_await average.assign_sub(ctx, delta);
}

task<> apply_and_step(replica_context ctx, number average, number w) {
  co_await apply_average(ctx, average, w);
  co_await w.assign_sub(ctx, 0.5);
  co_await apply_average(ctx, average, w);
}

task<double> follow_in_replicas(const strategy& s) {
  const number w(s, 1.0, aggregation::mean);
  const number average(s, 1.0, aggregation::mean);
  co_await s.run(apply_and_step, average, w);
  co_return co_await average.read();
}

task<double> follow_outside(const strategy& s) {
  const number w(s, 1.0, aggregation::mean);
  const number average(s, 1.0, aggregation::mean);
  for (int step = 0; step < 2; ++step) {
    const double value = co_await w.read();
    const double now = co_await average.read();
    co_await average.assign_sub((now - value) * 0.2);
    if (step == 0) co_await w.assign_sub(0.5);
  }
  co_return co_await average.read();
}

task<std::pair<double, double>> follow_under_all(runtime& rt) {
  const every_strategy strategies(rt);
  const double inside = co_await assert_equivalent(strategies.four(), follow_in_replicas);
  const double outside = co_await assert_equivalent(strategies.all(), follow_outside);
  co_return std::pair(inside, outside);
}

TEST_CASE("core-242 a moving average follows a variable, in replicas and outside of them") {
  check_in_every_world(follow_under_all, {0.9, 0.9});
}

// -- a metric -------------------------------------------------------------------------------------

using accumulator = sync_on_read_variable<double, sum_op>;

void accumulate(replica_context ctx, accumulator total, accumulator count, int first_batch) {
  for (int i = 0; i < 4; ++i) {
    total.assign_add(ctx, 4.0 * (first_batch + ctx.replica_id()) + i);
    count.assign_add(ctx, 1.0);
  }
}

/// The mean so far after each of the steps that it takes for four batches of four numbers.
task<std::vector<double>> means_of_batches(const strategy& s) {
  const accumulator total(s, 0.0);
  const accumulator count(s, 0.0);
  std::vector<double> means;
  for (int batch = 0; batch < 4; batch += s.num_replicas_in_sync()) {
    co_await s.run(accumulate, total, count, batch);
    const double sum = co_await total.read();
    const double of = co_await count.read();
    means.push_back(sum / of);
  }
  co_return means;
}

task<std::vector<std::vector<double>>> means_under_four(runtime& rt) {
  const every_strategy strategies(rt);
  co_return co_await answers_under(strategies.four(), means_of_batches);
}

TEST_CASE("core-244 a metric of two synchronised variables sees all batches of a step") {
  const std::vector<double> one = {1.5, 3.5, 5.5, 7.5};
  const std::vector<double> two = {3.5, 7.5};
  check_in_every_world(means_under_four, {one, one, two, two});
}

// -- training loops -------------------------------------------------------------------------------

task<> count_step(replica_context ctx, variable<int, first_op> a) { co_await a.assign_add(ctx, 1); }

task<std::pair<double, int>> multiply_means(const strategy& s) {
  const variable a(s, 1, aggregation::only_first_replica);
  const std::vector<floats> batches = {{5, 6}, {7, 8}};
  double product = 2;
  for (const floats& batch : batches) {
    const auto own = [&](value_context) { return batch; };
    const auto values = s.experimental_distribute_values_from_function(own);
    product *= s.reduce(reduce_op::mean, values, 0);
    co_await s.run(count_step, a);
  }
  const int steps = co_await a.read();
  co_return std::pair(product, steps);
}

using product_and_steps = std::vector<std::pair<double, int>>;

task<product_and_steps> multiply_under_all(runtime& rt) {
  const every_strategy strategies(rt);
  co_return co_await answers_under(strategies.four(), multiply_means);
}

TEST_CASE("core-245 a loop reduces every step's values and counts its steps") {
  check_in_every_world(multiply_under_all, product_and_steps(4, {82.5, 3}));
}

using weight = variable<float, mean_op>;

float slope(replica_context ctx, weight w) { return 2 * (w.read(ctx) - 1); }
void descend(float& w, float gradient) { w -= 0.2f * gradient; }

/// How far from 1 the weight is, after each step.
task<bool> distance_shrinks(const strategy& s) {
  const weight w(s, 6.0f, aggregation::mean);
  float distance = 5;
  bool shrinks = true;
  for (int step = 0; step < 10; ++step) {
    const per_replica<float> slopes = co_await s.run(slope, w);
    const mirrored<float> sum = s.extended().reduce_to(reduce_op::sum, slopes, w);
    co_await s.extended().update(w, descend, sum);
    const float now = co_await w.read();
    shrinks = shrinks && std::abs(now - 1) <= distance;
    distance = std::abs(now - 1);
  }
  co_return shrinks&& distance < 0.05f;
}

task<bool> descend_under_all(runtime& rt) {
  const every_strategy strategies(rt);
  co_return co_await assert_equivalent(strategies.all(), distance_shrinks);
}

TEST_CASE("core-248 gradient descent by hand comes closer under every strategy") {
  // A sum of gradients is as many times as steep as there are replicas: they all converge, in
  // steps of their own.
  check_in_every_world(descend_under_all, true);
}

}  // namespace
}  // namespace troupe::test
