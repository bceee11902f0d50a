// Replicas that share one copy of every variable.

#include "troupe/strategy/central_storage_strategy.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;
using names = std::vector<std::string>;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  central_storage_strategy strategy{rt, 3};
};

// -- devices --------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "replicas have a device each, and variables have theirs") {
  const central_storage_strategy named(rt, {"cpu:2", "cpu:1"}, "cpu:7");
  CHECK(named.kind() == "central_storage_strategy");
  CHECK(named.num_replicas_in_sync() == 2);
  CHECK(named.worker_devices() == names({canonical_device("cpu:2"), canonical_device("cpu:1")}));
  CHECK(named.extended().parameter_devices() == names({canonical_device("cpu:7")}));
  CHECK(strategy.num_replicas_in_sync() == 3);
  CHECK(strategy.worker_devices()[2] == canonical_device("cpu:2"));
  CHECK(strategy.extended().parameter_devices() == names({canonical_device("cpu:0")}));
}

TEST_CASE_METHOD(fixture, "devices that are none make no strategy with central storage") {
  const auto made_of = [&](const names& compute, const char* parameter) {
    return thrown_by([&] { const central_storage_strategy s(rt, compute, parameter); });
  };
  CHECK(is(made_of({"cpu:0", "cpu:0"}, "cpu:0"), errc::invalid_device));
  CHECK(is(made_of({}, "cpu:0"), errc::invalid_device));
  CHECK(is(made_of({"cpu:0", "cpu:1"}, "abacus:0"), errc::invalid_device));
  CHECK(is(thrown_by([&] { const central_storage_strategy s(rt, 0); }), errc::invalid_device));
}

// -- one copy -------------------------------------------------------------------------------------

const int* address_of(replica_context ctx, variable<int, sum_op> v) { return &v.read(ctx); }

TEST_CASE_METHOD(fixture, "all replicas read the same memory") {
  const variable v(strategy, 1, aggregation::sum);
  const per_replica<const int*> seen = block_on(rt, strategy.run(address_of, v));
  CHECK(seen[0] == seen[1]);
  CHECK(seen[0] == seen[2]);
  CHECK(block_on(rt, v.components()) == ints({1}));
}

task<int> add_id(replica_context ctx, variable<int, sum_op> v) {
  co_return co_await v.assign_add(ctx, ctx.replica_id() + 1);
}

TEST_CASE_METHOD(fixture, "what replicas write is made one value, written once, seen by all") {
  const variable v(strategy, 10, aggregation::sum);
  CHECK(block_on(rt, strategy.run(add_id, v)) == ints({16, 16, 16}));
  CHECK(block_on(rt, v.read()) == 16);
}

task<int> assign_id(replica_context ctx, variable<int> v) {
  co_return co_await v.assign(ctx, ctx.replica_id());
}

TEST_CASE_METHOD(fixture, "a write without aggregation is TR-308 in a replica, and not outside") {
  const variable v(strategy, 7, aggregation::none, "counter");
  const auto thrown = thrown_by([&] { return block_on(rt, strategy.run(assign_id, v)); });
  REQUIRE(is(thrown, errc::aggregation_required));
  const std::string text = as<error>(thrown)->what();
  CHECK(text.find("TR-308") != text.npos);
  CHECK(text.find("variable \"counter\" has one copy for all replicas") != text.npos);
  CHECK(block_on(rt, v.read()) == 7);
  CHECK(block_on(rt, v.assign(8)) == 8);
}

TEST_CASE_METHOD(fixture, "a single replica has a component of its own to write to") {
  const central_storage_strategy single(rt, 1);
  const variable v(single, 7);
  CHECK(block_on(rt, single.run(assign_id, v)) == ints({0}));
}

// -- updates --------------------------------------------------------------------------------------

int add(int& component, int value) { return component += value; }

TEST_CASE_METHOD(fixture, "an update calls its function once, for the one component") {
  const variable v(strategy, 1);
  const variable w(strategy, 5);
  const strategy_extended extended = strategy.extended();
  CHECK(block_on(rt, extended.update(v, add, 2)) == ints({3}));
  CHECK(block_on(rt, extended.update(v, add, w)) == ints({8}));
  CHECK(block_on(rt, extended.update(v, add, mirrored(2))) == ints({10}));
  CHECK(is(thrown_by([&] { return extended.update(v, add, ints({1, 2, 3})); }),
           errc::aggregation_required));
  updates both;
  both.add(v, add, 1);
  both.add(w, add, 1);
  CHECK(is(thrown_by([&] { both.add(w, add, ints({1, 2, 3})); }), errc::aggregation_required));
  block_on(rt, extended.update(std::move(both)));
  CHECK(block_on(rt, v.read()) == 11);
  CHECK(block_on(rt, w.read()) == 6);
}

// -- what is synchronised on read -----------------------------------------------------------------

void count(replica_context ctx, sync_on_read_variable<int> counts) {
  counts.assign_add(ctx, ctx.replica_id() + 1);
}

TEST_CASE_METHOD(fixture, "what is synchronised on read has a part in each replica all the same") {
  const sync_on_read_variable counts(strategy, 0);
  block_on(rt, strategy.run(count, counts));
  CHECK(block_on(rt, counts.components()) == ints({1, 2, 3}));
  CHECK(block_on(rt, counts.read()) == 6);
  CHECK(block_on(rt, strategy.extended().update(counts, add, ints({1, 1, 1}))) == ints({2, 3, 4}));
}

// -- several runs ---------------------------------------------------------------------------------

task<> add_three_times(replica_context ctx, variable<int, sum_op> v) {
  for (int i = 0; i < 3; ++i) co_await v.assign_add(ctx, 1);
}

task<> add_in_a_run(const central_storage_strategy* strategy, variable<int, sum_op> v) {
  co_await strategy->run(add_three_times, v);
}

task<> two_runs_at_once(world& w) {
  const central_storage_strategy strategy(w.runtime(), 2);
  const variable v(strategy, 0, aggregation::sum);
  std::vector<task<>> both;
  both.push_back(add_in_a_run(&strategy, v));
  both.push_back(add_in_a_run(&strategy, v));
  co_await when_all(std::move(both));
  const int sum = co_await v.read();
  w.check(sum == 12, "two runs of two replicas add three times");
}

TEST_CASE("two runs at once write the one copy, one after the other") {
  explore_seeds(two_runs_at_once, 500);
}

TEST_CASE("two runs at once on threads write the one copy, one after the other") {
  runtime rt{pool_size{2}};
  const central_storage_strategy strategy(rt, 2);
  const variable v(strategy, 0, aggregation::sum);
  for (int i = 0; i < 50; ++i) {
    std::vector<task<>> both;
    both.push_back(add_in_a_run(&strategy, v));
    both.push_back(add_in_a_run(&strategy, v));
    block_on(rt, when_all(std::move(both)));
  }
  CHECK(block_on(rt, v.read()) == 600);
}

}  // namespace
}  // namespace troupe::test
