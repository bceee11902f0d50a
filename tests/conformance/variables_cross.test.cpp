// Mirrored variables in cross-replica context: reads, writes, and what is refused.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

using floats = per_replica<float>;
using numbers = std::vector<float>;

/// The components, if they are alike, as one number.
task<float> value_of(const strategy* on, variable<float> v) {
  const floats all = co_await values_of(on, v);
  co_return !all.empty() && all_alike(all) ? all[0] : -1.0f;
}

// -- writes ---------------------------------------------------------------------------------------

task<numbers> assign_six(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto in = strategy.scope();
  const variable v(strategy, 1.0f);
  const float returned = co_await v.assign(6.0f);
  const float read = co_await v.read();
  const float everywhere = co_await value_of(&strategy, v);
  co_return numbers({returned, read, everywhere});
}

TEST_CASE("core-128 an assigned value is returned, read, and in every component") {
  check_in_every_world(assign_six, {6, 6, 6});
}

task<numbers> add_twice(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto in = strategy.scope();
  const variable v(strategy, 1.0f);
  const float returned = co_await v.assign_add(6.0f);
  const float first = co_await value_of(&strategy, v);
  co_await v.assign_add(2.0f);
  const float second = co_await value_of(&strategy, v);
  co_return numbers({returned, first, second});
}

TEST_CASE("core-129 an addition reaches every component once, whoever asks for its result") {
  check_in_every_world(add_twice, {7, 7, 9});
}

task<numbers> subtract_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto in = strategy.scope();
  const variable v(strategy, 5.0f);
  const float returned = co_await v.assign_sub(2.0f);
  const float everywhere = co_await value_of(&strategy, v);
  co_return numbers({returned, everywhere});
}

TEST_CASE("core-130 a subtraction reaches every component") {
  check_in_every_world(subtract_two, {3, 3});
}

task<numbers> assign_outside(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 1.0f);
  co_await v.assign(3.0f);
  const float read = co_await v.read();
  const float everywhere = co_await value_of(&strategy, v);
  co_return numbers({read, everywhere});
}

TEST_CASE("core-138 a variable may be written and read outside of every scope") {
  check_in_every_world(assign_outside, {3, 3});
}

task<float> add_in_merge(cross_replica_context, per_replica<int>, variable<float, sum_op> v) {
  co_return co_await v.assign_add(1.0f);
}

task<float> merge_and_add(replica_context ctx, variable<float, sum_op> v) {
  const float seen = co_await ctx.merge_call(add_in_merge, 0, v);
  co_return seen == v.read(ctx) ? seen : -1.0f;
}

task<floats> write_in_a_merge_function(runtime& rt) {
  mirrored_strategy strategy(rt, 3);
  const variable v(strategy, 1.0f, aggregation::sum);
  co_return co_await strategy.run(merge_and_add, v);
}

TEST_CASE("a merge function writes as its strategy's scope does: once, whatever the aggregation") {
  check_in_every_world(write_in_a_merge_function, {2, 2, 2});
}

// -- values ---------------------------------------------------------------------------------------

float one_more(replica_context ctx, variable<float> v) { return v.read(ctx) + 1; }

task<std::pair<float, floats>> calculate_with_it(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 1.0f);
  const float outside = co_await v.read();
  const floats inside = co_await strategy.run(one_more, v);
  co_return std::pair(outside + 1, inside);
}

TEST_CASE("core-140 what is read can be calculated with, in replicas and outside") {
  check_in_every_world(calculate_with_it, {2, {2, 2}});
}

void put(float& component, float value) { component = value; }

task<floats> give_each_its_own(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 0.0f);
  const floats values({1.0f, 2.0f});
  co_await strategy.extended().update(v, put, values);
  co_return co_await values_of(&strategy, v);
}

TEST_CASE("core-144 components are not made to differ by an assignment, but by an update") {
  // v.assign(per_replica) does not compile; tests/compile_fail/programs.cpp has the sentence.
  check_in_every_world(give_each_its_own, {1, 2});
}

// -- other strategies -----------------------------------------------------------------------------

using texts = std::vector<std::string>;

task<texts> use_in_another_scope(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  mirrored_strategy other(rt, 2);
  const variable v(strategy, 1.0f);
  const auto in = other.scope();
  const std::string read = co_await ending_of(v.read());
  const std::string assigned = co_await ending_of(v.assign(2.0f));
  const std::string added = co_await ending_of(v.assign_add(2.0f));
  const std::string seen = co_await ending_of(v.components());
  co_return texts({read, assigned, added, seen});
}

task<std::string> read_and_assign(replica_context ctx, variable<float, mean_op> v) {
  const std::string read = ending(thrown_by([&] { return v.read(ctx); }));
  const std::string assigned = co_await ending_of(v.assign(ctx, 2.0f));
  co_return read + ", " + assigned;
}

task<std::pair<per_replica<std::string>, float>> use_in_another_run(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  mirrored_strategy other(rt, 2);
  const variable v(strategy, 1.0f, aggregation::mean);
  const per_replica<std::string> ends = co_await other.run(read_and_assign, v);
  const float still = co_await v.read();
  co_return std::pair(ends, still);
}

TEST_CASE("core-148 a variable is refused in the contexts of another strategy") {
  check_in_every_world(use_in_another_scope, {"TR-204", "TR-204", "TR-204", "TR-204"});
  check_in_every_world(use_in_another_run, {{"TR-204, TR-204", "TR-204, TR-204"}, 1});
}

}  // namespace
}  // namespace troupe::test
