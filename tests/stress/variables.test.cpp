// Variables on real threads: components alike, no write lost, and early ends.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/stress/places.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/variables.hpp"

namespace {

using namespace troupe;

using shared = variable<long, sum_op>;
using first = variable<long, first_op>;
using floats = tensor<float>;
using weights = variable<floats, mean_op>;
using counted = sync_on_read_variable<long>;

/// What is checked in the end: what the replicas read is alike, and what the owners see.
template <class V>
void check_alike(runtime& rt, const strategy& on, V v) {
  const auto read = block_on(rt, test::read_on_replicas(&on, v));
  CHECK(test::all_alike(read));
  CHECK((block_on(rt, v.components()) == read));
}

template <class Check>
void on_pools(Check check) {
  for (const std::size_t threads : {1u, 2u, 4u}) {
    INFO("a pool of " << threads);
    runtime rt{pool_size{threads}};
    check(rt);
  }
}

// -- overlapping runs -----------------------------------------------------------------------------

constexpr long rounds = 40;

/// Nothing here commutes: x = d, x += 10 d, x -= d.
task<> write_out_of_order(replica_context ctx, first v, long digit) {
  for (long i = 0; i < rounds; ++i) {
    co_await v.assign(ctx, digit + i);
    co_await v.assign_add(ctx, 10 * digit);
    co_await v.assign_sub(ctx, digit);
  }
}

void triple(long& component, long more) { component = (3 * component + more) % 1'000; }

task<> run_it(const strategy* on, first v, long digit) {
  co_await on->run(write_out_of_order, v, digit);
}
task<> write_outside(const strategy* on, first v) {
  for (long i = 0; i < rounds; ++i) {
    co_await v.assign(i);
    co_await on->extended().update(v, triple, i);
    co_await v.assign_add(3L);
  }
}

/// Starts `body` on a line of its own choice.
template <class Body>
std::future<void> start(runtime& rt, Body body) {
  auto done = std::make_shared<std::promise<void>>();
  auto result = done->get_future();
  launch(rt, std::move(body), [done](std::exception_ptr thrown) {
    // Types alone: the holders of an exception are counted inside libstdc++, which the thread
    // sanitizer does not see.
    if (thrown) {
      done->set_exception(std::make_exception_ptr(std::runtime_error("it threw")));
    } else {
      done->set_value();
    }
  });
  return result;
}

TEST_CASE("components are alike after runs, writes and updates from many lines") {
  on_pools([](runtime& rt) {
    for (const int replicas : {1, 2, 3, 7}) {
      mirrored_strategy strategy{rt, replicas};
      const first v(strategy, 5);
      std::vector<std::future<void>> all;
      for (long digit = 1; digit <= 3; ++digit) {
        all.push_back(start(rt, run_it(&strategy, v, digit)));
        all.push_back(start(rt, write_outside(&strategy, v)));
      }
      for (auto& each : all) CHECK_NOTHROW(each.get());
      check_alike(rt, strategy, v);
    }
  });
}

task<> add_ones(replica_context ctx, shared v, counted seen) {
  for (long i = 0; i < rounds; ++i) {
    seen.assign_add(ctx, 1L);
    co_await v.assign_add(ctx, 1L);
  }
}

task<> add_ones_in_a_run(const strategy* on, shared v, counted seen) {
  co_await on->run(add_ones, v, seen);
}

task<> watch(counted seen) {
  long before = 0;
  for (long i = 0; i < rounds; ++i) {
    const long now = co_await seen.read();
    if (now < before) throw std::runtime_error("a count went back");
    before = now;
  }
}

TEST_CASE("no addition is lost in overlapping runs, and a gather beside them sees counts grow") {
  on_pools([](runtime& rt) {
    mirrored_strategy strategy{rt, 5};
    const shared v(strategy, 0);
    const counted seen(strategy, 0);
    std::vector<std::future<void>> all;
    for (int i = 0; i < 4; ++i) all.push_back(start(rt, add_ones_in_a_run(&strategy, v, seen)));
    all.push_back(start(rt, watch(seen)));
    for (auto& each : all) CHECK_NOTHROW(each.get());
    CHECK(block_on(rt, v.read()) == 4 * 5 * rounds);
    CHECK(block_on(rt, seen.read()) == 4 * 5 * rounds);
    check_alike(rt, strategy, v);
  });
}

// -- tensors --------------------------------------------------------------------------------------

task<> descend(replica_context ctx, weights v) {
  for (int i = 0; i < 5; ++i) {
    floats step(v.shape(), static_cast<float>(ctx.replica_id() + i));
    co_await v.assign_sub(ctx, std::move(step));
  }
}
task<> descend_in_a_run(const strategy* on, weights v) { co_await on->run(descend, v); }

task<> shrink(const strategy* on, weights v) {
  const auto halve = [](floats& component) {
    for (float& each : component.values()) each /= 2;
  };
  for (int i = 0; i < 5; ++i) co_await on->extended().update(v, halve);
}

TEST_CASE("tensors are alike after large and small sums, beside updates") {
  on_pools([](runtime& rt) {
    mirrored_strategy strategy{rt, 3};
    for (const std::size_t side : {3u, 200u}) {
      const weights v(strategy, floats({side, side}, 1.0f));
      std::vector<std::future<void>> all;
      all.push_back(start(rt, descend_in_a_run(&strategy, v)));
      all.push_back(start(rt, descend_in_a_run(&strategy, v)));
      all.push_back(start(rt, shrink(&strategy, v)));
      for (auto& each : all) CHECK_NOTHROW(each.get());
      check_alike(rt, strategy, v);
    }
  });
}

// -- failures and cancellations -------------------------------------------------------------------

task<> add_until_one_throws(replica_context ctx, shared v, long when) {
  for (long i = 0; i < rounds; ++i) {
    if (i == when && ctx.replica_id() == i % 3) throw std::runtime_error("enough");
    co_await v.assign_add(ctx, 1L);
  }
}

TEST_CASE("components are alike after runs in which replicas threw") {
  on_pools([](runtime& rt) {
    mirrored_strategy strategy{rt, 3};
    const shared v(strategy, 0);
    long wanted = 0;
    for (long when = 0; when < rounds; ++when) {
      CHECK_THROWS_AS(block_on(rt, strategy.run(add_until_one_throws, v, when)),
                      std::runtime_error);
      wanted += 3 * when;
      CHECK(block_on(rt, v.read()) == wanted);
    }
    check_alike(rt, strategy, v);
  });
}

task<> add_for_ever(replica_context ctx, shared v, std::atomic<long>* added) {
  for (;;) {
    const long now = co_await v.assign_add(ctx, 1L);
    if (ctx.replica_id() == 0) added->store(now);
  }
}

TEST_CASE("components are alike after runs that were cancelled") {
  on_pools([](runtime& rt) {
    mirrored_strategy strategy{rt, 3};
    const shared v(strategy, 0);
    for (int i = 0; i < 30; ++i) {
      std::atomic<long> added{0};
      std::promise<bool> ended;
      asio::cancellation_signal stop;
      const long from = block_on(rt, v.read());
      asio::io_context here;
      const auto done = [&](std::exception_ptr thrown) {
        ended.set_value(test::is(thrown, errc::cancelled));
      };
      auto handler =
          asio::bind_cancellation_slot(stop.slot(), asio::bind_executor(here.get_executor(), done));
      strategy.async_run(add_for_ever, std::tuple(v, &added), std::move(handler));
      while (added.load() < from + 3 * i) std::this_thread::yield();
      stop.emit(asio::cancellation_type::terminal);
      here.run();
      CHECK(ended.get_future().get());
      check_alike(rt, strategy, v);
    }
  });
}

// -- early ends -----------------------------------------------------------------------------------

task<> add_once(replica_context ctx, shared v) { co_await v.assign_add(ctx, 1L); }

TEST_CASE("strategy and variable may be destroyed right after the last await") {
  on_pools([](runtime& rt) {
    for (int i = 0; i < 400; ++i) {
      std::optional<mirrored_strategy> strategy(std::in_place, rt, 4);
      std::optional<shared> v(std::in_place, *strategy, 0);
      switch (i % 4) {
        case 0: block_on(rt, v->assign(1L)); break;
        case 1: block_on(rt, strategy->run(add_once, *v)); break;
        case 2: block_on(rt, v->components()); break;
        default: block_on(rt, strategy->extended().update(*v, [](long& c) { ++c; }));
      }
      if (i % 8 < 4) {
        strategy.reset();
        v.reset();
      } else {
        v.reset();
        strategy.reset();
      }
    }
  });
}

TEST_CASE("a runtime may be destroyed right after the last write to a variable of it") {
  for (int i = 0; i < 100; ++i) {
    runtime rt{pool_size{3}};
    mirrored_strategy strategy{rt, 3};
    const shared v(strategy, 0);
    if (i % 2 == 0) {
      block_on(rt, v.assign(1L));
    } else {
      block_on(rt, strategy.run(add_once, v));
    }
  }
}

task<> own_everything(runtime* rt) {
  mirrored_strategy strategy(*rt, 3);
  const shared v(strategy, 0);
  co_await strategy.run(add_once, v);
  co_await v.assign_add(1L);
}

TEST_CASE("strategies and variables of many tasks end on the lines of those") {
  on_pools([](runtime& rt) {
    std::vector<std::future<void>> all;
    for (int i = 0; i < 200; ++i) all.push_back(start(rt, own_everything(&rt)));
    for (auto& each : all) CHECK_NOTHROW(each.get());
  });
}

}  // namespace
