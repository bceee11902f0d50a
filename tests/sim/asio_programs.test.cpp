// Programs of Asio's own coroutines, channels and groups, in a simulated world as they are: their
// executor is the world's, and their timers are troupe::timer.

#include <array>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/deferred.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/parallel_group.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <set>
#include <system_error>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using channel = asio::experimental::channel<void(std::error_code, int)>;

asio::awaitable<void> wait(std::chrono::nanoseconds how_long) {
  timer alarm(co_await asio::this_coro::executor);
  alarm.expires_after(how_long);
  co_await alarm.async_wait(asio::use_awaitable);
}

// -- loops that never end -------------------------------------------------------------------------

asio::awaitable<void> wait_again_and_again() {
  for (;;) co_await wait(1ms);
}
asio::awaitable<void> post_again_and_again() {
  for (;;) co_await asio::post(asio::use_awaitable);
}

task<> await(asio::awaitable<void> (*loop)()) { co_await await_asio(loop()); }

TEST_CASE("a loop of Asio's timers or handlers that never ends is errc::too_long") {
  for (const auto loop : {wait_again_and_again, post_again_and_again}) {
    simulation_options options;
    options.heed_environment = false;
    options.max_steps = 20'000;
    const auto report = simulation(options).explore([=](world&) { return await(loop); });
    REQUIRE(report.failure);
    CHECK(is(report.failure->exception, errc::too_long));
  }
}

// -- channels ------------------------------------------------------------------------------------

asio::awaitable<void> produce(channel* into, int first, std::chrono::nanoseconds pause,
                              int count = 3) {
  for (int i = 0; i < count; ++i) {
    co_await wait(pause);
    co_await into->async_send(std::error_code(), first + i, asio::use_awaitable);
  }
}

asio::awaitable<int> consume(channel* from, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += co_await from->async_receive(asio::use_awaitable);
  co_return sum;
}

TEST_CASE("producers and a consumer meet at a channel, an hour apart, in no time") {
  explore_lines([](world& w) -> task<> {
    const auto executor = w.runtime().get_executor();
    channel between(executor, 1);
    asio::co_spawn(executor, produce(&between, 10, 1h), asio::detached);
    asio::co_spawn(executor, produce(&between, 20, 1h), asio::detached);
    const int sum = co_await asio::co_spawn(executor, consume(&between, 6), use_task);
    w.check(sum == 10 + 11 + 12 + 20 + 21 + 22, "everything that was sent");
    w.check(w.now() == 3h, "three hours");
  });
}

asio::awaitable<void> send_to(channel* next, int value) {
  co_await next->async_send(std::error_code(), value, asio::use_awaitable);
}

task<> pass_on(replica_context ctx, std::vector<channel>* ring, int* last) {
  const auto self = static_cast<std::size_t>(ctx.replica_id());
  int token = 0;
  if (self != 0) token = co_await (*ring)[self].async_receive(use_task);
  co_await ctx.merge_call([] {});
  if (self + 1 < ring->size()) co_await await_asio(send_to(&(*ring)[self + 1], token + 1));
  *last = token;
}

TEST_CASE("replicas that wait for each other at a channel beside a merge are a deadlock") {
  simulation_options options;
  options.heed_environment = false;
  const auto report = simulation(options).explore([](world& w) -> task<> {
    std::vector<channel> ring;
    for (int i = 0; i < 2; ++i) ring.emplace_back(w.runtime().get_executor(), 1);
    int last = 0;
    mirrored_strategy strategy(w.runtime(), 2);
    co_await strategy.run(pass_on, &ring, &last);
  });
  REQUIRE(report.failure);
  CHECK(report.failure->what.find("deadlock") != std::string::npos);
}

// -- awaitable_operators -------------------------------------------------------------------------

asio::awaitable<bool> receive_within(channel* from, std::chrono::nanoseconds limit) {
  const auto first = co_await (from->async_receive(asio::use_awaitable) || wait(limit));
  co_return first.index() == 0;
}

TEST_CASE("an operation or a time-out: whichever is first, in virtual time") {
  explore_lines([](world& w) -> task<> {
    const auto executor = w.runtime().get_executor();
    channel between(executor, 1);
    asio::co_spawn(executor, produce(&between, 1, 2s, 1), asio::detached);
    const bool early = co_await asio::co_spawn(executor, receive_within(&between, 1s), use_task);
    w.check(!early, "nothing comes in a second");
    const bool late = co_await asio::co_spawn(executor, receive_within(&between, 2s), use_task);
    w.check(late, "something comes in two more");
    w.check(w.now() == 2s, "at once when it comes");
  });
}

TEST_CASE("an operation and another one: both, and the time of the later") {
  explore_lines([](world& w) -> task<> {
    const auto executor = w.runtime().get_executor();
    co_await asio::co_spawn(executor, wait(1s) && wait(3s), use_task);
    w.check(w.now() == 3s, "three seconds");
  });
}

// -- parallel_group ------------------------------------------------------------------------------

asio::awaitable<std::size_t> first_of_three() {
  const auto executor = co_await asio::this_coro::executor;
  timer slow(executor), quick(executor), never(executor);
  slow.expires_after(3s);
  quick.expires_after(1s);
  never.expires_after(24h);
  const auto [order, a, b, c] =
      co_await asio::experimental::make_parallel_group(slow.async_wait(asio::deferred),
                                                       quick.async_wait(asio::deferred),
                                                       never.async_wait(asio::deferred))
          .async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
  const bool others_cancelled =
      a == asio::error::operation_aborted && c == asio::error::operation_aborted;
  co_return !b && others_cancelled ? order[0] : 99;
}

TEST_CASE("a parallel group ends with its first timer, and cancels the rest") {
  explore_lines([](world& w) -> task<> {
    const auto executor = w.runtime().get_executor();
    const std::size_t first = co_await asio::co_spawn(executor, first_of_three(), use_task);
    w.check(first == 1, "the second timer");
    w.check(w.now() == 1s, "after its second");
  });
}

// -- cancellation --------------------------------------------------------------------------------

TEST_CASE("a coroutine of Asio's is cancelled through its slot, at once") {
  explore_lines([](world& w) -> task<> {
    const auto executor = w.runtime().get_executor();
    asio::cancellation_signal stop;
    std::exception_ptr how;
    bool ended = false;
    asio::co_spawn(executor, wait(1h),
                   asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr failed) {
                     how = std::move(failed);
                     ended = true;
                   }));
    co_await sleep_for(1s);
    stop.emit(asio::cancellation_type::terminal);
    co_await sleep_for(0s);
    w.check(ended && how != nullptr, "it has been cancelled");
    w.check(w.now() == 1s, "after a second, not an hour");
  });
}

}  // namespace
}  // namespace troupe::test
