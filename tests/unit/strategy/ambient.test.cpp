#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

/// What the four queries answer at one spot.
struct answers {
  std::optional<int> replica;
  bool cross = false;
  bool has = false;
  const strategy* in_force = nullptr;

  friend bool operator==(const answers&, const answers&) = default;
};

answers ask() {
  answers a;
  if (const auto ctx = get_replica_context()) a.replica = ctx->replica_id();
  a.cross = in_cross_replica_context();
  a.has = has_strategy();
  a.in_force = &get_strategy();
  return a;
}

answers outside() {
  answers a;
  a.replica = 0;
  a.in_force = &get_default_strategy();
  return a;
}
answers in_replica(const strategy& s, int id) {
  answers a;
  a.replica = id;
  a.has = true;
  a.in_force = &s;
  return a;
}
answers in_merge(const strategy& s) {
  answers a;
  a.cross = true;
  a.has = true;
  a.in_force = &s;
  return a;
}

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
};

TEST_CASE("core-001 outside every strategy the default one is in force") {
  CHECK(ask() == outside());
}

task<answers> ask_in_task() { co_return ask(); }

TEST_CASE_METHOD(fixture, "a task that no strategy runs is in the default state") {
  CHECK(block_on(rt, ask_in_task()) == outside());
}

TEST_CASE_METHOD(fixture, "a plain replica function is in its replica context") {
  const auto r = block_on(rt, strategy.run([] { return ask(); }));
  CHECK(r == per_replica<answers>({in_replica(strategy, 0), in_replica(strategy, 1)}));
}

TEST_CASE_METHOD(fixture, "a replica coroutine is in its replica context") {
  const auto r = block_on(rt, strategy.run(ask_in_task));
  CHECK(r == per_replica<answers>({in_replica(strategy, 0), in_replica(strategy, 1)}));
}

task<answers> ask_two_tasks_down() {
  const auto nested = []() -> task<answers> { co_return co_await ask_in_task(); };
  co_return co_await nested();
}

TEST_CASE_METHOD(fixture, "tasks that a replica awaits are in its context") {
  const auto r = block_on(rt, strategy.run(ask_two_tasks_down));
  CHECK(r[1] == in_replica(strategy, 1));
}

task<answers> ask_after_a_sleep() {
  co_await sleep_for(std::chrono::nanoseconds(1));
  co_return ask();
}

TEST_CASE_METHOD(fixture, "the answers hold across a suspension") {
  const auto r = block_on(rt, strategy.run(ask_after_a_sleep));
  CHECK(r == per_replica<answers>({in_replica(strategy, 0), in_replica(strategy, 1)}));
}

TEST_CASE("the answers hold across suspensions on the threads of a pool") {
  runtime rt{pool_size{2}};
  mirrored_strategy strategy(rt, 4);
  const auto r = block_on(rt, strategy.run(ask_after_a_sleep));
  for (int i = 0; i < 4; ++i) CHECK(r[i] == in_replica(strategy, i));
}

TEST_CASE("the answers are each replica's own under every schedule") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 3);
    const auto r = co_await strategy.run(ask_after_a_sleep);
    for (int i = 0; i < 3; ++i) w.check(r[i] == in_replica(strategy, i), "its own");
  });
}

task<answers> ask_in_plain_merge(replica_context ctx) {
  co_return co_await ctx.merge_call([] { return ask(); });
}

TEST_CASE_METHOD(fixture, "core-004 a plain merge function is in cross-replica context") {
  const auto r = block_on(rt, strategy.run(ask_in_plain_merge));
  CHECK(r[0] == in_merge(strategy));
}

task<answers> ask_in_merge_coroutine(replica_context ctx) {
  co_return co_await ctx.merge_call(ask_after_a_sleep);
}

TEST_CASE_METHOD(fixture, "core-004 a merge coroutine is in cross-replica context, also later") {
  const auto r = block_on(rt, strategy.run(ask_in_merge_coroutine));
  CHECK(r[0] == in_merge(strategy));
}

task<answers> ask_after_a_merge(replica_context ctx) {
  co_await ctx.merge_call([] {});
  co_return ask();
}

TEST_CASE_METHOD(fixture, "after a merge a replica is in its own context again") {
  const auto r = block_on(rt, strategy.run(ask_after_a_merge));
  CHECK(r[1] == in_replica(strategy, 1));
}

task<answers> ask_inside_a_nested_run(cross_replica_context cross) {
  const auto below = co_await cross.run([] { return ask(); });
  co_return below[1];
}

task<answers> nest(replica_context ctx) {
  co_return co_await ctx.merge_call(ask_inside_a_nested_run);
}

TEST_CASE_METHOD(fixture, "replicas of a nested run are in contexts of their own") {
  const auto r = block_on(rt, strategy.run(nest));
  CHECK(r[0] == in_replica(strategy, 1));
}

task<answers> ask_after_a_nested_run(cross_replica_context cross) {
  co_await cross.run([] {});
  co_return ask();
}

task<answers> nest_and_come_back(replica_context ctx) {
  co_return co_await ctx.merge_call(ask_after_a_nested_run);
}

TEST_CASE_METHOD(fixture, "after a nested run a merge function is in its context again") {
  const auto r = block_on(rt, strategy.run(nest_and_come_back));
  CHECK(r[0] == in_merge(strategy));
}

task<answers> ask_after_a_run(const strategy* s) {
  co_await s->run([] {});
  co_return ask();
}

TEST_CASE_METHOD(fixture, "after a run its caller is in the default state again") {
  CHECK(block_on(rt, ask_after_a_run(&strategy)) == outside());
}

TEST_CASE_METHOD(fixture, "core-056 after a failed run everything is in the default state") {
  CHECK(thrown_by([&] { block_on(rt, strategy.run([] { throw 1; })); }) != nullptr);
  CHECK(ask() == outside());
  CHECK(block_on(rt, ask_in_task()) == outside());
}

task<int> launched_from_a_replica(runtime* rt) {
  co_return co_await launch(
      *rt, []() -> task<int> { co_return ask() == outside() ? 1 : 0; }(), use_task);
}

TEST_CASE_METHOD(fixture, "core-022 a task launched from a replica starts in the default state") {
  const auto r = block_on(rt, strategy.run(launched_from_a_replica, &rt));
  CHECK(r == per_replica<int>({1, 1}));
}

// -- the default strategy -------------------------------------------------------------------------

TEST_CASE("the default strategy has one replica") {
  CHECK(get_default_strategy().num_replicas_in_sync() == 1);
}

TEST_CASE_METHOD(fixture, "the default strategy runs where its caller runs") {
  const auto r = block_on(rt, get_strategy().run([] { return 7; }));
  CHECK(r == per_replica<int>({7}));
}

task<bool> merge_in_default(replica_context ctx) {
  co_return co_await ctx.merge_call([](cross_replica_context cross) {
    return &cross.strategy() == &get_default_strategy() && !get_replica_context() &&
           in_cross_replica_context() && !has_strategy();
  });
}

TEST_CASE_METHOD(fixture, "core-013 a merge in the default strategy is in its cross context") {
  CHECK(block_on(rt, get_strategy().run(merge_in_default))[0]);
}

// -- what is refused ------------------------------------------------------------------------------

task<> as_run(const strategy& s) {
  co_await s.run([] {});
}

template <class Call>
std::exception_ptr refusal(fixture& f, Call call) {
  return thrown_by([&] { block_on(f.rt, f.strategy.run(std::move(call))); });
}

TEST_CASE_METHOD(fixture, "core-017 run() inside a replica is errc::cross_replica_required") {
  const auto inside = [this] { return as_run(strategy); };
  CHECK(is(refusal(*this, inside), errc::cross_replica_required));
}

TEST_CASE_METHOD(fixture, "core-018 reduce() inside a replica is errc::cross_replica_required") {
  const per_replica<int> values = {1, 2};
  const auto inside = [&] { return strategy.reduce(reduce_op::sum, values); };
  CHECK(is(refusal(*this, inside), errc::cross_replica_required));
}

TEST_CASE_METHOD(fixture, "core-012 run() inside another strategy's replica is refused") {
  mirrored_strategy other(rt, 2);
  const auto inside = [&other] { return as_run(other); };
  CHECK(is(refusal(*this, inside), errc::strategy_mixed));
}

}  // namespace
}  // namespace troupe::test
