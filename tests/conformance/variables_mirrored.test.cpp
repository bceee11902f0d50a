// What replicas write to mirrored variables. A literal of the model, the same on every replica,
// is mirrored(x) here.

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

using floats = per_replica<float>;

/// The components after `Step` ran on two replicas with a variable that began with `Initial`.
template <class How, int Initial, auto Step, class T = float>
task<per_replica<T>> after(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable<T, How> v(strategy, T(Initial), How());
  co_await strategy.run(Step, v);
  co_return co_await values_of(&strategy, v);
}

float id_of(replica_context ctx) { return static_cast<float>(ctx.replica_id()); }

// -- what each replica has of its own -------------------------------------------------------------

template <class How>
task<float> assign_id(replica_context ctx, variable<float, How> v) {
  co_return co_await v.assign(ctx, id_of(ctx));
}
template <class How>
task<float> add_id(replica_context ctx, variable<float, How> v) {
  co_return co_await v.assign_add(ctx, id_of(ctx));
}

TEST_CASE("core-124 the mean of what the replicas assign is the value") {
  check_in_every_world(after<mean_op, 1, assign_id<mean_op>>, {0.5, 0.5});
}

task<floats> assign_id_to_first(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable<float, first_op> v(strategy, 15.0f);
  co_return co_await strategy.run(assign_id<first_op>, v);
}

TEST_CASE("core-132 with only_first_replica everybody gets replica 0's value") {
  check_in_every_world(assign_id_to_first, {0, 0});
  check_in_every_world(after<first_op, 15, assign_id<first_op>>, {0, 0});
}

template <class How>
task<> assign_both(replica_context ctx, variable<float, How> v) {
  const floats values({2.0f, 2.0f});
  co_await v.assign(ctx, values);
}
template <class How>
task<> add_both(replica_context ctx, variable<float, How> v) {
  const floats values({2.0f, 2.0f});
  co_await v.assign_add(ctx, values);
}
template <class How>
task<> subtract_both(replica_context ctx, variable<float, How> v) {
  const floats values({-2.0f, -2.0f});
  co_await v.assign_sub(ctx, values);
}

template <class How>
void check_both(float wanted) {
  check_in_every_world(after<How, 0, assign_both<How>>, {wanted, wanted});
  check_in_every_world(after<How, 0, add_both<How>>, {wanted, wanted});
  check_in_every_world(after<How, 0, subtract_both<How>>, {wanted, wanted});
}

TEST_CASE("core-133 a per_replica value is aggregated: each replica brings its own component") {
  check_both<sum_op>(4);
  check_both<mean_op>(2);
  check_both<first_op>(2);
}

task<std::string> add_on_replica_0(replica_context ctx, variable<float, sum_op> v) {
  if (ctx.replica_id() == 0) co_await v.assign_add(ctx, 1.0f);
  co_return "added";
}

task<std::pair<std::string, floats>> add_on_replica_0_alone(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable<float, sum_op> v(strategy, 5.0f);
  const std::string end = co_await ending_of(strategy.run(add_on_replica_0, v));
  const floats values = co_await values_of(&strategy, v);
  co_return std::pair(end, values);
}

TEST_CASE("core-146 a write that one replica alone makes is refused, and writes nothing") {
  check_in_every_world(add_on_replica_0_alone, {"TR-101", {5, 5}});
}

// -- what is the same on all ----------------------------------------------------------------------

template <class T, class How, auto Value>
task<> assign_value(replica_context ctx, variable<T, How> v) {
  co_await v.assign(ctx, mirrored(T(Value)));
}
template <class T, class How, auto Value>
task<> add_value(replica_context ctx, variable<T, How> v) {
  co_await v.assign_add(ctx, mirrored(T(Value)));
}

task<floats> add_one_and_drop_it(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 0.0f, aggregation::mean);
  co_await strategy.run(add_value<float, mean_op, 1>, v);
  const float read = co_await v.read();
  co_return floats({read});
}

TEST_CASE("core-064 a write happens also when nobody asks for its result") {
  check_in_every_world(add_one_and_drop_it, {1});
}

TEST_CASE("core-125 the mean of one value for all is that value") {
  check_in_every_world(after<mean_op, 1, assign_value<float, mean_op, 5>>, {5, 5});
}

TEST_CASE("core-126 a mean is added once, of many values and of one for all") {
  check_in_every_world(after<mean_op, 1, add_id<mean_op>>, {1.5, 1.5});
  check_in_every_world(after<mean_op, 1, add_value<float, mean_op, 5>>, {6, 6});
}

TEST_CASE("core-137 an integer whose replicas' mean is taken can be added to") {
  check_in_every_world(after<mean_op, 1, add_value<int, mean_op, 2>, int>, {3, 3});
}

task<std::vector<int>> write_integer_means(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 1, aggregation::mean);
  const variable w(strategy, 3, aggregation::mean);
  std::vector<int> seen;
  const auto note = [&](const per_replica<int>& all) {
    seen.push_back(all[0] == all[1] ? all[0] : -1);
  };
  co_await strategy.run(assign_value<int, mean_op, 2>, v);
  const per_replica<int> by_value = co_await values_of(&strategy, v);
  note(by_value);
  using both = variable<int, mean_op>;
  co_await strategy.run(
      [](replica_context ctx, both to, both from) -> task<> { co_await to.assign(ctx, from); }, v,
      w);
  const per_replica<int> by_variable = co_await values_of(&strategy, v);
  note(by_variable);
  co_await v.assign(4);
  const per_replica<int> outside = co_await values_of(&strategy, v);
  note(outside);
  co_return seen;
}

TEST_CASE("core-136 integers take a mean only where it is one: from a value for all") {
  // v.assign(ctx, ctx.replica_id()) does not compile; tests/compile_fail/programs.cpp has the
  // sentence.
  check_in_every_world(write_integer_means, {2, 3, 4});
}

task<std::int64_t> step_once(replica_context ctx, variable<std::int64_t, first_op> v) {
  co_await v.assign_add(ctx, 1);
  co_return v.read(ctx);
}

task<per_replica<std::int64_t>> count_a_step(runtime& rt) {
  mirrored_strategy strategy(rt, 3);
  const variable<std::int64_t, first_op> v(strategy, 0);
  co_return co_await strategy.run(step_once, v);
}

TEST_CASE("core-141 a step counter is one step further on every replica") {
  check_in_every_world(count_a_step, {1, 1, 1});
}

// -- without an aggregation -----------------------------------------------------------------------

TEST_CASE("core-121 without an aggregation a replica writes to its own component") {
  check_in_every_world(after<no_aggregation, 1, assign_value<float, no_aggregation, 5>>, {5, 5});
}

task<std::pair<floats, bool>> let_components_differ(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 7.0f);
  co_await strategy.run(assign_id<no_aggregation>, v);
  const floats values = co_await values_of(&strategy, v);
  const float read = co_await v.read();
  co_return std::pair(values, read == 0.0f || read == 1.0f);
}

TEST_CASE("core-122 without an aggregation the components may differ, and a read gives one") {
  check_in_every_world(let_components_differ, {{0, 1}, true});
}

// -- what a variable has --------------------------------------------------------------------------

template <class How>
task<> assign_variable(replica_context ctx, variable<float, How> v, variable<float, mean_op> w) {
  co_await v.assign(ctx, w);
}
template <class How>
task<> add_variable(replica_context ctx, variable<float, How> v, variable<float, mean_op> w) {
  co_await v.assign_add(ctx, w);
}
template <class How>
task<> subtract_variable(replica_context ctx, variable<float, How> v, variable<float, mean_op> w) {
  co_await v.assign_sub(ctx, w);
}

/// From 0, three times: 2, then 2 more, then -2 less, each from a variable.
template <class How>
task<std::vector<floats>> write_variables_inside(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable<float, How> v(strategy, 0.0f);
  const variable two(strategy, 2.0f, aggregation::mean);
  const variable less(strategy, -2.0f, aggregation::mean);
  std::vector<floats> seen;
  co_await strategy.run(assign_variable<How>, v, two);
  seen.push_back(co_await values_of(&strategy, v));
  co_await strategy.run(add_variable<How>, v, two);
  seen.push_back(co_await values_of(&strategy, v));
  co_await strategy.run(subtract_variable<How>, v, less);
  seen.push_back(co_await values_of(&strategy, v));
  co_return seen;
}

template <class How>
task<std::vector<floats>> write_variables_outside(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable<float, How> v(strategy, 0.0f);
  const variable two(strategy, 2.0f, aggregation::mean);
  const variable less(strategy, -2.0f, aggregation::mean);
  std::vector<floats> seen;
  co_await v.assign(two);
  seen.push_back(co_await values_of(&strategy, v));
  co_await v.assign_add(two);
  seen.push_back(co_await values_of(&strategy, v));
  co_await v.assign_sub(less);
  seen.push_back(co_await values_of(&strategy, v));
  co_return seen;
}

template <class How>
void check_variables_written() {
  const std::vector<floats> wanted = {{2, 2}, {4, 4}, {6, 6}};
  check_in_every_world(write_variables_inside<How>, wanted);
  check_in_every_world(write_variables_outside<How>, wanted);
}

TEST_CASE("core-134 a variable may be written to another one, in replicas and outside") {
  check_variables_written<no_aggregation>();
  check_variables_written<mean_op>();
  check_variables_written<first_op>();
}

}  // namespace
}  // namespace troupe::test
