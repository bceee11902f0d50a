// Operations that one thread starts, or waits for, while another ends their runtime: whichever
// comes first, everybody is told once.

#include <asio/bind_executor.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>

#include "tests/stress/places.hpp"

namespace {

using namespace troupe;

struct tally {
  int fine = 0;
  int gone = 0;
  int other = 0;

  void operator()(std::exception_ptr failure) {
    try {
      if (failure) std::rethrow_exception(failure);
      ++fine;
    } catch (const error& e) {
      ++(e.code() == errc::runtime_gone ? gone : other);
    }
  }
};

/// Starts runs for as long as the other thread takes to end the runtime, and some after that.
/// Returns how many.
int start_until(const std::atomic<bool>& ended, const strategy& on, asio::io_context& here,
                tally& ends) {
  int started = 0;
  for (int after = 0; after < 3; after += ended.load() ? 1 : 0) {
    on.async_run([] {}, std::tuple(),
                 asio::bind_executor(here, [&ends](std::exception_ptr e) { ends(e); }));
    ++started;
  }
  return started;
}

/// One round: a runtime made by `make` ends while runs are started on it.
template <class Make>
int race(asio::io_context& here, tally& ends, Make make) {
  std::optional<runtime> rt;
  make(rt);
  const mirrored_strategy strategy{*rt, 2};
  std::atomic<int> started{0};
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  std::thread starter([&] {
    begun = true;
    started = start_until(ended, strategy, here, ends);
  });
  while (!begun.load()) std::this_thread::yield();
  rt.reset();
  ended = true;
  starter.join();
  return started;
}

constexpr int rounds = 8;

template <class Make>
void race_often(Make make) {
  asio::io_context here;
  tally ends;
  int started = 0;
  for (int i = 0; i < rounds; ++i) {
    started += race(here, ends, make);
    here.restart();
    here.run();
  }
  CHECK(ends.fine + ends.gone == started);
  CHECK(ends.gone >= rounds * 3);
  CHECK(ends.other == 0);
}

}  // namespace

TEST_CASE("runs started while their runtime ends are told once, on a thread_pool") {
  asio::thread_pool threads(1);
  race_often([&](std::optional<runtime>& rt) { rt.emplace(threads.get_executor()); });
}

TEST_CASE("runs started while their runtime ends are told once, on an io_context") {
  stress::threaded_context context(2);
  race_often([&](std::optional<runtime>& rt) { rt.emplace(context.io().get_executor()); });
}

TEST_CASE("runs started while their runtime ends are told once, on a pool") {
  race_often([](std::optional<runtime>& rt) { rt.emplace(pool_size{2}); });
}

namespace {

task<> sleep_long() { co_await sleep_for(std::chrono::hours(1)); }

/// Blocks until it is told that the runtime has ended; the last time by a task that never would.
void block_until_gone(const std::shared_ptr<runtime_state>& there, std::atomic<int>& gone) {
  runtime mine(there);
  try {
    for (int i = 0; i < 3; ++i) block_on(mine, mirrored_strategy(mine, 2).run([] {}));
    block_on(mine, sleep_long());
  } catch (const error& e) {
    gone += e.code() == errc::runtime_gone ? 1 : 0;
  }
}

/// One round: a runtime made by `make` ends while a thread blocks on it.
template <class Make>
void end_under_blocker(Make make) {
  std::atomic<int> gone{0};
  for (int i = 0; i < 4 * rounds; ++i) {
    std::optional<runtime> rt;
    make(rt);
    std::thread blocks([&gone, there = rt->state()] { block_until_gone(there, gone); });
    std::this_thread::sleep_for(std::chrono::microseconds(20 * (i % 16)));
    rt.reset();
    blocks.join();
  }
  CHECK(gone == 4 * rounds);
}

}  // namespace

TEST_CASE("a thread that blocks on a runtime while that ends is told, on a thread_pool") {
  asio::thread_pool threads(1);
  end_under_blocker([&](std::optional<runtime>& rt) { rt.emplace(threads.get_executor()); });
}

TEST_CASE("a thread that blocks on a runtime while that ends is told, on an io_context") {
  stress::threaded_context context(1);
  end_under_blocker([&](std::optional<runtime>& rt) { rt.emplace(context.io().get_executor()); });
}

TEST_CASE("a thread that blocks on a runtime while that ends is told, on a pool") {
  end_under_blocker([](std::optional<runtime>& rt) { rt.emplace(pool_size{2}); });
}
