// What is started on a runtime that has ended: its handler is told so, once, and never inside the
// initiating call.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <asio/use_future.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

/// How often a handler was called, and with what.
struct told {
  int times = 0;
  std::exception_ptr failure;

  auto handler() {
    return [this](std::exception_ptr e) {
      ++times;
      failure = e;
    };
  }
  bool gone_once() const { return times == 1 && is(failure, errc::runtime_gone); }
};

/// A strategy whose runtime on an io_context has ended.
struct ended_on_a_context {
  std::optional<asio::io_context> io{std::in_place};
  std::optional<runtime> rt{io->get_executor()};
  mirrored_strategy strategy{*rt, 2};
  asio::io_context elsewhere;
  told end;

  ended_on_a_context() { rt.reset(); }

  template <class Handler>
  void start(Handler handler) {
    strategy.async_run([] {}, std::tuple(), std::move(handler));
    CHECK(end.times == 0);  // Not inside the call.
  }
};

TEST_CASE_METHOD(ended_on_a_context,
                 "a run on a runtime that has ended is told so on its executor") {
  start(end.handler());
  io->run();
  CHECK(end.gone_once());
}

TEST_CASE_METHOD(ended_on_a_context,
                 "a run on a runtime that has ended is told so where its handler is") {
  start(asio::bind_executor(elsewhere, end.handler()));
  elsewhere.run();
  CHECK(end.gone_once());
  CHECK(io->run() == 0);  // Nothing keeps it busy.
}

TEST_CASE_METHOD(ended_on_a_context,
                 "not even a handler of the calling thread's executor is told inside the call") {
  asio::post(elsewhere, [&] { start(asio::bind_executor(elsewhere, end.handler())); });
  elsewhere.run();
  CHECK(end.gone_once());
}

TEST_CASE_METHOD(ended_on_a_context,
                 "a run whose execution context is gone, too, is told so where its handler is") {
  io.reset();
  start(asio::bind_executor(elsewhere, end.handler()));
  elsewhere.run();
  CHECK(end.gone_once());
}

TEST_CASE("a run whose execution context ended first is told so where its handler is") {
  std::optional<asio::io_context> io(std::in_place);
  runtime rt{asio::make_strand(*io)};
  mirrored_strategy strategy{rt, 2};
  io.reset();
  asio::io_context elsewhere;
  told end;
  strategy.async_run([] {}, std::tuple(), asio::bind_executor(elsewhere, end.handler()));
  elsewhere.run();
  CHECK(end.gone_once());
}

/// Its handler has no executor, and none is left but Asio's own.
template <class Strategy>
bool is_told_somewhere(const Strategy& strategy) {
  std::promise<std::exception_ptr> failure;
  strategy.async_run([] {}, std::tuple(), [&](std::exception_ptr e) { failure.set_value(e); });
  auto told = failure.get_future();
  return told.wait_for(10s) == std::future_status::ready && is(told.get(), errc::runtime_gone);
}

TEST_CASE_METHOD(ended_on_a_context,
                 "a handler without an executor is told on Asio's own when none is left") {
  io.reset();
  CHECK(is_told_somewhere(strategy));
}

TEST_CASE_METHOD(ended_on_a_context, "a future of a run on a runtime that has ended throws") {
  auto result = strategy.async_run([] {}, std::tuple(), asio::use_future);
  REQUIRE(result.wait_for(10s) == std::future_status::ready);
  CHECK(is(thrown_by([&] { result.get(); }), errc::runtime_gone));
}

TEST_CASE_METHOD(ended_on_a_context, "nobody has to be told of a run on a runtime that has ended") {
  strategy.async_run([] {}, std::tuple(), asio::detached);
  CHECK(io->run() == 1);
}

TEST_CASE_METHOD(ended_on_a_context, "a handler that is told so and tries again is told again") {
  int left = 3;
  std::function<void(std::exception_ptr)> again = [&](std::exception_ptr e) {
    CHECK(is(e, errc::runtime_gone));
    if (--left > 0) strategy.async_run([] {}, std::tuple(), again);
  };
  strategy.async_run([] {}, std::tuple(), again);
  io->run();
  CHECK(left == 0);
}

TEST_CASE_METHOD(ended_on_a_context, "a cancellation of what was never begun changes nothing") {
  asio::cancellation_signal signal;
  start(asio::bind_cancellation_slot(signal.slot(), end.handler()));
  signal.emit(asio::cancellation_type::terminal);
  io->run();
  CHECK(end.gone_once());
  CHECK_FALSE(signal.slot().has_handler());
}

TEST_CASE_METHOD(ended_on_a_context,
                 "what a task on a runtime that has ended holds is destroyed once") {
  const auto held = std::make_shared<int>(1);
  launch(
      strategy.state()->runtime(), [](std::shared_ptr<int>) -> task<> { co_return; }(held),
      end.handler());
  CHECK(held.use_count() == 1);
  io->run();
  CHECK(end.gone_once());
}

/// A strategy whose pool has ended, and somebody else's runtime.
struct ended_pool {
  std::optional<runtime> pool{pool_size{2}};
  mirrored_strategy strategy{*pool, 2};
  asio::io_context io;
  runtime here{io.get_executor()};
  told end;

  ended_pool() { pool.reset(); }
};

TEST_CASE_METHOD(ended_pool, "a run on a pool that has ended is told so where its handler is") {
  strategy.async_run([] {}, std::tuple(), asio::bind_executor(io, end.handler()));
  CHECK(end.times == 0);
  io.run();
  CHECK(end.gone_once());
}

TEST_CASE_METHOD(ended_pool, "a run on a pool that has ended is told so on Asio's own executor") {
  CHECK(is_told_somewhere(strategy));
}

task<> run_elsewhere(const strategy* there) {
  co_await there->async_run([] {}, std::tuple(), use_task);
}

TEST_CASE_METHOD(ended_pool,
                 "a task that awaits a run on a pool that has ended gets runtime_gone") {
  CHECK(is(thrown_by([&] { block_on(here, run_elsewhere(&strategy)); }), errc::runtime_gone));
}

}  // namespace
}  // namespace troupe::test
