// Variables: what is refused, and with which words.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
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
using floats = tensor<float>;
using shared = variable<int, sum_op>;
using weights = variable<floats, mean_op>;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 3};
  mirrored_strategy other{rt, 3};

  template <class Operation>
  std::exception_ptr thrown_by_await(Operation operation) {
    return block_on(rt, outcome_of(std::move(operation)));
  }
};

std::string text_of(const std::exception_ptr& thrown) {
  const auto told = as<error>(thrown);
  return told ? told->what() : describe(thrown);
}

bool tells(const std::exception_ptr& thrown, errc code, const std::string& part) {
  return is(thrown, code) && text_of(thrown).find(part) != std::string::npos;
}

// -- shapes ---------------------------------------------------------------------------------------

floats ones(std::size_t length) { return floats({length}, 1.0f); }

task<> assign_row(replica_context ctx, weights v, std::size_t length) {
  co_await v.assign(ctx, ones(length));
}
task<> assign_mirrored_row(replica_context ctx, weights v, std::size_t length) {
  co_await v.assign_add(ctx, mirrored(ones(length)));
}

TEST_CASE_METHOD(fixture, "a value of another shape is TR-302, with the variable's name") {
  const weights v(strategy, ones(2), aggregation::mean, "layer/weight");
  const std::string name = "\"layer/weight\" has shape [2], the value has [3]";
  CHECK(tells(thrown_by_await(v.assign(ones(3))), errc::shape_mismatch, name));
  CHECK(tells(thrown_by_await(v.assign_add(ones(3))), errc::shape_mismatch, name));
  CHECK(tells(thrown_by_await(strategy.run(assign_row, v, 3u)), errc::shape_mismatch, name));
  CHECK(
      tells(thrown_by_await(strategy.run(assign_mirrored_row, v, 3u)), errc::shape_mismatch, name));
  const auto read = block_on(rt, read_on_replicas(&strategy, v));
  CHECK(read[0] == ones(2));
  CHECK(all_alike(read));
}

TEST_CASE_METHOD(fixture, "a value of another shape for a replica's own component is TR-302") {
  const variable<floats> v(strategy, ones(2), aggregation::none, "mine");
  const sync_on_read_variable<floats> seen(strategy, ones(2), aggregation::sum, "seen");
  const auto assign = [](replica_context ctx, variable<floats> to) -> task<> {
    co_await to.assign(ctx, ones(3));
  };
  CHECK(tells(thrown_by_await(strategy.run(assign, v)), errc::shape_mismatch, "\"mine\""));
  const auto add = [](replica_context ctx, sync_on_read_variable<floats> to) {
    to.assign_add(ctx, ones(3));
  };
  CHECK(tells(thrown_by_await(strategy.run(add, seen)), errc::shape_mismatch, "\"seen\""));
  CHECK(tells(thrown_by_await(seen.assign(ones(3))), errc::shape_mismatch, "\"seen\""));
}

// -- strategies and contexts ----------------------------------------------------------------------

task<> add_one(replica_context ctx, shared v) { co_await v.assign_add(ctx, 1); }
int read_it(replica_context ctx, shared v) { return v.read(ctx); }

TEST_CASE_METHOD(fixture, "a variable of another strategy is TR-204, with its name") {
  const shared v(strategy, 1, aggregation::sum, "theirs");
  CHECK(tells(thrown_by_await(other.run(add_one, v)), errc::strategy_mixed, "\"theirs\""));
  CHECK(tells(thrown_by_await(other.run(read_it, v)), errc::strategy_mixed, "\"theirs\""));
  const auto nothing = [](int&) {};
  CHECK(tells(thrown_by([&] { return other.extended().update(v, nothing); }), errc::strategy_mixed,
              "\"theirs\""));
  updates all;
  all.add(v, nothing);
  CHECK(tells(thrown_by([&] { return other.extended().update(std::move(all)); }),
              errc::strategy_mixed, "\"theirs\""));
  const shared mine(other, 1, aggregation::sum, "mine");
  CHECK(tells(thrown_by([&] { return mine.assign(v); }), errc::strategy_mixed, "\"theirs\""));
  CHECK(block_on(rt, v.read()) == 1);
}

int read_with_another(const std::vector<replica_context>* kept, shared v) {
  return v.read(kept->front());
}

TEST_CASE_METHOD(fixture, "the context of another run is TR-105") {
  const shared v(strategy, 1);
  const sync_on_read_variable<int> seen(strategy, 1);
  std::vector<replica_context> kept;
  kept.reserve(3);
  const auto keep = [&](replica_context ctx) { kept.push_back(ctx); };
  block_on(rt, strategy.run(keep));
  CHECK(is(thrown_by_await(strategy.run(read_with_another, &kept, v)), errc::foreign_context));
  CHECK(is(thrown_by([&] { return v.read(kept[0]); }), errc::foreign_context));
  CHECK(is(thrown_by([&] { return seen.local(kept[0]); }), errc::foreign_context));
  CHECK(is(thrown_by_await(v.assign_add(kept[0], 2)), errc::foreign_context));
  CHECK(is(thrown_by_await(create_variable(kept[0], 2)), errc::foreign_context));
}

task<> outside_call_in_replica(shared v, int which) {
  switch (which) {
    case 0: co_await v.read(); break;
    case 1: co_await v.assign(3); break;
    case 2: co_await v.components(); break;
    default: co_await v.strategy().extended().update(v, [](int&) {});
  }
}

TEST_CASE_METHOD(fixture, "what is for cross-replica context is TR-201 in a replica") {
  const shared v(strategy, 1, aggregation::sum, "shared");
  for (int which = 0; which < 4; ++which) {
    const auto thrown = thrown_by_await(strategy.run(outside_call_in_replica, v, which));
    CHECK(tells(thrown, errc::cross_replica_required, "\"shared\""));
  }
}

// -- making and returning -------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "a variable made by one replica alone is TR-201") {
  const auto make = [](replica_context ctx) {
    const shared v(ctx.strategy(), 1, aggregation::sum, "alone");
  };
  CHECK(tells(thrown_by_await(strategy.run(make)), errc::cross_replica_required, "\"alone\""));
}

task<> make_by_id(replica_context ctx) {
  const std::string name =
      ctx.replica_id() == 2 ? "bias" : "weight_" + std::to_string(ctx.replica_id());
  co_await create_variable(ctx, 1.0f, aggregation::mean, name);
}

TEST_CASE_METHOD(fixture, "replicas that make different variables together are TR-306") {
  CHECK(tells(thrown_by_await(strategy.run(make_by_id)), errc::variable_mismatch,
              "replica 2 makes variable \"bias\" where replica 0 makes \"weight_0\""));
}

shared one_of_two(replica_context ctx, shared a, shared b) { return ctx.replica_id() == 1 ? b : a; }

TEST_CASE_METHOD(fixture, "replicas that return different variables are TR-305") {
  const shared a(strategy, 1, aggregation::sum, "a");
  const shared b(strategy, 1, aggregation::sum, "b");
  CHECK(tells(thrown_by_await(strategy.run(one_of_two, a, b)), errc::structure_mismatch,
              "replica 1 gave variable \"b\", replica 0 gave \"a\""));
}

task<> write_one_of_two(replica_context ctx, shared a, shared b) {
  const shared which = one_of_two(ctx, a, b);
  co_await which.assign_add(ctx, 1);
}

TEST_CASE_METHOD(fixture, "replicas that write to different variables are TR-104") {
  const shared a(strategy, 1);
  const shared b(strategy, 1);
  CHECK(is(thrown_by_await(strategy.run(write_one_of_two, a, b)), errc::merge_mismatch));
  CHECK(block_on(rt, a.components()) == ints({1, 1, 1}));
  CHECK(block_on(rt, b.components()) == ints({1, 1, 1}));
}

// -- runtimes -------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "a variable awaited on another runtime is TR-110") {
  const shared v(strategy, 1);
  runtime elsewhere{pool_size{1}};
  CHECK(is(block_on(elsewhere, outcome_of(v.read())), errc::foreign_runtime));
  CHECK(is(block_on(elsewhere, outcome_of(v.assign(2))), errc::foreign_runtime));
}

TEST_CASE("a variable whose runtime has ended is TR-107, and can be destroyed") {
  std::optional<runtime> rt(std::in_place, pool_size{2});
  const mirrored_strategy strategy(*rt, 3);
  const shared v(strategy, 1);
  block_on(*rt, v.assign(2));
  rt.reset();
  runtime elsewhere{pool_size{1}};
  CHECK(is(block_on(elsewhere, outcome_of(v.read())), errc::runtime_gone));
  CHECK(is(block_on(elsewhere, outcome_of(v.assign(2))), errc::runtime_gone));
}

TEST_CASE_METHOD(fixture, "a variable of the default strategy is used wherever its caller runs") {
  const shared v(get_default_strategy(), 1);
  runtime elsewhere{pool_size{2}};
  CHECK(block_on(rt, v.assign(3)) == 3);
  CHECK(block_on(elsewhere, v.assign_add(1)) == 4);
  block_on(rt, get_default_strategy().run(add_one, v));
  CHECK(block_on(elsewhere, v.read()) == 5);
}

// -- sums of small integers -----------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "a sum is shared out to more replicas than its type can count") {
  for (const int replicas : {200, 256, 300}) {
    const mirrored_strategy many(rt, replicas);
    const sync_on_read_variable<std::int8_t> whole(many, std::int8_t{1});
    block_on(rt, whole.assign(100));
    CHECK(block_on(rt, whole.components())[0] == 0);
  }
  const sync_on_read_variable<std::int8_t> below(strategy, std::int8_t{0});
  block_on(rt, below.assign(-100));
  CHECK(block_on(rt, below.components())[0] == -33);
}

}  // namespace
}  // namespace troupe::test
