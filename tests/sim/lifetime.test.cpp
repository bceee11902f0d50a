// Runs that overlap, runs that outlive their strategy, and runs one after the other.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/detached.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/census.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using std::chrono::milliseconds;

int sum(const per_replica<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }

task<int> sum_of(replica_context ctx, int value) {
  co_return co_await ctx.merge_call(sum, value + ctx.replica_id());
}

/// Where a launched run's result goes.
struct result_of_run {
  int ended = 0;
  std::exception_ptr failure;
  per_replica<int> values;

  auto token() {
    return [this](std::exception_ptr thrown, per_replica<int> v) {
      ++ended;
      failure = thrown;
      values = std::move(v);
    };
  }
};

TEST_CASE("two runs of one strategy at the same time do not see each other") {
  explore_seeds(
      [](world& w) -> task<> {
        mirrored_strategy strategy(w.runtime(), 2);
        result_of_run other;
        strategy.async_run(sum_of, std::tuple(10), other.token());
        const auto mine = co_await strategy.run(sum_of, 1);
        co_await sleep_for(milliseconds(1));
        w.check(mine == per_replica<int>({3, 3}), "1 + 2");
        w.check(other.values == per_replica<int>({21, 21}), "10 + 11");
      },
      3000);
}

TEST_CASE("four overlapping runs each end once with their own result") {
  explore_seeds(
      [](world& w) -> task<> {
        mirrored_strategy strategy(w.runtime(), 2);
        std::vector<result_of_run> runs(4);
        for (int i = 0; i < 4; ++i) {
          strategy.async_run(sum_of, std::tuple(i), runs[static_cast<std::size_t>(i)].token());
        }
        co_await sleep_for(milliseconds(1));
        for (int i = 0; i < 4; ++i) {
          const auto& run = runs[static_cast<std::size_t>(i)];
          w.check(run.ended == 1 && run.values[0] == 2 * i + 1, "its own sum");
        }
      },
      1000);
}

TEST_CASE("a failed run leaves one that overlaps with it alone") {
  explore_seeds(
      [](world& w) -> task<> {
        mirrored_strategy strategy(w.runtime(), 2);
        result_of_run good;
        strategy.async_run(sum_of, std::tuple(1), good.token());
        const auto thrown = co_await outcome_of(strategy.run([](replica_context ctx) -> task<> {
          if (ctx.replica_id() == 1) co_return;
          static_cast<void>(co_await ctx.merge_call(sum, 1));
        }));
        co_await sleep_for(milliseconds(1));
        w.check(is(thrown, errc::missing_replica), "one fails");
        w.check(good.ended == 1 && !good.failure && good.values[0] == 3, "the other does not");
      },
      2000);
}

TEST_CASE("a strategy may be destroyed while its run is under way") {
  explore_all([](world& w) -> task<> {
    auto strategy = std::make_optional<mirrored_strategy>(w.runtime(), 2);
    result_of_run run;
    strategy->async_run(sum_of, std::tuple(1), run.token());
    if (w.choose(2) == 1) co_await sleep_for(std::chrono::nanoseconds(0));
    strategy.reset();
    co_await sleep_for(milliseconds(1));
    w.check(run.ended == 1 && run.values == per_replica<int>({3, 3}), "the run goes on");
  });
}

task<int> sleep_then_sum(replica_context ctx, int value) {
  co_await sleep_for(milliseconds(2));
  co_return co_await ctx.merge_call(sum, value);
}

TEST_CASE("a strategy may be destroyed while its replicas sleep before a merge") {
  explore_all([](world& w) -> task<> {
    auto strategy = std::make_unique<mirrored_strategy>(w.runtime(), 2);
    result_of_run run;
    strategy->async_run(sleep_then_sum, std::tuple(4), run.token());
    co_await sleep_for(milliseconds(1));
    strategy.reset();
    co_await sleep_for(milliseconds(5));
    w.check(run.ended == 1 && run.values == per_replica<int>({8, 8}), "the run goes on");
  });
}

TEST_CASE("an operation of a strategy that is gone can still be awaited") {
  explore_all([](world& w) -> task<> {
    auto strategy = std::make_optional<mirrored_strategy>(w.runtime(), 2);
    auto later = strategy->run(sum_of, 1);
    strategy.reset();
    const auto r = co_await std::move(later);
    w.check(r == per_replica<int>({3, 3}), "the run is whole");
  });
}

TEST_CASE("runs one after the other are each whole") {
  explore_seeds(
      [](world& w) -> task<> {
        mirrored_strategy strategy(w.runtime(), 3);
        for (int i = 0; i < 5; ++i) {
          const auto r = co_await strategy.run(sum_of, i);
          w.check(r[0] == 3 * i + 3, "its own sum");
        }
      },
      500);
}

TEST_CASE("two strategies in one world have replicas of their own") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy two(w.runtime(), 2);
    mirrored_strategy one(w.runtime(), 1);
    result_of_run other;
    one.async_run(sum_of, std::tuple(10), other.token());
    const auto mine = co_await two.run(sum_of, 1);
    co_await sleep_for(milliseconds(1));
    w.check(mine.size() == 2 && other.values.size() == 1, "of their own sizes");
  });
}

task<> sleep_a_little(replica_context) { co_await sleep_for(milliseconds(1)); }

task<> run_on_a_strategy_of_its_own(runtime* rt) {
  mirrored_strategy strategy(*rt, 1);
  static_cast<void>(co_await outcome_of(strategy.run(sleep_a_little)));
}

TEST_CASE("a cancellation that comes when run and strategy have ended finds what it looks for") {
  explore_all([](world& w) -> task<> {
    asio::cancellation_signal stop;
    int ended = 0;
    launch(w.runtime(), run_on_a_strategy_of_its_own(&w.runtime()),
           asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr) { ++ended; }));
    co_await sleep_for(milliseconds(w.choose(3)));
    stop.emit(asio::cancellation_type::terminal);
    co_await sleep_for(std::chrono::hours(1));
    w.check(ended == 1, "told once");
  });
}

task<> wait_at(gate* never, census* bodies) {
  const guest here(*bodies);
  co_await never->async_pass(use_task);
}

TEST_CASE("a world that ends in a deadlock destroys every frame once") {
  census bodies;
  gate never[2];
  simulation_options quick;
  quick.heed_environment = false;
  const auto report = simulation(quick).explore([&](world& w) {
    return [](world& v, gate* gates, census* count) -> task<> {
      mirrored_strategy strategy(v.runtime(), 2);
      co_await strategy.run([](replica_context ctx, gate* g,
                               census* c) -> task<> { co_await wait_at(g + ctx.replica_id(), c); },
                            gates, count);
    }(w, never, &bodies);
  });
  CHECK_FALSE(report.passed());
  CHECK(bodies.entered > 0);
  CHECK(bodies.balanced());
}

}  // namespace
}  // namespace troupe::test
