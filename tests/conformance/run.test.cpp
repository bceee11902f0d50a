// What run() gives each replica, and what it makes of their results.

#include <asio/io_context.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <concepts>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;
using numbers = per_replica<double>;
using texts = per_replica<std::string>;

int id_of(replica_context ctx) { return ctx.replica_id(); }
double square(double x) { return x * x; }
double twice(double x) { return 2 * x; }

template <int N>
task<ints> ids_of(runtime& rt) {
  mirrored_strategy strategy(rt, N);
  co_return co_await strategy.run(id_of);
}

TEST_CASE("core-038 a function runs once on every replica, and results are in replica order") {
  check_in_every_world(ids_of<2>, {0, 1});
}

TEST_CASE("core-069 three replicas are numbered 0, 1 and 2") {
  check_in_every_world(ids_of<3>, {0, 1, 2});
}

// -- arguments ------------------------------------------------------------------------------------

using three_results = std::tuple<ints, std::pair<ints, ints>, ints>;

task<three_results> chain_of_runs(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto first = co_await strategy.run([](replica_context c) { return c.replica_id() + 1; });
  const auto second = co_await strategy.run([](int x) { return std::pair(2 * x, x * x); }, first);
  const auto third = co_await strategy.run([](int b, int a) { return a + 2 * b + 2; },
                                           second.second, second.first);
  co_return three_results(first, second, third);
}

TEST_CASE("core-034 what one run returns is the argument of the next") {
  // TensorFlow's keyword arguments are plain parameters here, its dictionaries pairs.
  check_in_every_world(chain_of_runs, three_results({1, 2}, {ints({2, 4}), ints({1, 4})}, {6, 14}));
}

using local_results = std::vector<double>;

task<std::vector<local_results>> square_everywhere(runtime& rt) {
  mirrored_strategy one(rt, 1);
  mirrored_strategy two(rt, 2);
  const auto of_default = co_await get_strategy().run(square, 2.0);
  const auto of_one = co_await one.run(square, 2.0);
  const auto of_two = co_await two.run(square, 2.0);
  std::vector<local_results> all;
  all.push_back(get_strategy().experimental_local_results(of_default));
  all.push_back(one.experimental_local_results(of_one));
  all.push_back(two.experimental_local_results(of_two));
  co_return all;
}

TEST_CASE("core-036 a plain argument goes to every replica, and each has a result") {
  check_in_every_world(square_everywhere, {{4.0}, {4.0}, {4.0, 4.0}});
}

task<per_replica<float>> scale(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const per_replica<float> factors = {5, 3};
  co_return co_await strategy.run([](float f) { return f * 1.25f; }, factors);
}

TEST_CASE("core-037 a per_replica argument gives each replica its component") {
  check_in_every_world(scale, {6.25f, 3.75f});
}

using batch = std::vector<double>;
using sizes = per_replica<std::size_t>;

double mean_of(batch x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

task<std::pair<sizes, numbers>> sizes_and_means(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const per_replica<batch> x = {{5, 6}, {7}};
  const auto size = co_await strategy.run([](batch b) { return b.size(); }, x);
  const auto mean = co_await strategy.run(mean_of, x);
  co_return std::pair(size, mean);
}

TEST_CASE("core-065 components may differ in length") {
  check_in_every_world(sizes_and_means, {sizes({2, 1}), numbers({5.5, 7.0})});
}

using nest = std::map<std::string, std::tuple<ints, int>>;
using part = std::map<std::string, std::tuple<int, int>>;

std::string show(part mine) {
  const auto& [component, shared] = mine.at("k");
  return std::to_string(component) + ", " + std::to_string(shared);
}

task<texts> take_apart(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const nest argument = {{"k", std::tuple<ints, int>({1, 2}, 7)}};
  co_return co_await strategy.run(show, argument);
}

TEST_CASE("core-068 an argument is taken apart at any depth") {
  check_in_every_world(take_apart, {"1, 7", "2, 7"});
}

task<std::pair<ints, ints>> pass_to_one(runtime& rt) {
  mirrored_strategy strategy(rt, 1);
  const ints argument = {5};
  const auto of_one = co_await strategy.run([](int mine) { return mine; }, argument);
  const auto of_default = co_await get_strategy().run([](int mine) { return mine; }, argument);
  co_return std::pair(of_one, of_default);
}

TEST_CASE("core-070 a single replica is given its component, too") {
  // TensorFlow's strategies of one device pass arguments on untouched. What a function is given
  // must not depend on the number of replicas: its parameters are types.
  check_in_every_world(pass_to_one, {ints({5}), ints({5})});
}

// -- results --------------------------------------------------------------------------------------

// Three levels of structure, with text in the leaves. The list inside holds texts and a map, so
// that it is a tuple here.
template <class Leaf>
using levels = std::tuple<Leaf, std::tuple<Leaf, std::map<std::string, Leaf>, Leaf>, Leaf>;

levels<std::string> level(const std::string& i) {
  return {"a" + i, {"b" + i, {{"c", "d" + i}, {"e", "f" + i}}, "g" + i}, "h" + i};
}

const levels<texts> regrouped_levels = {
    {"a1", "a2"},
    {{"b1", "b2"}, {{"c", {"d1", "d2"}}, {"e", {"f1", "f2"}}}, {"g1", "g2"}},
    {"h1", "h2"}};

TEST_CASE("core-040 nested results are regrouped leaf by leaf") {
  CHECK(regroup(per_replica<levels<std::string>>({level("1"), level("2")})) == regrouped_levels);
}

TEST_CASE("core-041 selecting a replica from what was regrouped gives back what it brought") {
  CHECK(select_replica(0, regrouped_levels) == level("1"));
  CHECK(select_replica(1, regrouped_levels) == level("2"));
}

TEST_CASE("core-044 a tuple from each replica becomes one tuple") {
  using row = std::tuple<std::string, std::string>;
  const auto whole = regroup(per_replica<row>({row("1", "2"), row("3", "4")}));
  CHECK(whole == std::tuple(texts({"1", "3"}), texts({"2", "4"})));
}

task<std::string> regroup_what_differs(runtime* rt, std::vector<std::string> (*fn)(int)) {
  mirrored_strategy strategy(*rt, 2);
  const auto own = [fn](replica_context ctx) { return fn(ctx.replica_id()); };
  co_return co_await ending_of(strategy.run(own));
}

TEST_CASE("core-049 lists of different length are an error of the run") {
  // A list of numbers would be one value, a tensor, and may have any length.
  const auto of_length_id = [](runtime& rt) {
    return regroup_what_differs(
        &rt, [](int id) { return std::vector<std::string>(static_cast<std::size_t>(id), "x"); });
  };
  check_in_every_world(of_length_id, "TR-305");
}

using dictionary = std::map<std::string, int>;

dictionary under_another_key(replica_context ctx) {
  return {{ctx.replica_id() == 0 ? "a" : "b", 1}};
}

task<std::string> merge_other_keys(replica_context ctx) {
  const auto ignore = [](const std::map<std::string, ints>&) {};
  co_return co_await ending_of(ctx.merge_call(ignore, under_another_key(ctx)));
}

task<std::pair<std::string, texts>> regroup_other_keys(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const std::string of_run = co_await ending_of(strategy.run(under_another_key));
  const texts of_merge = co_await strategy.run(merge_other_keys);
  co_return std::pair(of_run, of_merge);
}

TEST_CASE("core-052 maps of different keys are an error of the run, and of a merge") {
  // That one replica returns a list and another one a tuple is impossible: they return one type.
  check_in_every_world(regroup_other_keys, {"TR-305", texts({"TR-305", "TR-305"})});
}

void count_one(std::atomic<int>* calls) { ++*calls; }

task<int> run_for_nothing(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  std::atomic<int> calls{0};
  co_await strategy.run(count_one, &calls);
  co_return calls.load();
}

TEST_CASE("core-050 a function that returns nothing makes a run that returns nothing") {
  using run_of_nothing = decltype(get_strategy().run(count_one, nullptr));
  STATIC_CHECK(std::is_void_v<run_of_nothing::value_type>);
  check_in_every_world(run_for_nothing, 2);
}

task<double> merge_for_nothing(replica_context ctx) {
  co_await ctx.merge_call([] {});
  co_return 0.0;
}

task<numbers> return_a_literal(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(merge_for_nothing);
}

TEST_CASE("core-053 equal results of all replicas stay one for each") {
  // TensorFlow returns one plain value when all replicas return the identical object. A type
  // cannot depend on that: the result is a per_replica whatever the values are.
  check_in_every_world(return_a_literal, {0.0, 0.0});
}

using row = std::vector<int>;
template <class Leaf>
using neighbours = std::vector<std::map<std::string, Leaf>>;

neighbours<row> around(row x) {
  const std::map<std::string, row> both = {{"a", {x[0] - 1}}, {"b", {x[0] + 1}}};
  return {both};
}

task<neighbours<per_replica<row>>> nested_output(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const per_replica<row> x = {{0}, {1}};
  co_return co_await strategy.run(around, x);
}

TEST_CASE("core-054 a list of maps comes home as a list of maps of per_replicas") {
  const per_replica<row> below = {{-1}, {0}};
  const per_replica<row> above = {{1}, {2}};
  check_in_every_world(nested_output, {{{"a", below}, {"b", above}}});
}

task<numbers> run_on_one(runtime& rt) {
  mirrored_strategy strategy(rt, 1);
  co_return co_await strategy.run(twice, 3.0);
}

TEST_CASE("core-062 one replica gives a per_replica of one") {
  // TensorFlow gives the plain value. The type follows from the function alone here, so that a
  // program means the same with one replica as with many.
  check_in_every_world(run_on_one, {6.0});
}

TEST_CASE("core-098 local results of a structure are the one structure") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 2);
  const std::map<std::string, ints> both = {{"a", {1, 2}}, {"b", {2, 3}}};
  CHECK(strategy.experimental_local_results(both) == std::vector({both}));
}

task<double> add_up_steps(runtime& rt) {
  mirrored_strategy strategy(rt, 1);
  double total = 0;
  for (int i = 0; i < 10; ++i) {
    const auto result = co_await strategy.run(twice, static_cast<double>(i));
    total += strategy.reduce(reduce_op::sum, result);
  }
  co_return total;
}

TEST_CASE("core-238 a strategy of one device runs a step for each element") {
  check_in_every_world(add_up_steps, 90.0);
}

}  // namespace
}  // namespace troupe::test
