#include <array>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};

  template <class... A>
  auto run(A... arguments) {
    return block_on(rt, strategy.run(std::move(arguments)...));
  }
};

// -- functions ------------------------------------------------------------------------------------

int add(const ints& values) { return std::accumulate(values.begin(), values.end(), 0); }
int add_in_context(cross_replica_context, const ints& values) { return add(values); }
int add_by_value(cross_replica_context, ints values) { return add(values); }
task<int> add_in_coroutine(cross_replica_context, ints values) { co_return add(values); }
task<int> add_by_reference(const ints& values) { co_return add(values); }

template <auto Merge>
task<int> merge_with(replica_context ctx) {
  co_return co_await ctx.merge_call(Merge, ctx.replica_id() + 1);
}

TEST_CASE_METHOD(fixture, "a plain merge function needs no context") {
  CHECK(run(merge_with<add>) == ints({3, 3}));
}

TEST_CASE_METHOD(fixture, "a plain merge function may take the cross-replica context") {
  CHECK(run(merge_with<add_in_context>) == ints({3, 3}));
}

TEST_CASE_METHOD(fixture, "a merge function may take the values away") {
  CHECK(run(merge_with<add_by_value>) == ints({3, 3}));
}

TEST_CASE_METHOD(fixture, "a merge function may be a coroutine") {
  CHECK(run(merge_with<add_in_coroutine>) == ints({3, 3}));
}

TEST_CASE_METHOD(fixture, "a merge coroutine may take the values by reference") {
  CHECK(run(merge_with<add_by_reference>) == ints({3, 3}));
}

// -- arguments ------------------------------------------------------------------------------------

task<int> merge_three(replica_context ctx) {
  const int id = ctx.replica_id();
  const auto merge = [](const ints& a, const per_replica<std::string>& b,
                        const per_replica<double>& c) {
    return a[1] + static_cast<int>(b[1].size()) + static_cast<int>(c[0] + c[1]);
  };
  co_return co_await ctx.merge_call(merge, 10 * id, std::string(static_cast<std::size_t>(id), 'x'),
                                    0.5);
}

TEST_CASE_METHOD(fixture, "each argument is gathered into a per_replica of its own") {
  CHECK(run(merge_three) == ints({12, 12}));
}

task<int> merge_structure(replica_context ctx) {
  const std::pair<int, std::string> mine(ctx.replica_id(), "ab");
  const auto merge = [](const std::pair<ints, per_replica<std::string>>& all) {
    return all.first[1] + static_cast<int>(all.second[0].size());
  };
  co_return co_await ctx.merge_call(merge, mine);
}

TEST_CASE_METHOD(fixture, "structured arguments are gathered leaf by leaf") {
  CHECK(run(merge_structure) == ints({3, 3}));
}

task<int> merge_owned(replica_context ctx) {
  auto mine = std::make_unique<int>(ctx.replica_id() + 1);
  const auto merge = [](per_replica<std::unique_ptr<int>> all) { return *all[0] + *all[1]; };
  co_return co_await ctx.merge_call(merge, std::move(mine));
}

TEST_CASE_METHOD(fixture, "arguments may be ones that can only be moved") {
  CHECK(run(merge_owned) == ints({3, 3}));
}

// -- results --------------------------------------------------------------------------------------

task<bool> merge_nothing(replica_context ctx) {
  co_await ctx.merge_call([] {});
  co_return true;
}

TEST_CASE_METHOD(fixture, "a merge function may take and return nothing") {
  CHECK(run(merge_nothing) == per_replica<bool>({true, true}));
}

task<int> get_scattered(replica_context ctx) {
  co_return co_await ctx.merge_call([] { return ints({10, 20}); });
}

TEST_CASE_METHOD(fixture, "core-073 of a per_replica each replica gets its component") {
  CHECK(run(get_scattered) == ints({10, 20}));
}

task<std::vector<int>> get_a_list(replica_context ctx) {
  co_return co_await ctx.merge_call([] { return std::vector<int>({1, 2}); });
}

TEST_CASE_METHOD(fixture, "core-074 a list is not scattered: every replica gets it whole") {
  const auto r = run(get_a_list);
  CHECK(r[0] == std::vector<int>({1, 2}));
  CHECK(r[1] == std::vector<int>({1, 2}));
}

task<int> get_structure(replica_context ctx) {
  const auto merge = [] { return std::pair<ints, int>({1, 2}, 10); };
  const std::pair<int, int> mine = co_await ctx.merge_call(merge);
  co_return mine.first + mine.second;
}

TEST_CASE_METHOD(fixture, "of structure with a per_replica inside each replica gets its part") {
  CHECK(run(get_structure) == ints({11, 12}));
}

task<int> get_mirrored(replica_context ctx) {
  co_return co_await ctx.merge_call([] { return mirrored<int>(5); });
}

TEST_CASE_METHOD(fixture, "of a mirrored value every replica gets the value") {
  CHECK(run(get_mirrored) == ints({5, 5}));
}

task<int> get_owned(replica_context ctx) {
  const auto merge = [] {
    per_replica<std::unique_ptr<int>> all;
    all.reserve(2);
    for (int i = 0; i < 2; ++i) all.append(std::make_unique<int>(i + 3));
    return all;
  };
  const auto mine = co_await ctx.merge_call(merge);
  co_return *mine;
}

TEST_CASE_METHOD(fixture, "scattered components may be ones that can only be moved") {
  CHECK(run(get_owned) == ints({3, 4}));
}

task<std::size_t> get_something_large(replica_context ctx) {
  const auto merge = [] { return std::array<std::string, 16>{"first"}; };
  const auto all = co_await ctx.merge_call(merge);
  co_return all[0].size();
}

TEST_CASE_METHOD(fixture, "results may be large") {
  CHECK(run(get_something_large) == per_replica<std::size_t>({5, 5}));
}

// -- contexts -------------------------------------------------------------------------------------

task<int> merge_on(replica_context ctx) { co_return co_await ctx.merge_call(add, 1); }

task<> keep_context(replica_context ctx, std::optional<replica_context>* kept) {
  if (ctx.replica_id() == 0) kept->emplace(ctx);
  co_return;
}

task<int> merge_on_kept(std::optional<replica_context>* kept) {
  co_return co_await merge_on(**kept);
}

TEST_CASE_METHOD(fixture, "core-021 a context of an earlier run is errc::foreign_context") {
  std::optional<replica_context> kept;
  run(keep_context, &kept);
  CHECK(is(thrown_by([&] { run(merge_on_kept, &kept); }), errc::foreign_context));
}

TEST_CASE_METHOD(fixture, "core-021 a context of another strategy is errc::foreign_context") {
  std::optional<replica_context> kept;
  run(keep_context, &kept);
  mirrored_strategy other(rt, 2);
  CHECK(
      is(thrown_by([&] { block_on(rt, other.run(merge_on_kept, &kept)); }), errc::foreign_context));
}

TEST_CASE_METHOD(fixture, "a context outside every run is errc::foreign_context") {
  std::optional<replica_context> kept;
  run(keep_context, &kept);
  CHECK(is(thrown_by([&] { block_on(rt, merge_on_kept(&kept)); }), errc::foreign_context));
}

task<int> merge_in_awaited_task(replica_context ctx) { co_return co_await merge_on(ctx); }

TEST_CASE_METHOD(fixture, "a task that the replica awaits may merge for it") {
  CHECK(run(merge_in_awaited_task) == ints({2, 2}));
}

// -- all_reduce -----------------------------------------------------------------------------------

template <class Op>
task<double> reduce_ids(replica_context ctx) {
  co_return co_await ctx.all_reduce(Op(), 2.0 * ctx.replica_id());
}

TEST_CASE_METHOD(fixture, "all_reduce(sum) gives every replica the sum") {
  CHECK(run(reduce_ids<sum_op>) == per_replica<double>({2.0, 2.0}));
}

TEST_CASE_METHOD(fixture, "all_reduce(mean) gives every replica the mean") {
  CHECK(run(reduce_ids<mean_op>) == per_replica<double>({1.0, 1.0}));
}

task<std::vector<int>> reduce_ranges(replica_context ctx) {
  std::vector<int> mine(2, 40 - 38 * ctx.replica_id());
  mine[1] = 1 + 97 * ctx.replica_id();
  co_return co_await ctx.all_reduce(reduce_op::sum, std::move(mine));
}

TEST_CASE_METHOD(fixture, "core-216 all_reduce of ranges is taken element by element") {
  CHECK(run(reduce_ranges)[0] == std::vector<int>({42, 99}));
}

task<std::vector<int>> reduce_uneven_ranges(replica_context ctx) {
  std::vector<int> mine(static_cast<std::size_t>(ctx.replica_id()));
  co_return co_await ctx.all_reduce(reduce_op::sum, std::move(mine));
}

TEST_CASE_METHOD(fixture, "all_reduce of ranges of different length is errc::shape_mismatch") {
  CHECK(is(thrown_by([&] { run(reduce_uneven_ranges); }), errc::shape_mismatch));
}

TEST_CASE_METHOD(fixture, "core-218 all_reduce on one replica gives back the value") {
  mirrored_strategy single(rt, 1);
  CHECK(block_on(rt, single.run(reduce_ids<sum_op>)) == per_replica<double>({0.0}));
}

}  // namespace
}  // namespace troupe::test
