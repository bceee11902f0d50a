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

}  // namespace
}  // namespace troupe::test
