// Awaitables of Asio's inside replicas: each stays in its own, whoever runs in between.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>

#include "tests/support/census.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

/// Whether the code that runs now is replica `id`'s.
bool in_replica(int id) {
  const auto ctx = get_replica_context();
  return has_strategy() && ctx && ctx->is_current() && ctx->replica_id() == id;
}

asio::awaitable<int> sleep_and_look(int id, int naps, census* frames) {
  const guest here(*frames);
  const auto executor = co_await asio::this_coro::executor;
  int right = in_replica(id) ? 1 : 0;
  for (int i = 0; i < naps; ++i) {
    co_await sleep_for(executor, 1ms, asio::use_awaitable);
    right += in_replica(id) ? 1 : 0;
    co_await asio::post(executor, asio::use_awaitable);
    right += in_replica(id) ? 1 : 0;
  }
  co_return right;
}

asio::awaitable<int> look_below(int id, census* frames) {
  const int below = co_await sleep_and_look(id, 1, frames);
  co_return below + (in_replica(id) ? 1 : 0);
}

int sum(const per_replica<int>& values) { return values[0] + values[1]; }

/// Replica 0 sleeps twice in one awaitable, replica 1 once in one that is nested in another.
task<int> look_around(replica_context ctx, census* frames) {
  const int me = ctx.replica_id();
  int right = 0;
  if (me == 0) {
    right = co_await await_asio(sleep_and_look(0, 2, frames));
  } else {
    right = co_await await_asio(look_below(1, frames));
  }
  right += in_replica(me) ? 1 : 0;
  const int all = co_await ctx.merge_call(sum, right);
  co_return all + (in_replica(me) ? 1 : 0);
}

TEST_CASE("inside: two replicas in awaitables of their own each see themselves") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    census frames;
    const auto right = co_await strategy.run(look_around, &frames);
    // 5 + 1 of replica 0, 4 + 1 of replica 1, and each after the merge.
    w.check(right == per_replica<int>({12, 12}), "every answer is right");
    w.check(w.now() == 2ms, "in virtual time");
    w.check(frames.entered == 2 && frames.balanced(), "everything ended once");
    w.check(!has_strategy(), "the caller is outside");
  });
}

asio::awaitable<int> sleep_and_fail(census* frames) {
  const guest here(*frames);
  const auto executor = co_await asio::this_coro::executor;
  co_await sleep_for(executor, 1ms, asio::use_awaitable);
  throw std::out_of_range("as planned");
}

task<int> one_fails(replica_context ctx, census* frames) {
  int right = 0;
  if (ctx.replica_id() == 0) {
    right = co_await await_asio(sleep_and_fail(frames));
  } else {
    right = co_await await_asio(sleep_and_look(1, 1, frames));
  }
  co_return co_await ctx.merge_call(sum, right);
}

TEST_CASE("an awaitable that throws fails its replica, and the run, with its own exception") {
  explore_lines([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    census frames;
    const auto thrown = co_await outcome_of(strategy.run(one_fails, &frames));
    w.check(is_a<std::out_of_range>(thrown), "its own exception");
    w.check(frames.entered == 2 && frames.balanced(), "everything ended once");
  });
}

/// What a cancelled awaitable sees on its way out.
class last_look {
 public:
  last_look(int id, int* right) noexcept : id_(id), right_(right) {}
  last_look(const last_look&) = delete;
  last_look& operator=(const last_look&) = delete;
  ~last_look() { *right_ += in_replica(id_) ? 1 : 0; }

 private:
  int id_;
  int* right_;
};

asio::awaitable<void> sleep_long(int id, int* right, census* frames) {
  const guest here(*frames);
  const auto executor = co_await asio::this_coro::executor;
  const last_look at_end(id, right);
  co_await sleep_for(executor, 1h, asio::use_awaitable);
}

task<> sleeps_long(replica_context ctx, int* right, census* frames) {
  co_await await_asio(sleep_long(ctx.replica_id(), right, frames));
}

task<> cancel_in_the_middle(world* w, census* frames) {
  mirrored_strategy strategy(w->runtime(), 2);
  asio::cancellation_signal stop;
  std::exception_ptr outcome;
  int right = 0;
  strategy.async_run(
      sleeps_long, std::tuple(&right, frames),
      asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) { outcome = e; }));
  co_await sleep_for(1ms);
  stop.emit(asio::cancellation_type::terminal);
  co_await sleep_for(1ms);
  w->check(outcome != nullptr, "the run has ended");
  w->check(right == 2, "both awaitables ended inside");
  w->check(w->now() == 2ms, "at once");
}

TEST_CASE("cancellable: cancelling a run ends its replicas' awaitables, inside and at once") {
  explore_lines([](world& w) -> task<> {
    census frames;
    co_await cancel_in_the_middle(&w, &frames);
    w.check(frames.entered == 2 && frames.balanced(), "everything ended once");
  });
}

}  // namespace
}  // namespace troupe::test
