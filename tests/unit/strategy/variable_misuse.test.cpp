// What goes wrong around variables, and is told instead of done.

#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

struct on_a_pool {
  runtime rt{pool_size{2}};
  mirrored_strategy strategy{rt, 4};

  template <class Operation>
  std::exception_ptr thrown_on(Operation operation) {
    return thrown_by([&] { static_cast<void>(block_on(rt, std::move(operation))); });
  }
};

using ints = per_replica<int>;
using counter = variable<int, sum_op>;

// -- types ----------------------------------------------------------------------------------------

struct joined {
  std::string identity() const { return ""; }
  void combine(std::string& into, const std::string& more) const { into += more; }
};

task<std::string> join(replica_context ctx, variable<std::string, joined> text) {
  const std::string mine(1, static_cast<char>('a' + ctx.replica_id()));
  const std::string now = co_await text.assign(ctx, mine);
  co_return now;
}

TEST_CASE_METHOD(on_a_pool, "a variable of what is no number has an aggregation of its own") {
  const variable<std::string, joined> text(strategy, "");
  const per_replica<std::string> all = block_on(rt, strategy.run(join, text));
  CHECK(all == per_replica<std::string>({"abcd", "abcd", "abcd", "abcd"}));
}

// -- arguments ------------------------------------------------------------------------------------

int give(int value) { return value; }
ints too_few(const ints&) { return {1, 2}; }
task<int> merge_to_too_few(replica_context ctx) { co_return co_await ctx.merge_call(too_few, 1); }
task<> add(replica_context ctx, counter v, per_replica<int> all) { co_await v.assign(ctx, all); }
void put(int& to, int from) { to = from; }

TEST_CASE_METHOD(on_a_pool, "a per_replica has to have one value for each replica") {
  const ints two = {1, 2};
  const counter v(strategy, 0);
  CHECK(is(thrown_on(strategy.run(give, two)), errc::structure_mismatch));
  CHECK(is(thrown_on(strategy.run(merge_to_too_few)), errc::structure_mismatch));
  CHECK(is(thrown_on(strategy.run([=](replica_context ctx) { return add(ctx, v, two); })),
           errc::structure_mismatch));
  CHECK(is(thrown_by([&] { static_cast<void>(strategy.extended().update(v, put, two)); }),
           errc::structure_mismatch));
}

TEST_CASE_METHOD(on_a_pool, "a variable of another strategy is no argument of an update") {
  const mirrored_strategy two(rt, 2);
  const counter v(strategy, 0);
  const counter other(two, 7);
  updates all;
  CHECK(is(thrown_by([&] { static_cast<void>(strategy.extended().update(v, put, other)); }),
           errc::strategy_mixed));
  CHECK(is(thrown_by([&] { all.add(v, put, other); }), errc::strategy_mixed));
}

// -- updates --------------------------------------------------------------------------------------

void fail_on_one(update_context ctx, int& component) {
  component = 1;
  if (ctx.replica_id() == 1) throw std::runtime_error("one");
}

TEST_CASE_METHOD(on_a_pool, "the rest of a batch is made where a part of it throws") {
  const counter first(strategy, 0);
  const counter second(strategy, 0);
  updates all;
  all.add(first, fail_on_one);
  all.add(second, put, 1);
  CHECK(describe(thrown_on(strategy.extended().update(std::move(all)))) == "one");
  const ints now = block_on(rt, second.components());
  CHECK(now == ints({1, 1, 1, 1}));
}

using numbers = std::vector<int>;

void resize_and_add(replica_context ctx, sync_on_read_variable<numbers> v) {
  v.local(ctx).resize(64);
  v.assign_add(ctx, numbers({1, 2}));
}

TEST_CASE_METHOD(on_a_pool, "a component that was resized is not written past its end") {
  const sync_on_read_variable<numbers> v(strategy, numbers(2));
  CHECK(is(thrown_on(strategy.run(resize_and_add, v)), errc::shape_mismatch));
}

// -- who sees what --------------------------------------------------------------------------------

task<> write_and_fail(replica_context ctx, counter v) {
  co_await v.assign_add(ctx, 1);
  if (ctx.replica_id() == 0) throw std::runtime_error("after the write");
}

task<> components_after_a_failure(world* w) {
  mirrored_strategy strategy(w->runtime(), 2, {.order = replica_order::one_by_one});
  const counter v(strategy, 0);
  const counter other(strategy, 0);
  const auto thrown = co_await outcome_of(strategy.run(write_and_fail, v));
  w->check(describe(thrown) == "after the write", "the failure is the replica's own");
  const ints now = co_await v.components();
  w->check(now == ints({2, 2}), "what a merge has decided is in every component");
}

TEST_CASE("a decided write is in every component, also when replicas are unwound in turn") {
  explore_lines([](world& w) { return components_after_a_failure(&w); });
}

struct look {
  using answer_type = int;
  reply<int> to;
};

/// Lives on the second line.
class reader final : public actor<reader, look> {
 public:
  reader(const std::shared_ptr<runtime_state>& on, counter v)
      : actor(on, "reader", 0, 1), v_(std::move(v)) {}
  task<> on(look message) {
    const int now = co_await v_.read();
    message.to.set(now);
  }

 private:
  counter v_;
};

task<int> write_and_ask(replica_context ctx, counter v, reader* other) {
  const int mine = co_await v.assign_add(ctx, 1);
  int seen = mine;
  if (ctx.replica_id() == 0) seen = co_await other->ask<look>();
  co_return seen - mine;
}

task<> read_elsewhere(world* w) {
  mirrored_strategy strategy(w->runtime(), 2);
  const counter v(strategy, 0);
  reader other(w->runtime().state(), v);
  const ints differences = co_await strategy.run(write_and_ask, v, &other);
  w->check(differences == ints({0, 0}), "a read sees what was awaited before, on any line");
  co_await other.stop();
}

TEST_CASE("a read on another line sees a write that a replica has awaited") {
  explore_on_lines([](world& w) { return read_elsewhere(&w); }, 2);
}

TEST_CASE_METHOD(on_a_pool, "without an aggregation the value is replica 0's") {
  const variable<int> v(strategy, 0);
  const ints each = {5, 6, 7, 8};
  block_on(rt, strategy.extended().update(v, put, each));
  CHECK(block_on(rt, v.read()) == 5);
}

}  // namespace
}  // namespace troupe::test
