// all_reduce and all_gather under every schedule: what comes out has the same bits always.

#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <map>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using row = std::vector<double>;
using leaves = std::tuple<int, row>;

/// The model's own example: {1, [40, 1]} and {3, [2, 98]}.
leaves leaves_of(int replica) {
  if (replica == 0) return {1, {40, 1}};
  return {3, {2, 98}};
}

template <class Op>
task<std::tuple<double, row>> reduce_leaves(replica_context ctx) {
  const auto both = co_await ctx.all_reduce(Op(), leaves_of(ctx.replica_id()));
  co_return std::tuple<double, row>(std::get<0>(both), std::get<1>(both));
}

template <class Op>
task<> reduce_in_world(world& w, double one, row two) {
  mirrored_strategy strategy(w.runtime(), 2);
  const auto got = co_await strategy.run(reduce_leaves<Op>);
  const auto& [first, second] = got;
  for (const double each : first) w.check(each == one, "the number");
  for (const row& each : second) w.check(each == two, "the range");
}

TEST_CASE("core-216 a tuple is summed leaf by leaf under every schedule") {
  explore_all([](world& w) { return reduce_in_world<sum_op>(w, 4, {42, 99}); });
}

TEST_CASE("core-216 a tuple is averaged leaf by leaf under every schedule") {
  explore_all([](world& w) { return reduce_in_world<mean_op>(w, 2, {21, 49.5}); });
}

task<std::pair<int, int>> reduce_pair(replica_context ctx) {
  co_return co_await ctx.all_reduce(reduce_op::sum, std::pair(1, ctx.replica_id()));
}

TEST_CASE("a pair is reduced leaf by leaf under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto got = co_await strategy.run(reduce_pair);
    w.check(got.first[2] == 3 && got.second[0] == 3, "both sums");
  });
}

using nest = std::tuple<std::pair<int, float>, std::tuple<int>>;

task<nest> reduce_nest(replica_context ctx) {
  const nest mine(std::pair(1, 0.5f), std::tuple(ctx.replica_id()));
  co_return co_await ctx.all_reduce(reduce_op::sum, mine);
}

TEST_CASE("nested tuples are reduced leaf by leaf under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const auto got = co_await strategy.run(reduce_nest);
    const bool first = select_replica(0, got) == nest(std::pair(2, 1.0f), std::tuple(1));
    w.check(first, "all leaves");
  });
}

using dictionary = std::map<std::string, std::vector<tensor<int>>>;

task<dictionary> reduce_dictionary(replica_context ctx) {
  const tensor<int> mine({2}, ctx.replica_id() + 1);
  const dictionary all = {{"a", {mine, tensor<int>::scalar(10)}}, {"b", {}}};
  co_return co_await ctx.all_reduce(reduce_op::sum, all);
}

TEST_CASE("maps and vectors of tensors are reduced leaf by leaf under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const auto got = co_await strategy.run(reduce_dictionary);
    const dictionary sums = {{"a", {tensor<int>({2}, 3), tensor<int>::scalar(20)}}, {"b", {}}};
    const bool first = select_replica(0, got) == sums;
    const bool second = select_replica(1, got) == sums;
    w.check(first && second, "all leaves");
  });
}

using lists = std::vector<std::vector<tensor<int>>>;

task<> reduce_lists(replica_context ctx) {
  const lists mine(2 + static_cast<std::size_t>(ctx.replica_id()));
  co_await ctx.all_reduce(reduce_op::sum, mine);
}

TEST_CASE("structures that differ are told to every replica under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const std::exception_ptr thrown = co_await outcome_of(strategy.run(reduce_lists));
    w.check(is(thrown, errc::structure_mismatch), "TR-305");
  });
}

task<double> mean_of_all_numbers(replica_context ctx) {
  const row mine(ctx.replica_id() == 0 ? 3 : 1, 1.0 + ctx.replica_id());
  co_return co_await ctx.all_reduce(reduce_op::mean, weigh(mine));
}

TEST_CASE("a weighted mean is that of all numbers under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const auto got = co_await strategy.run(mean_of_all_numbers);
    w.check(got == per_replica<double>({1.25, 1.25}), "five quarters");
  });
}

task<std::vector<int>> gather_ids(replica_context ctx) {
  std::vector<int> mine(static_cast<std::size_t>(ctx.replica_id()), ctx.replica_id());
  co_return co_await ctx.all_gather(std::move(mine));
}

TEST_CASE("all_gather gives everybody all in replica order under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto got = co_await strategy.run(gather_ids);
    for (const auto& each : got) w.check(each == std::vector<int>({1, 2, 2}), "1, 2, 2");
  });
}

task<tensor<float>> sum_tensors(replica_context ctx) {
  tensor<float> mine({2, 2}, static_cast<float>(ctx.replica_id()));
  co_return co_await ctx.all_reduce(reduce_op::sum, std::move(mine));
}

TEST_CASE("tensors are reduced on every replica under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto got = co_await strategy.run(sum_tensors);
    for (const auto& each : got) w.check(each == tensor<float>({2, 2}, 3.0f), "threes");
  });
}

}  // namespace
}  // namespace troupe::test
