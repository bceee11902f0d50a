#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/census.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};

  template <class... A>
  auto run(A... arguments) {
    return block_on(rt, strategy.run(std::move(arguments)...));
  }
};

using ints = per_replica<int>;

// -- functions ------------------------------------------------------------------------------------

int plain(replica_context ctx, int n) { return ctx.replica_id() + n; }
task<int> coroutine(replica_context ctx, int n) { co_return ctx.replica_id() + n; }
int without_context(int n) { return 2 * n; }
task<int> coroutine_without_context(int n) { co_return 2 * n; }

struct functor {
  int base;
  int operator()(replica_context ctx) const { return base + ctx.replica_id(); }
};

TEST_CASE_METHOD(fixture, "core-038 a plain function runs on every replica") {
  CHECK(run(plain, 5) == ints({5, 6}));
}

TEST_CASE_METHOD(fixture, "a coroutine runs on every replica") {
  CHECK(run(coroutine, 5) == ints({5, 6}));
}

TEST_CASE_METHOD(fixture, "a plain function's context is optional") {
  CHECK(run(without_context, 4) == ints({8, 8}));
}

TEST_CASE_METHOD(fixture, "a coroutine's context is optional") {
  CHECK(run(coroutine_without_context, 4) == ints({8, 8}));
}

TEST_CASE_METHOD(fixture, "a lambda with captures runs on every replica") {
  int base = 7;
  CHECK(run([base](replica_context ctx) { return base + ctx.replica_id(); }) == ints({7, 8}));
}

TEST_CASE_METHOD(fixture, "a function object runs on every replica") {
  CHECK(run(functor{3}) == ints({3, 4}));
}

TEST_CASE_METHOD(fixture, "a std::function runs on every replica") {
  const std::function<int(replica_context)> f = functor{1};
  CHECK(run(f) == ints({1, 2}));
}

TEST_CASE_METHOD(fixture, "a function object may be one that can only be moved") {
  auto owned = std::make_unique<int>(6);
  CHECK(run([owned = std::move(owned)] { return *owned; }) == ints({6, 6}));
}

TEST_CASE_METHOD(fixture, "the context tells the number of replicas and the strategy") {
  const auto right = run([this](replica_context ctx) {
    return ctx.num_replicas_in_sync() == 2 && &ctx.strategy() == &strategy;
  });
  CHECK(right == per_replica<bool>({true, true}));
}

// -- arguments ------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "core-036 a plain argument goes to every replica") {
  CHECK(run([](double x) { return x * x; }, 2.0) == per_replica<double>({4.0, 4.0}));
}

TEST_CASE_METHOD(fixture, "core-037 a per_replica argument gives each replica its component") {
  const per_replica<float> f = {5, 3};
  CHECK(run([](float v) { return v * 1.25f; }, f) == per_replica<float>({6.25f, 3.75f}));
}

TEST_CASE_METHOD(fixture, "core-068 structure with a per_replica inside is unwrapped") {
  const std::pair<ints, int> argument({1, 2}, 7);
  const auto r = run([](std::pair<int, int> p) { return 10 * p.first + p.second; }, argument);
  CHECK(r == ints({17, 27}));
}

TEST_CASE_METHOD(fixture, "a mirrored argument gives every replica its value") {
  CHECK(run([](int v) { return v; }, mirrored<int>(4)) == ints({4, 4}));
}

TEST_CASE_METHOD(fixture, "several arguments are unwrapped each by its own type") {
  const auto r = run([](replica_context, int a, int b,
                        std::string c) { return a + b + static_cast<int>(c.size()); },
                     ints({1, 2}), 10, std::string("abc"));
  CHECK(r == ints({14, 15}));
}

TEST_CASE_METHOD(fixture, "components that can only be moved are moved to their replicas") {
  per_replica<std::unique_ptr<int>> owned;
  owned.reserve(2);
  owned.append(std::make_unique<int>(1));
  owned.append(std::make_unique<int>(2));
  const auto r = run([](std::unique_ptr<int> mine) { return *mine; }, std::move(owned));
  CHECK(r == ints({1, 2}));
}

task<std::size_t> length_later(std::string text) { co_return text.size(); }

TEST_CASE_METHOD(fixture, "arguments live in the operation, not at its caller") {
  auto later = strategy.run(length_later, std::string(100, 'x'));
  CHECK(block_on(rt, std::move(later)) == per_replica<std::size_t>({100, 100}));
}

TEST_CASE_METHOD(fixture, "nothing runs before the operation is awaited") {
  bool ran = false;
  {
    const auto never = strategy.run([&ran] { ran = true; });
  }
  CHECK_FALSE(ran);
}

TEST_CASE_METHOD(fixture, "arguments of a run that never happens are destroyed once") {
  census guests;
  struct keeper {
    std::shared_ptr<guest> held;
    void operator()() const {}
  };
  {
    const auto never = strategy.run(keeper{std::make_shared<guest>(guests)});
  }
  CHECK(guests.entered == 1);
  CHECK(guests.left == 1);
}

// -- results --------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "core-050 a function that returns nothing yields nothing") {
  int runs = 0;
  static_assert(std::is_void_v<decltype(run([] {}))>);
  run([&runs] { ++runs; });
  CHECK(runs == 2);
}

TEST_CASE_METHOD(fixture, "a coroutine that returns nothing yields nothing") {
  int runs = 0;
  run(
      [](int* n) -> task<> {
        ++*n;
        co_return;
      },
      &runs);
  CHECK(runs == 2);
}

TEST_CASE_METHOD(fixture, "core-034 what one run returns is the argument of the next") {
  const auto first = run([](replica_context ctx) { return ctx.replica_id() + 1; });
  CHECK(first == ints({1, 2}));
  const auto second = run([](int x) { return std::pair(2 * x, x * x); }, first);
  CHECK(second.first == ints({2, 4}));
  CHECK(second.second == ints({1, 4}));
  const auto third = run([](int b, int a) { return a + 2 * b + 2; }, second.second, second.first);
  CHECK(third == ints({6, 14}));
}

TEST_CASE_METHOD(fixture, "core-054 structured results are grouped leaf by leaf") {
  const auto r = run([](int x) { return std::tuple(x - 1, std::pair(x + 1, std::string("s"))); },
                     ints({0, 1}));
  CHECK(std::get<0>(r) == ints({-1, 0}));
  CHECK(std::get<1>(r).first == ints({1, 2}));
  CHECK(std::get<1>(r).second == per_replica<std::string>({"s", "s"}));
}

TEST_CASE_METHOD(fixture, "core-049 vectors of different length are whole values") {
  const auto r = run([](replica_context ctx) {
    return std::vector<int>(static_cast<std::size_t>(ctx.replica_id()), 1);
  });
  CHECK(r[0].empty());
  CHECK(r[1].size() == 1);
}

TEST_CASE_METHOD(fixture, "results may be ones that can only be moved") {
  const auto r = run([](replica_context ctx) { return std::make_unique<int>(ctx.replica_id()); });
  CHECK(*r[1] == 1);
}

struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};

TEST_CASE_METHOD(fixture, "results need no default constructor") {
  const auto r = run([](replica_context ctx) { return no_default(ctx.replica_id()); });
  CHECK(r[1].value == 1);
}

TEST_CASE_METHOD(fixture, "core-062 one replica gives a per_replica of one") {
  mirrored_strategy single(rt, 1);
  const auto r = block_on(rt, single.run([](double x) { return 2 * x; }, 3.0));
  static_assert(std::same_as<std::remove_const_t<decltype(r)>, per_replica<double>>);
  CHECK(r == per_replica<double>({6.0}));
}

TEST_CASE_METHOD(fixture, "core-069 three replicas are numbered 0, 1 and 2") {
  mirrored_strategy three(rt, 3);
  CHECK(block_on(rt, three.run([](replica_context c) { return c.replica_id(); })) ==
        ints({0, 1, 2}));
}

TEST_CASE_METHOD(fixture, "a run has as many replicas as the strategy, however many those are") {
  mirrored_strategy many(rt, 1000);
  const auto r = block_on(rt, many.run(coroutine, 0));
  CHECK(r.size() == 1000);
  CHECK(r[999] == 999);
}

// -- callers elsewhere ----------------------------------------------------------------------------

task<> run_from_elsewhere(const mirrored_strategy* strategy) {
  co_await strategy->run([] {});
}

task<int> run_as_an_operation(const mirrored_strategy* strategy) {
  const ints got = co_await strategy->async_run(plain, std::tuple(3), use_task);
  co_return got[1];
}

TEST_CASE_METHOD(fixture, "a task of another runtime cannot await a run, but start one") {
  runtime elsewhere{pool_size{1}};
  const mirrored_strategy there(elsewhere, 2);
  CHECK(is(thrown_by([&] { block_on(rt, run_from_elsewhere(&there)); }), errc::foreign_runtime));
  CHECK(block_on(rt, run_as_an_operation(&there)) == 4);
}

}  // namespace
}  // namespace troupe::test
