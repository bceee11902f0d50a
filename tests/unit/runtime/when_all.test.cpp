// Several tasks in one logical task: whole, ordered, stopped together.

#include "troupe/runtime/when_all.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

task<int> after(std::chrono::milliseconds delay, int value) {
  co_await sleep_for(delay);
  co_return value;
}
task<std::string> at_once(std::string text) { co_return text; }
task<> nothing() { co_return; }

TEST_CASE("results are in the order of the arguments, whoever ends first") {
  explore_all([](world& w) -> task<> {
    auto [slow, text, none] = co_await when_all(after(20ms, 1), at_once("x"), nothing());
    w.check(slow == 1 && text == "x", "both");
    static_cast<void>(none);
    w.check(w.now() == 20ms, "they wait at the same time");
  });
}

TEST_CASE("a number of tasks known at run time gives a vector, none an empty one") {
  explore_all([](world& w) -> task<> {
    std::vector<task<int>> tasks;
    for (int i = 0; i < 3; ++i) tasks.push_back(after(std::chrono::milliseconds(10 - i), i));
    const auto all = co_await when_all(std::move(tasks));
    w.check(all.size() == 3 && all[0] == 0 && all[2] == 2, "in order");
    std::vector<task<int>> no_tasks;
    const auto none = co_await when_all(std::move(no_tasks));
    w.check(none.empty(), "none");
  });
}

task<int> fails(std::chrono::milliseconds delay, std::string why) {
  co_await sleep_for(delay);
  throw std::runtime_error(why);
}

task<> expect_first(world* w) {
  std::string caught;
  try {
    auto both = co_await when_all(fails(20ms, "first"), fails(1ms, "second"));
    static_cast<void>(both);
  } catch (const std::runtime_error& e) {
    caught = e.what();
  }
  w->check(caught == "first", "the first argument's exception");
  w->check(w->now() == 20ms, "after both have ended");
}

TEST_CASE("of several exceptions the first argument's is thrown, after all have ended") {
  explore_all([](world& w) -> task<> { co_await expect_first(&w); });
}

TEST_CASE("an empty task among them is refused") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  struct program {
    static task<> run() {
      task<> empty;
      auto both = co_await when_all(std::move(empty), nothing());
      static_cast<void>(both);
    }
  };
  try {
    block_on(rt, program::run());
    FAIL("it ran");
  } catch (const error& e) {
    CHECK(e.code() == errc::empty_task);
  }
}

task<int> ask_context() {
  const auto context = get_replica_context();
  co_return context ? context->replica_id() : -1;
}
task<int> both_branches(replica_context) {
  auto [a, b] = co_await when_all(ask_context(), ask_context());
  co_return a * 10 + b;
}

TEST_CASE("a branch of a replica has the replica's context") {
  explore_all([](world& w) -> task<> {
    mirrored_strategy strategy(w.runtime(), 2);
    const auto r = co_await strategy.run(both_branches);
    w.check(r[0] == 0 && r[1] == 11, "each its own id");
  });
}

int first(const per_replica<int>& values) { return values[0]; }
task<int> merge_in_branch(replica_context ctx) { co_return co_await ctx.merge_call(first, 1); }
task<int> merges_in_branches(replica_context ctx) {
  auto [a] = co_await when_all(merge_in_branch(ctx));
  co_return a;
}

TEST_CASE("a merge in a branch is refused: it belongs to the replica's own function") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy(rt, 2);
  try {
    block_on(rt, strategy.run(merges_in_branches));
    FAIL("it merged");
  } catch (const error& e) {
    CHECK(e.code() == errc::foreign_context);
  }
}

task<> sleep_long() { co_await sleep_for(std::chrono::hours(1)); }
task<int> wait_in_branches_or_end(replica_context ctx) {
  if (ctx.replica_id() == 0) co_return 0;
  if (ctx.replica_id() == 1) co_await when_all(sleep_long(), sleep_long());
  co_return co_await ctx.merge_call(first, 1);
}

TEST_CASE("stop: a replica that is stopped in its branches leaves the verdict to be thrown") {
  runtime rt{pool_size{1}};
  mirrored_strategy strategy(rt, 3);
  const auto thrown = thrown_by([&] { block_on(rt, strategy.run(wait_in_branches_or_end)); });
  CHECK(is(thrown, errc::missing_replica));
}

}  // namespace
}  // namespace troupe::test
