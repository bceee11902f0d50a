// Cancellation from another thread than the replicas': every run ends once, none hangs.
//
// Asio's rule holds: a cancellation slot is used where its handler runs. Here that is the
// test's own io_context, and the replicas run on other threads.

#include <algorithm>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>

#include "tests/stress/places.hpp"

namespace {

using namespace troupe;
using namespace std::chrono_literals;

int sum_of(const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

/// Merges without end; tells how far it is.
task<> forever(replica_context ctx, std::atomic<int>* rounds) {
  for (;;) {
    co_await ctx.merge_call(sum_of, 1);
    if (ctx.replica_id() == 0) rounds->fetch_add(1, std::memory_order_relaxed);
  }
}

/// The same, and each sleeps now and then, for longer than a thread waits before it does: the
/// barrier's line is told that others are whole, or finds out when it is woken.
task<> forever_with_naps(replica_context ctx, std::atomic<int>* rounds) {
  for (int round = ctx.replica_id();; ++round) {
    if (round % 3 == 0) co_await sleep_for(30us);
    co_await ctx.merge_call(sum_of, 1);
    if (ctx.replica_id() == 0) rounds->fetch_add(1, std::memory_order_relaxed);
  }
}

/// One waits for the world outside, the others for the one.
task<> outside(replica_context ctx, std::atomic<int>* waiting) {
  waiting->fetch_add(1, std::memory_order_relaxed);
  if (ctx.replica_id() == 1) co_await sleep_for(1h);
  co_await ctx.merge_call(sum_of, 1);
}

/// The merge function itself waits.
task<int> slow_merge(per_replica<std::atomic<int>*> entered) {
  entered[0]->fetch_add(1, std::memory_order_relaxed);
  co_await sleep_for(1h);
  co_return 0;
}
task<> in_merge(replica_context ctx, std::atomic<int>* entered) {
  co_await ctx.merge_call(slow_merge, entered);
}

task<int> short_step(replica_context ctx, std::atomic<int>*) {
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += co_await ctx.merge_call(sum_of, 1);
  co_return sum;
}

struct tally {
  int completed = 0;
  int cancelled = 0;
  int good = 0;
  int other = 0;

  void operator()(std::exception_ptr failure) {
    ++completed;
    if (!failure) {
      ++good;
      return;
    }
    try {
      std::rethrow_exception(failure);
    } catch (const error& e) {
      ++(e.code() == errc::cancelled ? cancelled : other);
    } catch (...) {
      ++other;
    }
  }
};

/// Starts `step`, cancels it once `progress` has reached `enough`, waits for its end.
/// `here` outlives the threads that post to it: one of them may still be inside post() when
/// its handler runs.
template <class Step>
void cancel_at(asio::io_context& here, const mirrored_strategy& strategy, Step step, int enough,
               tally& ends) {
  here.restart();
  asio::cancellation_signal signal;
  std::atomic<int> progress{0};
  strategy.async_run(
      step, std::tuple(&progress),
      asio::bind_executor(here.get_executor(),
                          asio::bind_cancellation_slot(
                              signal.slot(), [&](std::exception_ptr e, auto&&...) { ends(e); })));
  while (progress.load(std::memory_order_relaxed) < enough) std::this_thread::yield();
  signal.emit(asio::cancellation_type::terminal);
  here.run();  // The operation keeps it busy until it has completed.
}

task<int> good_step(replica_context ctx) { co_return co_await ctx.merge_call(sum_of, 1); }

}  // namespace

TEST_CASE("a cancellation in the middle of merges ends the run with errc::cancelled") {
  asio::io_context here;
  stress::on_every_place([&here](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 4};
    std::mt19937 random(3);
    tally ends;
    int good_after = 0;
    for (int i = 0; i < 60; ++i) {
      cancel_at(here, strategy, forever, static_cast<int>(random() % 20), ends);
      good_after += block_on(rt, strategy.run(good_step)) == per_replica<int>{4, 4, 4, 4} ? 1 : 0;
      cancel_at(here, strategy, forever_with_naps, i % 7, ends);
    }
    CHECK(ends.completed == 120);
    CHECK(ends.cancelled == 120);
    CHECK(good_after == 60);
  });
}

TEST_CASE("a cancellation reaches replicas and merge functions that wait for the world") {
  asio::io_context here;
  stress::on_every_place([&here](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 3};
    tally ends;
    for (int i = 0; i < 40; ++i) cancel_at(here, strategy, outside, i % 4, ends);
    for (int i = 0; i < 40; ++i) cancel_at(here, strategy, in_merge, i % 2, ends);
    CHECK(ends.completed == 80);
    CHECK(ends.cancelled == 80);
  });
}

TEST_CASE("a cancellation that races with the end of the run completes it once, either way") {
  asio::io_context here;
  stress::on_every_place([&here](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 3};
    tally ends;
    for (int i = 0; i < 300; ++i) cancel_at(here, strategy, short_step, 0, ends);
    CHECK(ends.completed == 300);
    CHECK(ends.good + ends.cancelled == 300);
  });
}

TEST_CASE("many runs of one strategy are cancelled in any order") {
  asio::io_context here;
  runtime rt{pool_size{2}};
  mirrored_strategy strategy{rt, 3};
  std::mt19937 random(5);
  tally ends;
  std::atomic<int> progress{0};
  for (int storm = 0; storm < 10; ++storm) {
    here.restart();
    std::vector<std::unique_ptr<asio::cancellation_signal>> signals;
    for (int i = 0; i < 20; ++i) {
      auto& signal = *signals.emplace_back(std::make_unique<asio::cancellation_signal>());
      strategy.async_run(
          forever, std::tuple(&progress),
          asio::bind_executor(
              here.get_executor(),
              asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { ends(e); })));
    }
    std::shuffle(signals.begin(), signals.end(), random);
    for (auto& signal : signals) {
      signal->emit(asio::cancellation_type::terminal);
      here.poll();
    }
    here.run();
  }
  CHECK(ends.completed == 200);
  CHECK(ends.cancelled == 200);
}

namespace {

using namespace asio::experimental::awaitable_operators;

struct races {
  int timeouts = 0;
  int results = 0;
};

/// An endless run beside a short timer.
asio::awaitable<void> timer_wins(const strategy* on, std::atomic<int>* progress, races* seen) {
  const auto executor = co_await asio::this_coro::executor;
  auto run = on->async_run(forever, std::tuple(progress), asio::use_awaitable);
  auto timer = sleep_for(executor, 1ms, asio::use_awaitable);
  const auto first = co_await (std::move(run) || std::move(timer));
  seen->timeouts += first.index() == 1 ? 1 : 0;
}

/// A short run beside a timer of an hour.
asio::awaitable<void> run_wins(const strategy* on, std::atomic<int>* progress, races* seen) {
  const auto executor = co_await asio::this_coro::executor;
  auto run = on->async_run(short_step, std::tuple(progress), asio::use_awaitable);
  auto timer = sleep_for(executor, 1h, asio::use_awaitable);
  const auto first = co_await (std::move(run) || std::move(timer));
  seen->results += first.index() == 0 && std::get<0>(first)[0] == 15 ? 1 : 0;
}

}  // namespace

TEST_CASE("a timeout is a run or a timer, whichever comes first") {
  asio::io_context here;
  stress::on_every_place([&here](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 3};
    std::atomic<int> progress{0};
    races seen;
    for (int i = 0; i < 10; ++i) {
      asio::co_spawn(here, timer_wins(&strategy, &progress, &seen), asio::detached);
      asio::co_spawn(here, run_wins(&strategy, &progress, &seen), asio::detached);
      here.restart();
      here.run();
    }
    CHECK(seen.timeouts == 10);
    CHECK(seen.results == 10);
  });
}
