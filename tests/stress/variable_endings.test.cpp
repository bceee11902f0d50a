// What ends under variables: their runtime, their executor, while runs and sweeps are under way.

#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "tests/stress/places.hpp"
#include "tests/support/outcome.hpp"

namespace {

using namespace troupe;

using shared = variable<long, sum_op>;

task<> add_for_ever(replica_context ctx, shared v, std::atomic<long>* rounds) {
  for (;;) {
    co_await v.assign_add(ctx, 1L);
    if (ctx.replica_id() == 0) rounds->fetch_add(1);
  }
}

task<> sweep_for_ever(shared v, std::atomic<long>* rounds) {
  for (;;) {
    co_await v.assign(1L);
    co_await v.components();
    rounds->fetch_add(1);
    // Where there is one line nothing above waits: without this the task would never let go.
    co_await sleep_for(std::chrono::nanoseconds(0));
  }
}

/// Runs, and tasks that write outside of runs; everybody tells `here` how it ended.
class writers {
 public:
  static constexpr int count = 6;

  writers(runtime& rt, const strategy& on, const shared& v) {
    const auto token = [this] {
      return asio::bind_executor(here_.get_executor(), [this](std::exception_ptr thrown) {
        gone_ += test::is(thrown, errc::runtime_gone) ? 1 : 0;
      });
    };
    for (int i = 0; i < count / 2; ++i) {
      on.async_run(add_for_ever, std::tuple(v, &rounds_), token());
      launch(rt, sweep_for_ever(v, &rounds_), token());
    }
  }

  void wait_for(long rounds) const {
    while (rounds_.load() < rounds) std::this_thread::yield();
  }
  /// How many were told that their runtime has gone.
  int gone() {
    here_.run();
    return gone_;
  }

 private:
  asio::io_context here_;
  std::atomic<long> rounds_{0};
  int gone_ = 0;
};

TEST_CASE("a pool may end while variables are written, and variables outlive it") {
  for (const std::size_t threads : {1u, 2u, 4u}) {
    for (int i = 0; i < 40; ++i) {
      std::optional<runtime> rt(std::in_place, pool_size{threads});
      mirrored_strategy strategy(*rt, 3);
      const shared v(strategy, 0);
      writers all(*rt, strategy, v);
      all.wait_for(i);
      rt.reset();
      CHECK(all.gone() == writers::count);
    }
  }
}

TEST_CASE("an executor may end while variables are written, and variables outlive it") {
  for (int i = 0; i < 40; ++i) {
    std::optional<stress::threaded_context> context(2);
    std::optional<runtime> rt(std::in_place, context->io().get_executor());
    mirrored_strategy strategy(*rt, 3);
    const shared v(strategy, 0);
    writers all(*rt, strategy, v);
    all.wait_for(i % 3);
    context->halt();
    context.reset();
    CHECK(all.gone() == writers::count);
  }
}

}  // namespace
