// Threads that wait for one pool, each of which may stand in for its workers: they come while it
// sleeps, dozes, works, or ends.

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <iterator>
#include <latch>
#include <numeric>
#include <random>
#include <thread>
#include <troupe/troupe.hpp>
#include <vector>

namespace {

using namespace troupe;
using namespace std::chrono_literals;

int sum_of(const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

task<int> meet(replica_context ctx, int times, int microseconds) {
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < until) {
    }
    sum += co_await ctx.merge_call(sum_of, ctx.replica_id() + 1);
  }
  co_return sum;
}

task<> meet_for_ever(replica_context ctx, std::latch* begun) {
  if (ctx.replica_id() == 0) begun->count_down();
  for (;;) co_await ctx.merge_call(sum_of, 1);
}

/// Between nothing and what a worker takes to fall asleep, to doze, and to sleep for good.
void come_back_later(std::mt19937& draw) {
  constexpr std::chrono::microseconds later[] = {0us, 5us, 20us, 300us, 1100us, 2500us};
  std::this_thread::sleep_for(later[draw() % std::size(later)]);
}

}  // namespace

TEST_CASE("threads that come and go each get their own result of a pool that falls asleep") {
  for (const std::size_t threads : {1u, 2u, 3u}) {
    runtime rt{pool_size{threads}.with_waiters()};
    mirrored_strategy strategy{rt, 3};
    std::atomic<int> right{0};
    std::vector<std::thread> callers;
    for (unsigned t = 0; t < 3; ++t) {
      callers.emplace_back([&, t] {
        std::mt19937 draw(t);
        for (int i = 0; i < 150; ++i) {
          come_back_later(draw);
          const int times = 1 + static_cast<int>(draw() % 4);
          const int microseconds = draw() % 16 == 0 ? 700 : 0;
          const auto got = block_on(rt, strategy.run(meet, times, microseconds));
          right += got[0] == 6 * times && got[2] == 6 * times ? 1 : 0;
        }
      });
    }
    for (auto& caller : callers) caller.join();
    CHECK(right == 450);
  }
}

TEST_CASE("a pool ends while threads stand in for it") {
  for (unsigned i = 0; i < 60; ++i) {
    std::mt19937 draw(i);
    runtime rt{pool_size{2}.with_waiters()};
    mirrored_strategy strategy{rt, 2};
    block_on(rt, strategy.run(meet, 1, 0));
    come_back_later(draw);
    std::atomic<int> ended{0};
    std::latch begun(2);
    std::vector<std::thread> callers;
    for (int t = 0; t < 2; ++t) {
      callers.emplace_back([&] {
        try {
          block_on(rt, strategy.run(meet_for_ever, &begun));
        } catch (const error& e) {
          ended += e.code() == errc::runtime_gone ? 1 : 0;
        }
      });
    }
    begun.wait();
    come_back_later(draw);
    rt.state()->close();
    for (auto& caller : callers) caller.join();
    CHECK(ended == 2);
  }
}
