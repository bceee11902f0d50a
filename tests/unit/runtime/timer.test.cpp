#include "troupe/runtime/timer.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

bool was_cancelled(std::error_code ec) { return ec == asio::error::operation_aborted; }

TEST_CASE("a sleep takes exactly its virtual time") {
  explore_all([](world& w) -> task<> {
    co_await sleep_for(milliseconds(10));
    w.check(w.now() == milliseconds(10), "ten milliseconds");
    co_await sleep_for(milliseconds(5));
    w.check(w.now() == milliseconds(15), "and five");
  });
}

TEST_CASE("an hour of virtual time costs one schedule and no waiting") {
  const auto report = explore_all([](world& w) -> task<> {
    for (int i = 0; i < 1000; ++i) co_await sleep_for(hours(1));
    w.check(w.now() == hours(1000), "a thousand hours");
  });
  CHECK(report.schedules == 1);
}

TEST_CASE("a sleep of no time, or less, ends at the same moment") {
  explore_all([](world& w) -> task<> {
    co_await sleep_for(milliseconds(0));
    co_await sleep_for(milliseconds(-1));
    w.check(w.now() == milliseconds(0), "no time has passed");
  });
}

task<> sleep_and_note(milliseconds how_long, std::string* order, char name) {
  co_await sleep_for(how_long);
  *order += name;
}

TEST_CASE("sleeps end in the order of their deadlines, whatever the order of their start") {
  const auto report = explore_all([](world& w) -> task<> {
    std::string order;
    const auto ignore = [](std::exception_ptr) {};
    launch(w.runtime(), sleep_and_note(milliseconds(3), &order, 'c'), ignore);
    launch(w.runtime(), sleep_and_note(milliseconds(1), &order, 'a'), ignore);
    launch(w.runtime(), sleep_and_note(milliseconds(2), &order, 'b'), ignore);
    co_await sleep_for(milliseconds(10));
    w.check(order == "abc", "by deadline");
  });
  CHECK(report.schedules > 1);
}

TEST_CASE("of sleeps with one deadline any may go on first") {
  int first[2] = {0, 0};
  explore_all([&](world& w) {
    return [](world& v, int* count) -> task<> {
      std::string order;
      const auto ignore = [](std::exception_ptr) {};
      launch(v.runtime(), sleep_and_note(milliseconds(1), &order, 'a'), ignore);
      launch(v.runtime(), sleep_and_note(milliseconds(1), &order, 'b'), ignore);
      co_await sleep_for(milliseconds(2));
      v.check(order.size() == 2, "both");
      ++count[order == "ab" ? 0 : 1];
    }(w, first);
  });
  CHECK(first[0] > 0);
  CHECK(first[1] > 0);
}

TEST_CASE("cancel: cancel() completes the wait with operation_aborted, at once") {
  explore_all([](world& w) -> task<> {
    timer t(w.runtime().get_executor());
    t.expires_after(hours(1));
    std::error_code ended;
    t.async_wait([&ended](std::error_code ec) { ended = ec; });
    w.check(t.cancel() == 1, "one wait");
    co_await sleep_for(milliseconds(1));
    w.check(was_cancelled(ended), "operation_aborted");
  });
}

TEST_CASE("cancel: a wait that has completed is not cancelled") {
  explore_all([](world& w) -> task<> {
    timer t(w.runtime().get_executor());
    t.expires_after(milliseconds(1));
    co_await t.async_wait(use_task);
    w.check(t.cancel() == 0, "nothing to cancel");
  });
}

TEST_CASE("cancel: destroying the timer completes the wait with operation_aborted") {
  explore_all([](world& w) -> task<> {
    auto t = std::make_unique<timer>(w.runtime().get_executor());
    t->expires_after(hours(1));
    std::error_code ended;
    t->async_wait([&ended](std::error_code ec) { ended = ec; });
    t.reset();
    co_await sleep_for(milliseconds(1));
    w.check(was_cancelled(ended), "operation_aborted");
  });
}

TEST_CASE("cancel: the cancellation slot completes the wait with operation_aborted") {
  explore_all([](world& w) -> task<> {
    timer t(w.runtime().get_executor());
    t.expires_after(hours(1));
    asio::cancellation_signal stop;
    std::error_code ended;
    t.async_wait(
        asio::bind_cancellation_slot(stop.slot(), [&ended](std::error_code ec) { ended = ec; }));
    stop.emit(asio::cancellation_type::terminal);
    co_await sleep_for(milliseconds(1));
    w.check(was_cancelled(ended), "operation_aborted");
  });
}

TEST_CASE("cancel: a new expiry cancels the waits for the old one") {
  explore_all([](world& w) -> task<> {
    timer t(w.runtime().get_executor());
    t.expires_after(hours(1));
    std::error_code ended;
    t.async_wait([&ended](std::error_code ec) { ended = ec; });
    t.expires_after(milliseconds(1));
    co_await t.async_wait(use_task);
    w.check(was_cancelled(ended), "operation_aborted");
    w.check(w.now() == milliseconds(1), "and the new one holds");
  });
}

TEST_CASE("several waits on one timer all complete") {
  explore_all([](world& w) -> task<> {
    timer t(w.runtime().get_executor());
    t.expires_after(milliseconds(1));
    int completed = 0;
    for (int i = 0; i < 3; ++i) {
      t.async_wait([&completed](std::error_code ec) { completed += ec ? 0 : 1; });
    }
    co_await sleep_for(milliseconds(2));
    w.check(completed == 3, "three");
  });
}

TEST_CASE("sleep_for with a token needs no timer object") {
  explore_all([](world& w) -> task<> {
    bool ended = false;
    sleep_for(w.runtime().get_executor(), milliseconds(3),
              [&ended](std::error_code ec) { ended = !ec; });
    co_await sleep_for(milliseconds(2));
    w.check(!ended, "not yet");
    co_await sleep_for(milliseconds(2));
    w.check(ended, "now");
  });
}

TEST_CASE("sleep_for with a token heeds the token's cancellation slot") {
  explore_all([](world& w) -> task<> {
    asio::cancellation_signal stop;
    std::error_code ended;
    sleep_for(
        w.runtime().get_executor(), hours(1),
        asio::bind_cancellation_slot(stop.slot(), [&ended](std::error_code ec) { ended = ec; }));
    stop.emit(asio::cancellation_type::terminal);
    co_await sleep_for(milliseconds(1));
    w.check(was_cancelled(ended), "operation_aborted");
  });
}

TEST_CASE("same: the code of a simulated sleep runs in real time") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK_NOTHROW(block_on(rt, sleep_for(std::chrono::nanoseconds(1))));
}

TEST_CASE("same: cancel() completes a real wait with operation_aborted") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  timer t(rt.get_executor());
  t.expires_after(hours(1));
  std::error_code ended;
  t.async_wait([&ended](std::error_code ec) { ended = ec; });
  t.cancel();
  io.run();
  CHECK(was_cancelled(ended));
}

task<> sleep_an_hour() { co_await sleep_for(hours(1)); }

TEST_CASE("same: cancelling a launched task ends its real sleep at once") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  asio::cancellation_signal stop;
  std::exception_ptr failure;
  launch(rt, sleep_an_hour(),
         asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) { failure = e; }));
  io.poll();
  stop.emit(asio::cancellation_type::terminal);
  io.run();
  const auto told = as<std::system_error>(failure);
  REQUIRE(told);
  CHECK(was_cancelled(told->code()));
}

TEST_CASE("same: on a pool a task can sleep, too") {
  runtime rt{pool_size{1}};
  CHECK_NOTHROW(block_on(rt, sleep_for(std::chrono::nanoseconds(1))));
}

// -- real time in a world ------------------------------------------------------------------------

/// One timer may well ring while the steps are taken.
task<> waits_for_real(world& w) {
  bool rang = false;
  asio::steady_timer unheard(w.runtime().get_executor(), std::chrono::microseconds(1));
  unheard.async_wait([&](std::error_code) { rang = true; });
  for (int i = 0; i < 1'000; ++i) co_await sleep_for(hours(1));
  w.check(!rang, "nobody hears what comes from outside");
  asio::steady_timer alarm(w.runtime().get_executor(), std::chrono::microseconds(1));
  co_await alarm.async_wait(use_task);
}

TEST_CASE("a timer of Asio's own ends in no world: who waits for it is told what to write") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore(waits_for_real);
  REQUIRE(report.failure);
  CHECK(report.schedules == 1);
  CHECK(report.failure->what.find("deadlock at step 1001") != std::string::npos);
  CHECK(report.failure->what.find("a troupe::timer and sleep_for() do") != std::string::npos);
}

}  // namespace
}  // namespace troupe::test
