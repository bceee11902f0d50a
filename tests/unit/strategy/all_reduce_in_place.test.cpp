// An all_reduce() of a tensor: its elements stay where they are.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/on_one_line_or_two.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

constexpr int replicas = 3;

using fixture = on_one_line_or_two<replicas>;
using numbers = tensor<float>;

numbers filled(std::size_t length, float with) { return numbers({length}, with); }

/// Whether the sum came back in the memory that was given away.
template <class T>
task<bool> sum_up(replica_context ctx, T mine, T expected) {
  const auto* const before = mine.data();
  mine = co_await ctx.all_reduce(reduce_op::sum, std::move(mine));
  co_return mine.data() == before&& mine == expected;
}

TEST_CASE_METHOD(fixture, "each replica gets back the memory that it gave, small and large") {
  const per_replica<bool> all = {true, true, true};
  for (const std::size_t length : {0u, 1u, 10u, 1'000'000u}) {
    const per_replica<numbers> given = {filled(length, 1), filled(length, 2), filled(length, 3)};
    CHECK((length == 0 || run(sum_up<numbers>, given, filled(length, 6)) == all));
    using ints = std::vector<int>;
    const per_replica<ints> others = {ints(length, 1), ints(length, 2), ints(length, 3)};
    CHECK(run(sum_up<ints>, others, ints(length, 6)) == all);
  }
}

task<float> await_what_has_moved(replica_context ctx) {
  std::vector<decltype(ctx.all_reduce(reduce_op::max, numbers()))> kept;
  kept.push_back(ctx.all_reduce(reduce_op::max, filled(100, static_cast<float>(ctx.replica_id()))));
  kept.reserve(kept.capacity() + 1);
  auto operation = std::move(kept.back());
  kept.clear();
  const numbers largest = co_await std::move(operation);
  co_return largest[99];
}

TEST_CASE_METHOD(fixture, "what is reduced is where it is when it is awaited") {
  CHECK(run(await_what_has_moved) == per_replica<float>({2, 2, 2}));
}

task<std::string> await_twice(replica_context ctx) {
  auto operation = ctx.all_reduce(reduce_op::sum, filled(4, 1));
  const numbers sum = co_await std::move(operation);
  const auto thrown = co_await outcome_of(std::move(operation));
  const auto e = as<error>(thrown);
  co_return e&& sum == filled(4, 3) ? tag_of(static_cast<errc>(e->code().value())) : "nothing";
}

TEST_CASE_METHOD(fixture, "awaited a second time it is refused, on each replica") {
  CHECK(run(await_twice) == per_replica<std::string>({"TR-109", "TR-109", "TR-109"}));
}

template <class Value, class Op = sum_op>
task<std::string> what_it_says(replica_context ctx, Value mine, Op op = Op()) {
  const auto thrown = co_await outcome_of(ctx.all_reduce(op, std::move(mine)));
  co_return thrown ? describe(thrown) : "nothing";
}

TEST_CASE_METHOD(fixture, "shapes that differ are told of on every replica") {
  const per_replica<numbers> given = {filled(4, 1), filled(4, 1), filled(5, 1)};
  for (const std::string& each : run(what_it_says<numbers>, given, sum_op())) {
    CHECK(each.find("TR-302") != std::string::npos);
    CHECK(each.find("[5]") != std::string::npos);
  }
  using ints = std::vector<int>;
  const per_replica<ints> others = {ints(100, 1), ints(100, 1), ints()};
  for (const std::string& each : run(what_it_says<ints>, others, sum_op())) {
    CHECK(each.find("TR-302") != std::string::npos);
  }
}

struct refusing : own_reduction {
  static constexpr const char* name = "refusing";
  float operator()(float, float) const { throw std::runtime_error("two are too many"); }
};

TEST_CASE_METHOD(fixture, "what an operation throws half-way comes to every replica") {
  for (const std::size_t length : {std::size_t{8}, std::size_t{1'000'000}}) {
    const std::vector<numbers> all(replicas, filled(length, 1));
    const auto said = run(what_it_says<numbers, refusing>,
                          per_replica<numbers>(all.begin(), all.end()), refusing());
    for (const std::string& each : said) {
      CHECK(each.find("two are too many") != std::string::npos);
    }
  }
}

task<> reduce_one_of_two(replica_context ctx) {
  if (ctx.replica_id() == 0) {
    co_await ctx.all_reduce(reduce_op::sum, filled(4, 1));
  } else {
    co_await ctx.all_reduce(reduce_op::sum, std::vector<float>(4, 1.0F));
  }
}

TEST_CASE_METHOD(fixture, "a verdict names the tensors' types, and not how they are lent") {
  const auto verdict = as<error>(thrown_by([&] { run(reduce_one_of_two); }));
  REQUIRE(verdict);
  CHECK(verdict->code() == errc::merge_mismatch);
  const std::string said = verdict->what();
  CHECK(said.find("all_reduce sum(troupe::tensor<float>)") != std::string::npos);
  CHECK(said.find("all_reduce sum(std::vector<float>)") != std::string::npos);
  CHECK(said.find("lent") == std::string::npos);
}

task<numbers> reduce_alone(numbers mine) {
  co_return co_await replica_context().all_reduce(reduce_op::mean, std::move(mine));
}

TEST_CASE("outside of all runs there is one replica, which gets what it gave") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  CHECK(block_on(rt, reduce_alone(filled(4, 2))) == filled(4, 2));
  CHECK(block_on(rt, reduce_alone(filled(1'000'000, 2))) == filled(1'000'000, 2));
}

}  // namespace
}  // namespace troupe::test
