// What ends under a run: its executor, its runtime, its strategy. Every awaiting side is
// told once, and nothing is left behind (the address sanitizer counts the frames).

#include <asio/bind_executor.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <numeric>
#include <optional>

#include "tests/stress/places.hpp"

namespace {

using namespace troupe;
using namespace std::chrono_literals;

int sum_of(const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

/// Counts itself while it lives: frames that are never destroyed are seen.
class census {
 public:
  explicit census(std::atomic<int>* alive) : alive_(alive) { alive_->fetch_add(1); }
  census(const census&) = delete;
  census& operator=(const census&) = delete;
  ~census() { alive_->fetch_sub(1); }

 private:
  std::atomic<int>* alive_;
};

enum class waits { merges_only, for_timers_too };

/// Merges without end; if it waits for timers, replica 0 sleeps now and then.
task<> forever(replica_context ctx, std::atomic<int>* alive, std::atomic<int>* rounds, waits how) {
  const census counted(alive);
  for (;;) {
    co_await ctx.merge_call(sum_of, 1);
    if (ctx.replica_id() != 0) continue;
    const bool eighth = rounds->fetch_add(1) % 8 == 7;
    if (eighth && how == waits::for_timers_too) co_await sleep_for(1us);
  }
}

struct tally {
  int completed = 0;
  int gone = 0;

  void operator()(std::exception_ptr failure) {
    ++completed;
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const error& e) {
      gone += e.code() == errc::runtime_gone ? 1 : 0;
    }
  }
};

constexpr int runs = 4;

/// Starts endless runs whose handlers are called on `here`, and waits until they merge.
void start_runs(const strategy& on, asio::io_context& here, std::atomic<int>& alive,
                std::atomic<int>& rounds, tally& ends, int enough, waits how) {
  for (int i = 0; i < runs; ++i) {
    on.async_run(
        forever, std::tuple(&alive, &rounds, how),
        asio::bind_executor(here.get_executor(), [&ends](std::exception_ptr e) { ends(e); }));
  }
  while (rounds.load() < enough) std::this_thread::yield();
}

}  // namespace

TEST_CASE("runs under way when their execution context is destroyed fail with runtime_gone") {
  tally ends;
  std::atomic<int> alive{0};
  asio::io_context here;  // Outlives the threads that post to it.
  for (int i = 0; i < 40; ++i) {
    std::optional<stress::threaded_context> context(2);
    std::atomic<int> rounds{0};
    runtime rt{context->io().get_executor()};
    mirrored_strategy strategy{rt, 3};
    start_runs(strategy, here, alive, rounds, ends, i, waits::for_timers_too);
    context->halt();
    context.reset();
    here.restart();
    here.run();
    CHECK_THROWS_AS(block_on(rt, strategy.run(forever, &alive, &rounds, waits::merges_only)),
                    error);
  }
  CHECK(ends.completed == 40 * runs);
  CHECK(ends.gone == 40 * runs);
  CHECK(alive == 0);
}

TEST_CASE("runs under way when their thread_pool is stopped and destroyed break their futures") {
  std::atomic<int> alive{0};
  int broken = 0;
  for (int i = 0; i < 40; ++i) {
    std::optional<asio::thread_pool> pool(std::in_place, 2u);
    std::atomic<int> rounds{0};
    runtime rt{pool->get_executor()};
    mirrored_strategy strategy{rt, 3};
    std::vector<std::future<void>> results;
    for (int k = 0; k < runs; ++k) {
      results.push_back(strategy.async_run(
          forever, std::tuple(&alive, &rounds, waits::for_timers_too), asio::use_future));
    }
    while (rounds.load() < i) std::this_thread::yield();
    pool->stop();
    pool->join();
    pool.reset();
    for (auto& result : results) {
      // Only the types are looked at: two threads hold the exception, and the counting of its
      // holders is inside libstdc++, where the thread sanitizer does not see it.
      try {
        result.get();
      } catch (const error&) {
        ++broken;
      } catch (const std::future_error&) {
        ++broken;
      }
    }
  }
  CHECK(broken == 40 * runs);
  CHECK(alive == 0);
}

namespace {

void destroy_runtimes(waits how) {
  tally ends;
  std::atomic<int> alive{0};
  asio::io_context here;
  for (int i = 0; i < 40; ++i) {
    stress::threaded_context context(2);
    asio::thread_pool pool(2);
    for (int kind = 0; kind < 4; ++kind) {
      std::optional<runtime> rt;
      if (kind == 0) rt.emplace(pool_size{2});
      if (kind == 1) rt.emplace(context.io().get_executor());
      if (kind == 2) rt.emplace(pool.get_executor());
      if (kind == 3) rt.emplace(asio::make_strand(pool));
      std::atomic<int> rounds{0};
      mirrored_strategy strategy{*rt, 3};
      start_runs(strategy, here, alive, rounds, ends, i, how);
      rt.reset();
      here.restart();
      here.run();
    }
  }
  CHECK(ends.completed == 40 * 4 * runs);
  CHECK(ends.gone == 40 * 4 * runs);
  CHECK(alive == 0);
}

}  // namespace

TEST_CASE("runs under way when their runtime is destroyed fail with runtime_gone") {
  destroy_runtimes(waits::merges_only);
}

TEST_CASE("runs that wait for timers when their runtime is destroyed fail with runtime_gone",
          "[stress]") {
  destroy_runtimes(waits::for_timers_too);
}

namespace {

task<int> until_told(replica_context ctx, const std::atomic<bool>* stop) {
  int sum = 0;
  for (;;) {
    const int told = stop->load() ? 1 : 0;
    const int all_told = co_await ctx.merge_call(sum_of, told);
    if (all_told == ctx.num_replicas_in_sync()) co_return sum;
    ++sum;
  }
}

}  // namespace

TEST_CASE("a run goes on when its strategy is destroyed") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    int finished = 0;
    for (int i = 0; i < 30; ++i) {
      std::atomic<bool> stop{false};
      std::future<per_replica<int>> result;
      {
        mirrored_strategy strategy{rt, 3};
        result = strategy.async_run(until_told, std::tuple(&std::as_const(stop)), asio::use_future);
      }
      stop = true;
      const auto got = result.get();
      finished += got[0] == got[1] && got[1] == got[2] ? 1 : 0;
    }
    CHECK(finished == 30);
  });
}
