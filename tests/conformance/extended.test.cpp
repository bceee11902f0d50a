// Updates of variables, destinations, owners, and what a strategy says about itself.
//
// What the model refuses when it is called, an update of what is no variable or a destination
// that is none, does not compile here: tests/compile_fail.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/conformance/strategies.hpp"
#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using numbers = per_replica<float>;
using texts = std::vector<std::string>;

// -- update() -------------------------------------------------------------------------------------

float assign_one(float& component) { return component = 1; }

task<std::pair<numbers, numbers>> update_to_one(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 5.0f, aggregation::sum);
  const numbers returned = co_await strategy.extended().update(v, assign_one);
  const numbers components = co_await v.components();
  co_return std::pair(returned, components);
}

TEST_CASE("core-180 an update writes each component as it is, and returns what the calls did") {
  check_in_every_world(update_to_one, {{1, 1}, {1, 1}});
}

/// Whether the function is given the component itself and the object that was passed.
struct checks_arguments {
  template <class Component, class Argument>
  bool operator()(Component&, const Argument& argument) const {
    return std::same_as<Component, float> && std::same_as<Argument, std::shared_ptr<int>> &&
           argument == expected;
  }
  std::shared_ptr<int> expected;
};

task<bool> update_with_object(const strategy& s) {
  const variable v(s, 1.0f, aggregation::mean);
  auto object = std::make_shared<int>(3);
  checks_arguments checks;
  checks.expected = object;
  const per_replica<bool> all = co_await s.extended().update(v, std::move(checks), object);
  bool good = true;
  for (const bool each : all) good = good && each;
  co_return good;
}

task<bool> update_with_object_everywhere(runtime& rt) {
  every_strategy strategies(rt);
  co_return co_await assert_equivalent(strategies.all(), update_with_object);
}

TEST_CASE("core-181 an update function gets the component and the very objects that were passed") {
  check_in_every_world(update_with_object_everywhere, true);
}

/// Where an update function is, and a write of it to another variable.
std::string look_and_add(update_context ctx, float&, variable<float, sum_op> other) {
  other.component(ctx) += 1;
  std::string text = in_cross_replica_context() ? "cross-replica" : "a replica";
  text += get_replica_context() ? ", with a context" : ", without context";
  return text + ", for " + std::to_string(get_update_context()->replica_id()) + " and " +
         std::to_string(ctx.replica_id());
}

/// A variable as an argument is its component: a handle to write with is in the function.
struct writes_other {
  std::string operator()(update_context ctx, float& component) const {
    return look_and_add(ctx, component, other);
  }
  variable<float, sum_op> other;
};

task<std::pair<per_replica<std::string>, numbers>> update_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 0.0f, aggregation::mean);
  const variable w(strategy, 1.0f, aggregation::sum);
  writes_other fn{w};
  const per_replica<std::string> seen = co_await strategy.extended().update(v, std::move(fn));
  const numbers components = co_await w.components();
  co_return std::pair(seen, components);
}

TEST_CASE("core-182 an update function is in cross-replica context, for one replica's components") {
  check_in_every_world(update_two, {{"cross-replica, without context, for 0 and 0",
                                     "cross-replica, without context, for 1 and 1"},
                                    {2, 2}});
}

void add(float& component, float value) { component += value; }
void add_scaled(float& component, float a, float b) { component += a * b; }

task<std::vector<numbers>> update_with_values(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 1.0f);
  const variable w(strategy, 10.0f);
  const numbers different = {1, 2};
  std::vector<numbers> all;
  co_await strategy.extended().update(v, add, different);
  all.push_back(co_await v.components());
  // The model's value of two components that is called mirrored is such a one here; what is
  // mirrored by type is one value.
  co_await strategy.extended().update(v, add, mirrored(5.0f));
  all.push_back(co_await v.components());
  co_await strategy.extended().update(w, add_scaled, v, different);
  all.push_back(co_await w.components());
  co_return all;
}

TEST_CASE("core-184 of an argument with components each component gets its own") {
  check_in_every_world(update_with_values, {{2, 3}, {7, 8}, {17, 26}});
}

std::map<std::string, float> both_of(update_context ctx, float& component) {
  const auto id = static_cast<float>(ctx.replica_id());
  return {{"id", id}, {"value", component}};
}
float id_of(update_context ctx, float&) { return static_cast<float>(ctx.replica_id()); }
void nothing_of(float&) {}

using grouped = std::pair<numbers, std::map<std::string, numbers>>;

task<grouped> update_ungrouped(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 3.0f);
  const numbers values = co_await strategy.extended().update(v, id_of);
  const std::map<std::string, numbers> maps = co_await strategy.extended().update(v, both_of);
  co_await strategy.extended().update(v, nothing_of);
  co_return grouped(values, maps);
}

TEST_CASE("core-186 what the calls return is one for each, leaf by leaf; nothing stays nothing") {
  // The model groups them into one value unless it is told not to. Here a call has ended when
  // the update has, and there is nothing to group for.
  check_in_every_world(update_ungrouped, {{0, 1}, {{"id", {0, 1}}, {"value", {3, 3}}}});
}

// -- destinations ---------------------------------------------------------------------------------

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
  variable<float> v{strategy, 3.0f};
  strategy_extended extended = strategy.extended();
  const strategy_extended of_default = get_default_strategy().extended();
};

template <class Op>
concept reduces_to_device =
    requires(const strategy_extended& extended, Op op) { extended.reduce_to(op, 1.0f, "cpu:0"); };

TEST_CASE_METHOD(fixture, "core-190 an operation is a type, and so is a destination") {
  STATIC_CHECK(reduces_to_device<sum_op>);
  STATIC_CHECK_FALSE(reduces_to_device<const char*>);
  STATIC_CHECK(destination<const char*>);
  STATIC_CHECK(destination<variable<float>>);
  STATIC_CHECK(destination<numbers>);
  STATIC_CHECK_FALSE(destination<texts>);
  STATIC_CHECK_FALSE(destination<int>);
}

TEST_CASE_METHOD(fixture,
                 "core-192 a value is broadcast to a variable's replicas, or to a device") {
  // Numbers of the host are no kind of their own here. The default strategy broadcasts, too.
  CHECK(extended.broadcast_to(3, v) == mirrored(3));
  CHECK(extended.broadcast_to(tensor<float>::scalar(1), v) == mirrored(tensor<float>::scalar(1)));
  CHECK(extended.broadcast_to(1.5f, "cpu:1") == 1.5f);
  CHECK(of_default.broadcast_to(1.5f, "cpu:0") == 1.5f);
}

TEST_CASE_METHOD(fixture, "core-221 the mean of a mirrored variable is a value and no variable") {
  const mirrored<float> mean = block_on(rt, extended.reduce_to(reduce_op::mean, v, v));
  CHECK(mean == mirrored(3.0f));
  CHECK(block_on(rt, extended.reduce_to(reduce_op::mean, v, "cpu:1")) == 3);
  CHECK(block_on(rt, strategy.reduce(reduce_op::mean, v)) == 3);
}

// -- variables and their strategies ---------------------------------------------------------------

TEST_CASE_METHOD(fixture, "core-024 a strategy knows its own variables from those of others") {
  const variable outside(get_default_strategy(), 1.0f);
  CHECK(of_default.variable_created_in_scope(outside));
  CHECK_FALSE(of_default.variable_created_in_scope(v));
  CHECK(extended.variable_created_in_scope(v));
  CHECK_FALSE(extended.variable_created_in_scope(outside));
}

TEST_CASE_METHOD(fixture, "core-025 variables are colocated inside of the strategy only") {
  CHECK(is(thrown_by([&] { const auto here = extended.colocate_vars_with(v); }),
           errc::scope_required));
  const auto in = strategy.scope();
  const auto here = extended.colocate_vars_with(v);
  const variable beside(strategy, 1.0f);
  CHECK(extended.variable_created_in_scope(beside));
}

TEST_CASE_METHOD(fixture, "core-026 variables are colocated with the strategy's own only") {
  // With a list of devices it does not compile: tests/compile_fail.
  const variable outside(get_default_strategy(), 1.0f);
  const auto in = strategy.scope();
  CHECK(is(thrown_by([&] { const auto here = extended.colocate_vars_with(outside); }),
           errc::strategy_mixed));
}

task<std::pair<float, float>> read_both(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const variable v(strategy, 3.0f);
  const sync_on_read_variable total(strategy, 1.0f);
  const float one = co_await strategy.extended().read_var(v);
  const float sum = co_await strategy.extended().read_var(total);
  co_return std::pair(one, sum);
}

TEST_CASE(
    "core-193 read_var gives a mirrored variable's value, and the sum of a synchronised one") {
  check_in_every_world(read_both, {3.0f, 2.0f});
}

// -- what a strategy is ---------------------------------------------------------------------------

texts devices(std::initializer_list<int> numbers_of) {
  texts all;
  for (const int each : numbers_of) all.push_back(canonical_device("cpu:" + std::to_string(each)));
  return all;
}

TEST_CASE_METHOD(fixture, "core-188 state beside variables lives where the variables do") {
  // The model names a variable where there is one copy. Here a device is a device.
  const one_device_strategy one(rt, "cpu:3");
  const central_storage_strategy central(rt, {"cpu:0", "cpu:1"}, "cpu:7");
  CHECK(extended.non_slot_devices() == strategy.worker_devices());
  CHECK(extended.non_slot_devices(std::vector{v, v}) == devices({0, 1}));
  CHECK(one.extended().non_slot_devices() == devices({3}));
  CHECK(central.extended().non_slot_devices() == devices({7}));
  CHECK(of_default.non_slot_devices() == devices({0}));
}

TEST_CASE_METHOD(fixture, "core-194 a strategy of one process initialises and saves by itself") {
  // The model's default strategy refuses to say whether it initialises. Here it does as all.
  STATIC_CHECK_FALSE(strategy_extended::experimental_between_graph());
  STATIC_CHECK_FALSE(strategy_extended::experimental_require_static_shapes());
  STATIC_CHECK(strategy_extended::experimental_should_init());
  CHECK(extended.should_checkpoint());
  CHECK(extended.should_save_summary());
  CHECK(of_default.should_checkpoint());
}

TEST_CASE_METHOD(fixture, "core-030 no strategy has a cluster to ask") {
  const every_strategy strategies(rt);
  for (const auto* each : strategies.all()) CHECK(each->cluster_resolver() == nullptr);
}

}  // namespace
}  // namespace troupe::test
