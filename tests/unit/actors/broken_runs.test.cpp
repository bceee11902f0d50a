// What the errors of a broken run say of many replicas, of several that failed, and of replicas
// whose merges look alike.

#include <algorithm>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

/// The error that breaks a run of `step`, whatever run() throws.
template <class Step>
error picture_of(int replicas, Step step) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, replicas);
  static_cast<void>(thrown_by([&] { block_on(rt, strategy.run(step)); }));
  const std::optional<error> picture = strategy.last_failure();
  REQUIRE(picture);
  return *picture;
}

template <class Step>
std::string headline(int replicas, Step step) {
  return picture_of(replicas, step).facts().what;
}

void nothing() {}

// -- who is missing -------------------------------------------------------------------------------

task<> only_replica_1_merges(replica_context ctx) {
  if (ctx.replica_id() == 1) co_await ctx.merge_call(nothing);
}

TEST_CASE("one replica has returned, and several have") {
  CHECK(headline(2, only_replica_1_merges) ==
        "replica 0 of 2 has finished and can never arrive; replica 1 would wait forever");
  CHECK(headline(3, only_replica_1_merges) ==
        "replicas 0 and 2 of 3 have finished and can never arrive; replica 1 would wait forever");
}

// -- who failed -----------------------------------------------------------------------------------

void fail() { throw std::runtime_error("damaged"); }

task<> two_fail(replica_context ctx) {
  if (ctx.replica_id() < 2) fail();
  co_await ctx.merge_call(nothing);
}
task<> one_returns_one_fails(replica_context ctx) {
  if (ctx.replica_id() == 0) co_return;
  if (ctx.replica_id() == 1) fail();
  co_await ctx.merge_call(nothing);
}
task<> the_last_fails(replica_context ctx) {
  if (ctx.replica_id() + 1 == ctx.num_replicas_in_sync()) fail();
  co_return;
}

TEST_CASE("those who wait in vain for replicas that failed are named only where there are any") {
  CHECK(headline(3, two_fail) == "replicas 0 and 1 failed; replica 2 cannot merge without them");
  CHECK(headline(4, two_fail) == "replicas 0 and 1 failed; the others cannot merge without them");
  CHECK(headline(3, one_returns_one_fails) ==
        "replica 1 failed; replica 2 cannot merge without it");
  CHECK(headline(3, fail) == "replicas 0, 1 and 2 failed");
  CHECK(headline(1, fail) == "replica 0 failed");
  CHECK(headline(3, the_last_fails) == "replica 2 failed; replicas 0 and 1 have returned");
}

TEST_CASE("which of several exceptions the run throws is said") {
  CHECK(picture_of(3, two_fail).fix() ==
        "see to their exceptions: the run throws that of the lowest replica");
}

constexpr unsigned line_of_merge = __LINE__ + 2;
task<> fails_after_merging(replica_context ctx) {
  co_await ctx.merge_call(nothing);
  if (ctx.replica_id() == 0) fail();
  co_await ctx.merge_call(nothing);
}

TEST_CASE("the place of a replica that threw is told to be that of its last merge") {
  const replica_place p = picture_of(2, fails_after_merging).replicas()[0];
  CHECK(p.doing == "threw after 1 merge: damaged");
  CHECK(p.at.line() == line_of_merge);
  CHECK(picture_of(2, fail).replicas()[0].doing == "threw: damaged");
}

// -- merges that look alike -----------------------------------------------------------------------

int sum(const per_replica<int>& values) { return values[0] + values[1]; }
int largest(const per_replica<int>& values) { return std::max(values[0], values[1]); }

template <class F>
task<int> merged_by(replica_context ctx, F function) {
  const int one = 1;
  co_return co_await ctx.merge_call(function, one);
}

using function = int (*)(const per_replica<int>&);

constexpr int line_of_sum = __LINE__ + 2;
task<int> by_sum_or_largest(replica_context ctx) {
  if (ctx.replica_id() == 0) co_return co_await merged_by<function>(ctx, sum);
  co_return co_await merged_by<function>(ctx, largest);
}

std::string at_line(int line) { return "broken_runs.test.cpp:" + std::to_string(line); }

TEST_CASE("a merge in a helper is told by the line that calls the helper") {
  const error e = picture_of(3, by_sum_or_largest);
  CHECK(e.replicas()[0].doing == "merge_call(int), awaited at " + at_line(line_of_sum));
  const std::string other =
      "merge_call(int), another function, awaited at " + at_line(line_of_sum + 1);
  CHECK(e.replicas()[1].doing == other);
  CHECK(e.replicas()[2].doing == other);
}

task<int> by_one_of_two_types(replica_context ctx) {
  if (ctx.replica_id() == 0) co_return co_await merged_by(ctx, [](per_replica<int>) { return 0; });
  co_return co_await merged_by(ctx, [](per_replica<int>) { return 1; });
}

TEST_CASE("a function of another type is told as another one") {
  const error e = picture_of(2, by_one_of_two_types);
  CHECK_FALSE(e.replicas()[0].doing.starts_with("merge_call(int), another function"));
  CHECK(e.replicas()[1].doing.starts_with("merge_call(int), another function, awaited at "));
}

task<int> by_either(replica_context ctx) {
  const function mine = ctx.replica_id() == 0 ? sum : largest;
  co_return co_await ctx.merge_call(mine, 1);
}

TEST_CASE("where nothing but the functions differs, that is said") {
  const error e = picture_of(2, by_either);
  CHECK(e.facts().note ==
        "They came to one merge with functions that differ; TensorFlow would have run replica 0's "
        "for all of them.");
  CHECK(e.replicas()[0].doing == "merge_call(int)");
  CHECK(e.replicas()[1].doing == "merge_call(int), another function");
  CHECK(picture_of(3, by_sum_or_largest).facts().note == e.facts().note);
  CHECK(picture_of(2, by_one_of_two_types).facts().note != e.facts().note);
}

// clang-format off
task<> on_one_line(replica_context ctx) {
  const bool first = ctx.replica_id() == 0;
  if (first) co_await ctx.merge_call(sum, 1); else co_await ctx.merge_call(largest, 1);
}
task<> in_helpers_on_one_line(replica_context ctx) {
  const bool first = ctx.replica_id() == 0;
  const auto merged = merged_by<function>;
  if (first) co_await merged(ctx, sum); else co_await merged(ctx, largest);
}
// clang-format on

TEST_CASE("merges on one line, and helpers called on one, are told by their columns") {
  const error merges = picture_of(2, on_one_line);
  for (const auto& p : merges.replicas()) {
    const std::string column = ":" + std::to_string(p.at.column());
    CHECK(std::string(merges.what()).find(to_string(p.at) + column + "  ") != std::string::npos);
  }
  const error helpers = picture_of(2, in_helpers_on_one_line);
  CHECK(helpers.replicas()[0].doing != helpers.replicas()[1].doing);
}

}  // namespace
}  // namespace troupe::test
