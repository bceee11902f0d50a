// One strategy, many threads that run it at the same time.

#include <asio/use_future.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <future>
#include <iterator>
#include <numeric>
#include <stdexcept>

#include "tests/stress/places.hpp"

namespace {

using namespace troupe;

int sum_of(const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

task<int> step(replica_context ctx, int base) {
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += co_await ctx.merge_call(sum_of, base + ctx.replica_id());
  co_return sum;
}
constexpr int replicas = 3;
int wanted(int base) { return 3 * (replicas * base + 3); }

task<int> step_that_may_fail(replica_context ctx, int base) {
  if (base % 5 == 0 && ctx.replica_id() == base % replicas) throw std::runtime_error("five");
  co_return co_await ctx.merge_call(sum_of, base);
}

/// Runs `body(thread)` on several threads at once.
template <class Body>
void on_threads(int n, Body body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < n; ++t) threads.emplace_back([&body, t] { body(t); });
  for (auto& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("threads that block on runs of one strategy get their own results") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, replicas};
    std::atomic<int> right{0};
    on_threads(3, [&](int t) {
      for (int i = 0; i < 60; ++i) {
        const auto got = block_on(rt, strategy.run(step, t * 1000 + i));
        right += got[0] == wanted(t * 1000 + i) ? 1 : 0;
      }
    });
    CHECK(right == 180);
  });
}

TEST_CASE("futures of many runs at once all get their own results") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, replicas};
    std::atomic<int> right{0};
    on_threads(3, [&](int t) {
      std::vector<std::future<per_replica<int>>> results;
      for (int i = 0; i < 40; ++i) {
        results.push_back(strategy.async_run(step, std::tuple(t * 1000 + i), asio::use_future));
      }
      for (int i = 0; i < 40; ++i) {
        right += results[static_cast<std::size_t>(i)].get()[2] == wanted(t * 1000 + i) ? 1 : 0;
      }
    });
    CHECK(right == 120);
  });
}

TEST_CASE("a run that fails does not reach the runs beside it") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, replicas};
    std::atomic<int> right{0};
    on_threads(3, [&](int t) {
      std::vector<std::future<per_replica<int>>> results;
      for (int i = 0; i < 40; ++i) {
        results.push_back(
            strategy.async_run(step_that_may_fail, std::tuple(t * 100 + i), asio::use_future));
      }
      for (int i = 0; i < 40; ++i) {
        const int base = t * 100 + i;
        try {
          const int got = results[static_cast<std::size_t>(i)].get()[0];
          right += base % 5 != 0 && got == replicas * base ? 1 : 0;
        } catch (const std::runtime_error&) {
          right += base % 5 == 0 ? 1 : 0;
        }
      }
    });
    CHECK(right == 120);
  });
}

namespace {

std::ptrdiff_t count_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

}  // namespace

TEST_CASE("a future on an io_context starts no thread", "[stress]") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, replicas};
  const auto before = count_threads();
  auto result = strategy.async_run(step, std::tuple(1), asio::use_future);
  io.run();
  CHECK(result.get()[0] == wanted(1));
  CHECK(count_threads() == before);
}
