// Making variables: outside runs, in scopes, and by all replicas of a run together.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

using floats = per_replica<float>;
using texts = std::vector<std::string>;
using meaned = variable<float, mean_op>;
using plain = variable<float>;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
  mirrored_strategy single{rt, 1};
};

// -- outside runs ---------------------------------------------------------------------------------

task<floats> make_in_a_scope(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto in = strategy.scope();
  const plain one(strategy, 1.0f);
  co_return co_await values_of(&strategy, one);
}

TEST_CASE_METHOD(fixture, "core-102 a variable has a component for each device, and a name") {
  check_in_every_world(make_in_a_scope, {1, 1});
  const auto in = strategy.scope();
  const plain one(strategy, 1.0f);
  CHECK(one.name() == "Variable");
  CHECK(&one.strategy() == &strategy);
  CHECK(block_on(rt, one.components()).size() == strategy.worker_devices().size());
}

TEST_CASE("core-109 a canonical name is without the numbers that tell repetitions apart") {
  CHECK(canonical_variable_name("") == "Variable");
  CHECK(canonical_variable_name("foo_1/bar_1/baz") == "foo/bar/baz");
  CHECK(canonical_variable_name("foo_1") == "foo");
  for (const char* whole : {"foo_1:0", "foo1", "foo_a", "foo_12", "foo"}) {
    CHECK(canonical_variable_name(whole) == whole);
  }
}

TEST_CASE("core-113 what is no aggregation does not compile") {
  // TensorFlow refuses the text "invalid" when it meets it. Here an aggregation is a type, and a
  // synchronization the class; tests/compile_fail/programs.cpp has the sentence.
  STATIC_CHECK(aggregates<mean_op, float>);
  STATIC_CHECK_FALSE(aggregates<std::string, float>);
  STATIC_CHECK_FALSE(aggregates<sum_op, std::string>);
  STATIC_CHECK(aggregates<no_aggregation, std::string>);
}

TEST_CASE_METHOD(fixture, "core-114 a variable is trainable unless it is synchronised on read") {
  const auto options = [](bool trainable) { return variable_options().trainable(trainable); };
  CHECK(plain(strategy, 1.0f).trainable());
  CHECK_FALSE(plain(strategy, 1.0f, aggregation::none, options(false)).trainable());
  using on_read = sync_on_read_variable<float>;
  for (const troupe::strategy* any :
       {static_cast<troupe::strategy*>(&strategy), static_cast<troupe::strategy*>(&single)}) {
    CHECK_FALSE(on_read(*any, 1.0f).trainable());
    CHECK(on_read(*any, 1.0f, aggregation::sum, options(true)).trainable());
    CHECK_FALSE(on_read(*any, 1.0f, aggregation::sum, options(false)).trainable());
  }
}

TEST_CASE_METHOD(fixture, "core-116 both kinds of variables know their strategy") {
  CHECK(&plain(strategy, 1.0f).strategy() == &strategy);
  CHECK(&sync_on_read_variable<float>(strategy, 1.0f).strategy() == &strategy);
}

// -- handles --------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "core-048 handles on one variable regroup to that variable") {
  const plain two(strategy, 1.0f);
  CHECK(regroup(per_replica<plain>({two, two})) == two);
  const plain one(single, 1.0f);
  CHECK(regroup(per_replica<plain>({one})) == one);
  CHECK(is(thrown_by([&] { return regroup(per_replica<plain>({one, two})); }),
           errc::structure_mismatch));
}

task<bool> pass_through(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const meaned weight(strategy, 1.0f);
  const meaned same = co_await strategy.run([](meaned v) { return v; }, weight);
  co_return same == weight;
}

TEST_CASE("core-066 a run takes a variable as it is, and gives it back") {
  check_in_every_world(pass_through, true);
}

// -- in runs --------------------------------------------------------------------------------------

auto make(replica_context ctx, std::string name) {
  return create_variable(ctx, 1.0f, aggregation::none, variable_options(std::move(name)));
}

using five = std::tuple<plain, plain, plain, plain, plain>;

task<five> make_five(replica_context ctx) {
  const plain a = co_await make(ctx, "foo0");
  const plain b = co_await make(ctx, "foo1");
  const plain c = co_await make(ctx, "foo2");
  const plain d = co_await make(ctx, "foo3");
  const plain e = co_await make(ctx, "foo4");
  co_return five(a, b, c, d, e);
}

/// The names, if no two of the variables are one.
template <class... V>
texts names_if_distinct(const std::tuple<V...>& all) {
  return std::apply(
      [](const auto&... v) {
        int same = 0;
        const auto count = [&](const auto& each) { same += ((each == v ? 1 : 0) + ...); };
        (count(v), ...);
        return same == sizeof...(V) ? texts{v.name()...} : texts{"some are the same"};
      },
      all);
}

task<texts> names_of_five(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const five all = co_await strategy.run(make_five);
  co_return names_if_distinct(all);
}

TEST_CASE("core-104 five variables made in a run are five, in order") {
  check_in_every_world(names_of_five, {"foo0", "foo1", "foo2", "foo3", "foo4"});
}

using four = std::tuple<plain, plain, plain, plain>;

task<four> make_four(replica_context ctx) {
  const plain a = co_await make(ctx, "foo/bar");
  const plain b = co_await make(ctx, "foo_1/bar");
  const plain c = co_await make(ctx, "foo_1/bar_1");
  const plain d = co_await make(ctx, "foo/bar_1");
  co_return four(a, b, c, d);
}

task<texts> names_of_four(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const four all = co_await strategy.run(make_four);
  co_return names_if_distinct(all);
}

TEST_CASE("core-105 variables of one canonical name are as many as were made") {
  check_in_every_world(names_of_four, {"foo/bar", "foo_1/bar", "foo_1/bar_1", "foo/bar_1"});
}

task<plain> make_by_id(replica_context ctx) {
  co_return co_await make(ctx, "foo_" + std::to_string(ctx.replica_id()));
}

task<std::string> name_by_id(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const plain one = co_await strategy.run(make_by_id);
  co_return one.name();
}

TEST_CASE("core-106 names that differ in their number make one variable, named by replica 0") {
  check_in_every_world(name_by_id, "foo_0");
}

/// A struct that nobody describes is a leaf: run() does not ask whether the variables are one.
struct wrapped {
  plain made;

  friend bool operator==(const wrapped&, const wrapped&) = default;
};

task<wrapped> make_wrapped(replica_context ctx) {
  const auto initial = static_cast<float>(10 + ctx.replica_id());
  const plain made = co_await create_variable(ctx, initial, aggregation::none, "foo");
  const wrapped whole{made};
  co_return whole;
}

task<std::pair<bool, floats>> make_shared_by_three(runtime& rt) {
  mirrored_strategy strategy(rt, 3);
  const per_replica<wrapped> got = co_await strategy.run(make_wrapped);
  const floats values = co_await values_of(&strategy, got[0].made);
  co_return std::pair(got[0] == got[1] && got[0] == got[2], values);
}

TEST_CASE("core-108 all replicas get replica 0's variable, with its initial value") {
  check_in_every_world(make_shared_by_three, {true, {10, 10, 10}});
}

task<std::string> make_one_more_on_replica(replica_context ctx, int which) {
  co_await make(ctx, "foo");
  if (ctx.replica_id() == which) co_await make(ctx, "bar");
  co_return "made";
}

task<texts> replicas_that_make_more(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  texts ends;
  for (int which = 0; which < 2; ++which) {
    const std::string end = co_await ending_of(strategy.run(make_one_more_on_replica, which));
    ends.push_back(end);
  }
  co_return ends;
}

TEST_CASE("a replica that makes more variables than the others is TR-101, replica 0 too") {
  check_in_every_world(replicas_that_make_more, {"TR-101", "TR-101"});
}

task<meaned> make_second_of_first(replica_context ctx) {
  const auto w = co_await create_variable(ctx, 0.0f, aggregation::mean, "w");
  const meaned v = co_await create_variable(ctx, w.read(ctx), aggregation::mean, "v");
  co_return v;
}

task<float> add_two(replica_context ctx, meaned v) {
  co_return co_await v.assign_add(ctx, mirrored(2.0f));
}

task<std::pair<floats, floats>> add_to_second(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const meaned v = co_await strategy.run(make_second_of_first);
  co_await v.assign_add(2.0f);
  const floats outside = co_await values_of(&strategy, v);
  const floats inside = co_await strategy.run(add_two, v);
  co_return std::pair(outside, inside);
}

TEST_CASE("core-117 a variable made of another one's value is written as any other") {
  check_in_every_world(add_to_second, {{2, 2}, {4, 4}});
}

void nothing(cross_replica_context, const per_replica<int>&) {}

task<plain> merge_after_making(replica_context ctx) {
  const plain made = co_await make(ctx, "foo");
  co_await ctx.merge_call(nothing, 0);
  co_return made;
}

task<std::pair<std::string, floats>> merge_after_making_on_three(runtime& rt) {
  mirrored_strategy strategy(rt, 3);
  const plain made = co_await strategy.run(merge_after_making);
  const floats values = co_await values_of(&strategy, made);
  co_return std::pair(made.name(), values);
}

TEST_CASE("core-072 a merge may follow the making of a variable, which the run returns") {
  check_in_every_world(merge_after_making_on_three, {"foo", {1, 1, 1}});
}

}  // namespace
}  // namespace troupe::test
