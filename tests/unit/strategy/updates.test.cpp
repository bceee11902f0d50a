// Updates: all of them are made, what they refuse, and how many messages they send.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;
using shared = variable<int, sum_op>;

struct update_failure : std::runtime_error {
  explicit update_failure(int replica) : runtime_error("update"), of(replica) {}
  int of;
};

void fail_from_one_on(update_context ctx, int& component) {
  component += 10;
  if (ctx.replica_id() >= 1) throw update_failure(ctx.replica_id());
}

TEST_CASE("an update that throws has been made everywhere, and throws the lowest replica's") {
  for (const std::size_t threads : {1u, 2u, 3u}) {
    runtime rt{pool_size{threads}};
    const mirrored_strategy strategy(rt, 4);
    const shared v(strategy, 1);
    const auto thrown = block_on(rt, outcome_of(strategy.extended().update(v, fail_from_one_on)));
    const auto told = as<update_failure>(thrown);
    REQUIRE(told);
    CHECK(told->of == 1);
    CHECK(block_on(rt, read_on_replicas(&strategy, v)) == ints({11, 11, 11, 11}));
  }
}

// -- contexts -------------------------------------------------------------------------------------

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 3};
  mirrored_strategy other{rt, 3};

  template <class Function>
  std::exception_ptr thrown_in_update(const shared& v, Function fn) {
    return block_on(rt, outcome_of(v.strategy().extended().update(v, fn)));
  }
};

TEST_CASE_METHOD(fixture, "an update function writes to components of other variables") {
  const shared v(strategy, 1);
  const shared w(strategy, 1);
  const sync_on_read_variable<int> seen(strategy, 0);
  const auto write = [&](update_context ctx, int&) {
    w.component(ctx) += 5;
    seen.component(ctx) += ctx.replica_id();
  };
  CHECK_FALSE(thrown_in_update(v, write));
  CHECK(block_on(rt, read_on_replicas(&strategy, w)) == ints({6, 6, 6}));
  CHECK(block_on(rt, seen.components()) == ints({0, 1, 2}));
}

TEST_CASE_METHOD(fixture, "the context of an update that has ended is TR-105") {
  const shared v(strategy, 1);
  std::vector<update_context> kept;
  kept.reserve(3);
  CHECK_FALSE(thrown_in_update(v, [&](update_context ctx, int&) { kept.push_back(ctx); }));
  CHECK(is(thrown_by([&] { return v.component(kept[0]); }), errc::foreign_context));
  const auto take_the_first = [&](update_context, int&) { v.component(kept[0]) = 9; };
  CHECK(is(thrown_in_update(v, take_the_first), errc::foreign_context));
  CHECK(block_on(rt, read_on_replicas(&strategy, v)) == ints({9, 1, 1}));
}

TEST_CASE_METHOD(fixture, "another strategy's variable in an update function is TR-204") {
  const shared v(strategy, 1);
  const shared theirs(other, 1);
  const auto write = [&](update_context ctx, int&) { theirs.component(ctx) = 2; };
  CHECK(is(thrown_in_update(v, write), errc::strategy_mixed));
  CHECK(block_on(rt, theirs.components()) == ints({1, 1, 1}));
}

// -- messages -------------------------------------------------------------------------------------

std::size_t deliveries_to_owners(const runtime& rt) {
  const recording all = rt.traced();
  std::size_t count = 0;
  for (const auto& event : all.events) {
    const bool to_owner = all.names[event.who].starts_with("owner");
    if (event.kind == trace_kind::deliver && to_owner) ++count;
  }
  return count;
}

void add(int& component, int more) { component += more; }

std::size_t messages_of_an_update(std::size_t threads, int variables) {
  runtime rt{pool_size{threads}};
  rt.trace(4'096);
  const mirrored_strategy strategy(rt, 4);
  std::vector<shared> made;
  for (int i = 0; i < variables; ++i) made.emplace_back(strategy, i);
  updates all;
  for (const shared& v : made) all.add(v, add, 1);
  block_on(rt, strategy.extended().update(std::move(all)));
  const std::size_t sent = deliveries_to_owners(rt);
  for (int i = 0; i < variables; ++i) {
    CHECK(block_on(rt, made[static_cast<std::size_t>(i)].components())[3] == i + 1);
  }
  return sent;
}

TEST_CASE("an update of 100 variables sends one message to each other line") {
  for (const std::size_t threads : {1u, 2u, 3u, 4u}) {
    CHECK(messages_of_an_update(threads, 1) == threads - 1);
    CHECK(messages_of_an_update(threads, 100) == threads - 1);
  }
}

task<> write_and_read(replica_context ctx, shared v) {
  for (int i = 0; i < 10; ++i) {
    const int now = co_await v.assign_add(ctx, 1);
    if (now != v.read(ctx)) throw std::runtime_error("it differs");
  }
}

TEST_CASE("what replicas write and read sends no message to owners") {
  runtime rt{pool_size{3}};
  rt.trace(4'096);
  const mirrored_strategy strategy(rt, 4);
  const shared v(strategy, 0);
  block_on(rt, strategy.run(write_and_read, v));
  CHECK(block_on(rt, v.read()) == 40);
  CHECK(deliveries_to_owners(rt) == 0);
}

}  // namespace
}  // namespace troupe::test
