// Rows of tensors that are zero elsewhere: their sums, and how they stand beside dense values.

#include <cstddef>
#include <map>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using dense = tensor<double>;
using slices = indexed_slices<dense>;
using rows = std::vector<std::size_t>;

/// What is compared of slices: where their rows are, and what is in them.
using content = std::pair<rows, dense>;
content content_of(const slices& all) { return content(all.indices, all.values); }

// -- a reduction ----------------------------------------------------------------------------------

slices brought_by(replica_context ctx) {
  if (ctx.replica_id() == 0) return slices({1}, dense({1, 2}, {1, 2}), {5, 2});
  return slices({1, 3}, dense({2, 2}, {3, 4, 5, 6}), {5, 2});
}

template <class Op>
task<slices> reduce_brought(replica_context ctx) {
  co_return co_await ctx.all_reduce(Op(), brought_by(ctx));
}

/// What strategy.reduce() makes of them, and what each replica gets of all_reduce().
template <class Op>
task<std::vector<content>> reduce_slices(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const per_replica<slices> brought = co_await strategy.run(brought_by);
  const per_replica<slices> inside = co_await strategy.run(reduce_brought<Op>);
  std::vector<content> all;
  all.push_back(content_of(strategy.reduce(Op(), brought)));
  for (const slices& each : inside) all.push_back(content_of(each));
  co_return all;
}

TEST_CASE("core-220 slices are reduced to all replicas' rows, in replica order") {
  const content sum({1, 1, 3}, dense({3, 2}, {1, 2, 3, 4, 5, 6}));
  const content mean({1, 1, 3}, dense({3, 2}, {0.5, 1, 1.5, 2, 2.5, 3}));
  check_in_every_world(reduce_slices<sum_op>, std::vector(3, sum));
  check_in_every_world(reduce_slices<mean_op>, std::vector(3, mean));
  CHECK(slices(sum.first, sum.second, {5, 2}) ==
        slices({1, 3}, dense({2, 2}, {4, 6, 5, 6}), {5, 2}));
  CHECK(slices(mean.first, mean.second, {5, 2}) ==
        slices({1, 3}, dense({2, 2}, {2, 3, 2.5, 3}), {5, 2}));
}

// -- beside dense values --------------------------------------------------------------------------

/// What is reduced at once is a list in the model; a list of two types is a tuple here.
using batch = std::tuple<slices, dense, slices, double>;

task<batch> reduce_batch(replica_context ctx) {
  const double id = ctx.replica_id();
  const dense row({1, 1}, id);
  const batch mine(slices({0}, row, {3, 1}), dense({2}, 10 + id), slices({2}, row, {3, 1}), id);
  co_return co_await ctx.all_reduce(reduce_op::sum, mine);
}

using contents = std::tuple<content, dense, content, double>;

task<std::vector<contents>> reduce_batches(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto got = co_await strategy.run(reduce_batch);
  std::vector<contents> all;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto [first, second, third, fourth] = select_replica(i, got);
    all.emplace_back(content_of(first), second, content_of(third), fourth);
  }
  co_return all;
}

TEST_CASE("core-222 dense values and slices are reduced side by side and keep their order") {
  const dense both({2, 1}, {0, 1});
  const contents all(content({0, 0}, both), dense({2}, 21), content({2, 2}, both), 1);
  check_in_every_world(reduce_batches, std::vector(2, all));
}

using number = indexed_slices<std::vector<double>>;
using nest = std::tuple<double, std::map<std::string, number>, std::tuple<double, number>>;

const nest one_of_each(1.0, {{"a", number({0}, {1.0}, {2})}}, {2.0, number({1}, {2.0}, {2})});

task<nest> reduce_nest(replica_context ctx) {
  co_return co_await ctx.all_reduce(reduce_op::sum, one_of_each);
}

template <int N>
task<std::vector<nest>> reduce_nests(runtime& rt) {
  mirrored_strategy strategy(rt, N);
  const auto got = co_await strategy.run(reduce_nest);
  std::vector<nest> all;
  for (std::size_t i = 0; i < N; ++i) all.push_back(select_replica(i, got));
  co_return all;
}

TEST_CASE("core-228 slices in a nest stay slices, and are as many times as much") {
  const nest twice(2.0, {{"a", number({0}, {2.0}, {2})}}, {4.0, number({1}, {4.0}, {2})});
  check_in_every_world(reduce_nests<1>, {one_of_each});
  check_in_every_world(reduce_nests<2>, {twice, twice});
}

// -- aggregates -----------------------------------------------------------------------------------

TEST_CASE("core-226 dense values and slices come to the same sum and the same quotient") {
  const dense a({3, 2}, {1, 2, 0, 0, 3, 4}), b({3, 2}, {0, 0, 5, 6, 7, 8}), zero({3, 2});
  const slices rows_of_a({0, 2}, dense({2, 2}, {1, 2, 3, 4}), {3, 2});
  const slices rows_of_b({1, 2}, dense({2, 2}, {5, 6, 7, 8}), {3, 2});
  const slices none({}, dense(), {3, 2});

  const dense sum({3, 2}, {1, 2, 5, 6, 10, 12});
  CHECK(reduce(reduce_op::sum, per_replica<dense>({a, b})) == sum);
  CHECK(to_dense(reduce(reduce_op::sum, per_replica<slices>({rows_of_a, rows_of_b}))) == sum);

  // By two: the other replica has nothing.
  const dense half({3, 2}, {0.5, 1, 0, 0, 1.5, 2});
  CHECK(reduce(reduce_op::mean, per_replica<dense>({a, zero})) == half);
  CHECK(to_dense(reduce(reduce_op::mean, per_replica<slices>({rows_of_a, none}))) == half);
}

}  // namespace
}  // namespace troupe::test
