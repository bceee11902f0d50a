// Replicas that catch the verdict of a broken run and merge again: each is refused again, all are
// told, and nothing of it is left to the next run.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/support/census.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/turns.hpp"

namespace troupe::test {
namespace {

constexpr int attempts = 3;

struct tally {
  census bodies;
  int refused = 0;
};

int first_of(const per_replica<int>& values) { return values[0]; }
int last_of(const per_replica<int>& values) { return values[values.size() - 1]; }

task<> merge_again_and_again(replica_context ctx, tally* t) {
  const guest here(t->bodies);
  auto* const merge = ctx.replica_id() == 0 ? first_of : last_of;
  for (int i = 0; i < attempts; ++i) {
    std::exception_ptr thrown;
    try {
      static_cast<void>(co_await ctx.merge_call(merge, 1));
    } catch (...) {
      thrown = std::current_exception();
    }
    if (is(thrown, errc::merge_mismatch)) ++t->refused;
  }
}

task<> fail_while_others_sleep(replica_context ctx, tally* t) {
  const guest here(t->bodies);
  if (ctx.replica_id() == 0) throw own_failure(0);
  co_await sleep_for(std::chrono::milliseconds(1));
}

task<> be_stubborn(world* w, int replicas, mirrored_options how) {
  mirrored_strategy strategy(w->runtime(), replicas, how);
  for (int run = 0; run < 2; ++run) {
    tally stubborn;
    const auto thrown = co_await outcome_of(strategy.run(merge_again_and_again, &stubborn));
    w->check(is(thrown, errc::merge_mismatch), "the run is broken");
    w->check(stubborn.refused == replicas * attempts, "each attempt is refused");
    w->check(stubborn.bodies.balanced(), "all have gone to their end");

    tally asleep;
    const auto failed = co_await outcome_of(strategy.run(fail_while_others_sleep, &asleep));
    w->check(failed && !is(failed, errc::merge_mismatch), "the next run fails by itself");
    w->check(asleep.bodies.balanced(), "all have gone to their end");
  }
}

TEST_CASE("who merges again after the verdict is refused again, and the next run knows nothing") {
  for (const int replicas : {2, 4}) {
    explore_on_lines([&](world& w) { return be_stubborn(&w, replicas, {}); }, 300, 300);
  }
}

TEST_CASE("in turns, who merges again after the verdict does not keep it from the others") {
  for (const int replicas : {2, 4}) {
    explore_on_lines([&](world& w) { return be_stubborn(&w, replicas, in_turns); }, 300, 300);
  }
}

}  // namespace
}  // namespace troupe::test
