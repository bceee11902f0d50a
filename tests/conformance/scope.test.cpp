// Being inside a strategy without a run: what a scope changes, refuses and leaves behind.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using texts = per_replica<std::string>;

/// What the ambient queries answer here, in one line.
std::string where(const strategy& own) {
  const auto replica = get_replica_context();
  std::string text = in_cross_replica_context() ? "cross-replica" : "outside";
  if (replica) text = "replica " + std::to_string(replica->replica_id());
  text += &get_strategy() == &own ? ", own strategy" : ", another strategy";
  return text + (has_strategy() ? ", has one" : ", has none");
}

std::string where_by_default() { return where(get_default_strategy()); }

const std::string nowhere = "replica 0, own strategy, has none";
const std::string inside = "cross-replica, own strategy, has one";

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
  mirrored_strategy other{rt, 2};
};

// -- on a thread ----------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "core-002 a scope is cross-replica context, and ends with its block") {
  {
    const auto in = strategy.scope();
    CHECK(where(strategy) == inside);
  }
  CHECK(where_by_default() == nowhere);
}

TEST_CASE_METHOD(fixture, "core-005 a strategy's scopes nest, and the outermost one ends it") {
  for (int again = 0; again < 2; ++again) {
    const auto a = strategy.scope();
    {
      const auto b = strategy.scope();
      const auto c = strategy.scope();
      CHECK(where(strategy) == inside);
    }
    CHECK(where(strategy) == inside);
  }
  CHECK(where_by_default() == nowhere);
}

TEST_CASE_METHOD(fixture, "core-006 another strategy's scope is refused, and changes nothing") {
  const auto in = strategy.scope();
  CHECK(is(thrown_by([&] { const auto there = other.scope(); }), errc::strategy_mixed));
  CHECK(where(strategy) == inside);
}

TEST_CASE_METHOD(fixture, "core-008 no strategy is set inside a scope or a run") {
  const auto set = [](const mirrored_strategy* which) {
    return thrown_by([which] { experimental_set_strategy(which); });
  };
  const auto in = strategy.scope();
  CHECK(is(set(&other), errc::inside_scope));
  CHECK(is(set(&strategy), errc::inside_scope));
  CHECK(is(set(nullptr), errc::inside_scope));
  CHECK(where(strategy) == inside);
  const auto set_in_replica = [set] { return is(set(nullptr), errc::inside_scope); };
  CHECK(block_on(rt, strategy.run(set_in_replica)) == per_replica<bool>({true, true}));
}

TEST_CASE_METHOD(fixture, "a strategy that is set is in force until the next one is") {
  experimental_set_strategy(&strategy);
  CHECK(where(strategy) == inside);
  {
    const auto again = strategy.scope();
    CHECK(where(strategy) == inside);
  }
  CHECK(is(thrown_by([&] { const auto there = other.scope(); }), errc::strategy_mixed));
  experimental_set_strategy(&other);
  CHECK(where(other) == inside);
  experimental_set_strategy(&get_default_strategy());
  CHECK(where_by_default() == nowhere);
  experimental_set_strategy(&strategy);
  experimental_set_strategy(nullptr);
  CHECK(where_by_default() == nowhere);
}

task<std::string> set_and_ask(const mirrored_strategy* own) {
  experimental_set_strategy(own);
  co_await sleep_for(std::chrono::milliseconds(1));
  co_return where(*own);
}

TEST_CASE_METHOD(fixture, "a strategy that a task sets is in force in that task alone") {
  CHECK(block_on(rt, set_and_ask(&strategy)) == inside);
  CHECK(where_by_default() == nowhere);
}

/// What needs cross-replica context, one call after the other, and how each of them ends.
class calls_across {
 public:
  explicit calls_across(fixture& in)
      : rt_(in.rt), strategy_(in.strategy), extended_(strategy_.extended()), v_(strategy_, 1.0f) {}

  std::vector<std::string> endings() {
    const per_replica<float> values = {1, 3};
    const std::vector<std::pair<per_replica<float>, std::string>> pairs = {{values, "cpu:0"}};
    const auto plain = [](update_context) {};
    const auto write = [](float& component) { component = 2; };
    std::vector<std::exception_ptr> all;
    all.push_back(thrown_by([&] { return strategy_.reduce(reduce_op::mean, values); }));
    all.push_back(thrown_by([&] { return extended_.reduce_to(reduce_op::mean, values, v_); }));
    all.push_back(thrown_by([&] { return extended_.batch_reduce_to(reduce_op::mean, pairs); }));
    all.push_back(thrown_by([&] { return extended_.broadcast_to(1, v_); }));
    all.push_back(thrown_by([&] { block_on(rt_, strategy_.run([] {})); }));
    all.push_back(thrown_by([&] { block_on(rt_, extended_.update(v_, write)); }));
    const auto& devices = extended_.non_slot_devices();
    all.push_back(thrown_by([&] { block_on(rt_, extended_.update_non_slot(devices, plain)); }));
    all.push_back(thrown_by([&] { run_steps(); }));
    std::vector<std::string> told;
    for (const auto& each : all) told.push_back(ending(each));
    return told;
  }

 private:
  void run_steps() {
    const std::vector<int> batches = {1};
    const auto step = [](multi_step_context&, int) {};
    // The call is deprecated, and tested nevertheless.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    block_on(rt_, extended_.experimental_run_steps_on_iterator(step, batches.begin()));
#pragma GCC diagnostic pop
  }

  runtime& rt_;
  mirrored_strategy& strategy_;
  strategy_extended extended_;
  variable<float> v_;
};

TEST_CASE_METHOD(fixture, "core-012 what needs cross-replica context is refused in another scope") {
  calls_across calls(*this);
  CHECK(calls.endings() == std::vector<std::string>(8, "returned"));
  {
    const auto in = strategy.scope();
    CHECK(calls.endings() == std::vector<std::string>(8, "returned"));
  }
  const auto in = other.scope();
  CHECK(calls.endings() == std::vector<std::string>(8, "TR-204"));
}

TEST_CASE_METHOD(fixture, "core-014 the default strategy's scope changes nothing") {
  {
    const auto in = get_default_strategy().scope();
    CHECK(where_by_default() == nowhere);
    const auto deeper = strategy.scope();
    CHECK(where(strategy) == inside);
    CHECK(is(thrown_by([] { const auto there = get_default_strategy().scope(); }),
             errc::strategy_mixed));
  }
  CHECK(where_by_default() == nowhere);
}

TEST_CASE_METHOD(fixture, "core-022 another thread is not inside") {
  const auto in = strategy.scope();
  std::string there;
  std::thread([&] { there = where_by_default(); }).join();
  CHECK(there == nowhere);
}

task<std::string> ask(const strategy* own) { co_return where(*own); }

TEST_CASE_METHOD(fixture, "what block_on() runs is inside the scopes of who waits") {
  const auto in = strategy.scope();
  CHECK(block_on(rt, ask(&strategy)) == inside);
}

TEST_CASE_METHOD(fixture, "a scope outlives its strategy") {
  std::optional<mirrored_strategy> short_lived;
  short_lived.emplace(rt, 2);
  {
    const auto in = short_lived->scope();
    short_lived.reset();
    CHECK(has_strategy());
  }
  CHECK(where_by_default() == nowhere);
}

// -- in tasks -------------------------------------------------------------------------------------

task<std::string> ask_after_a_sleep(const strategy* own) {
  co_await sleep_for(std::chrono::nanoseconds(1));
  co_return where(*own);
}

task<std::vector<std::string>> walk_through_a_scope(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  std::vector<std::string> seen;
  {
    const auto in = strategy.scope();
    seen.push_back(where(strategy));
    const std::string after_a_sleep = co_await ask_after_a_sleep(&strategy);
    seen.push_back(after_a_sleep);
    const std::string launched = co_await launch(rt, ask(&get_default_strategy()), use_task);
    seen.push_back(launched);
    const texts replicas = co_await strategy.run([] { return where(get_strategy()); });
    seen.push_back(replicas[1]);
    seen.push_back(where(strategy));
  }
  seen.push_back(where_by_default());
  co_return seen;
}

TEST_CASE("a scope belongs to its task, across suspensions and around runs") {
  check_in_every_world(walk_through_a_scope, {inside, inside, nowhere,
                                              "replica 1, own strategy, has one", inside, nowhere});
}

task<std::string> in_a_scope_for_a_while(const strategy* own) {
  const auto in = own->scope();
  const std::string seen = co_await ask_after_a_sleep(own);
  co_return seen;
}

task<std::vector<std::string>> two_tasks_in_two_scopes(runtime& rt) {
  mirrored_strategy one(rt, 2);
  mirrored_strategy two(rt, 2);
  std::vector<task<std::string>> both;
  both.push_back(in_a_scope_for_a_while(&one));
  both.push_back(in_a_scope_for_a_while(&two));
  co_return co_await when_all(std::move(both));
}

TEST_CASE("scopes of tasks that run side by side do not meet") {
  check_in_every_world(two_tasks_in_two_scopes, {inside, inside});
}

// -- inside replicas ------------------------------------------------------------------------------

std::string enter_scope_of(const strategy* own) {
  return ending(thrown_by([&] { const auto in = own->scope(); }));
}

task<texts> scope_in_replica(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(enter_scope_of, static_cast<const troupe::strategy*>(&strategy));
}

TEST_CASE("a scope inside a replica of the same strategy is TR-201") {
  check_in_every_world(scope_in_replica, {"TR-201", "TR-201"});
}

task<std::string> run_in_default_replica(const mirrored_strategy* strategy) {
  const std::string reduced =
      ending(thrown_by([&] { return strategy->reduce(reduce_op::sum, per_replica<int>({1, 2})); }));
  const std::string ran = co_await ending_of(strategy->run([] {}));
  co_return reduced + ", " + ran;
}

task<std::string> mixed_with_the_default(runtime& rt) {
  const mirrored_strategy strategy(rt, 2);
  const texts got = co_await get_strategy().run(run_in_default_replica, &strategy);
  co_return got[0];
}

TEST_CASE("core-020 in a replica of the default strategy another one may run, but not reduce") {
  check_in_every_world(mixed_with_the_default, "TR-204, returned");
}

}  // namespace
}  // namespace troupe::test
