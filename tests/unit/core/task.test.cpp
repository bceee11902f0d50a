#include "troupe/core/task.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/census.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"
#include "troupe/runtime/block_on.hpp"
#include "troupe/runtime/launch.hpp"
#include "troupe/runtime/use_task.hpp"

namespace troupe::test {
namespace {

static_assert(!std::is_copy_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_constructible_v<task<int>>);
static_assert(std::is_nothrow_move_assignable_v<task<int>>);
static_assert(std::is_nothrow_default_constructible_v<task<>>);
static_assert(awaitable_in_task<task<int>>);
static_assert(!awaitable_in_task<std::suspend_always>);

template <class T>
T run(task<T> body) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  return block_on(rt, std::move(body));
}

task<int> value(int v) { co_return v; }

task<> mark(bool* ran) {
  *ran = true;
  co_return;
}

// -- cold -----------------------------------------------------------------------------------------

TEST_CASE("cold: nothing runs before the task is awaited") {
  bool ran = false;
  const task<> cold = mark(&ran);
  CHECK_FALSE(ran);
}

TEST_CASE("an awaited task runs") {
  bool ran = false;
  run(mark(&ran));
  CHECK(ran);
}

// -- owned ----------------------------------------------------------------------------------------

task<> keep(guest here) {
  static_cast<void>(here);
  co_return;
}

TEST_CASE("owned: a task destroyed unstarted destroys its arguments once") {
  census guests;
  {
    const task<> never = keep(guest(guests));
  }
  CHECK(guests.entered == 1);
  CHECK(guests.left == 1);
}

TEST_CASE("owned: a finished task destroys its arguments once") {
  census guests;
  run(keep(guest(guests)));
  CHECK(guests.entered == 1);
  CHECK(guests.left == 1);
}

TEST_CASE("owned: assigning to a task destroys what it held") {
  census first, second;
  task<> held = keep(guest(first));
  held = keep(guest(second));
  CHECK(first.left == 1);
  CHECK(second.left == 0);
}

task<> wait_inside(gate* g, census* frames, int depth) {
  const guest here(*frames);
  if (depth == 0) {
    co_await g->async_pass(use_task);
  } else {
    co_await wait_inside(g, frames, depth - 1);
  }
}

TEST_CASE("owned: destroying a suspended chain destroys every frame of it once") {
  census frames;
  gate never;
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    launch(rt, wait_inside(&never, &frames, 9), [](std::exception_ptr) {});
    io.poll();
    REQUIRE(frames.entered == 10);
    REQUIRE(frames.left == 0);
  }
  CHECK(frames.left == 10);
}

// -- flat -----------------------------------------------------------------------------------------

task<int> add_up(int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) total += co_await value(1);
  co_return total;
}

TEST_CASE("flat: a million awaits in a loop") { CHECK(run(add_up(1'000'000)) == 1'000'000); }

task<int> descend(int depth) {
  if (depth == 0) co_return 0;
  const int below = co_await descend(depth - 1);
  co_return below + 1;
}

TEST_CASE("flat: recursion a hundred thousand deep") { CHECK(run(descend(100'000)) == 100'000); }

task<> fail_at_the_bottom(int depth) {
  if (depth == 0) throw std::out_of_range("bottom");
  co_await fail_at_the_bottom(depth - 1);
}

TEST_CASE("flat: an exception climbs out of a recursion ten thousand deep") {
  CHECK_THROWS_AS(run(fail_at_the_bottom(10'000)), std::out_of_range);
}

// -- single ---------------------------------------------------------------------------------------

task<> await_twice(errc* code) {
  task<int> once = value(1);
  static_cast<void>(co_await std::move(once));
  try {
    static_cast<void>(co_await std::move(once));
  } catch (const error& e) {
    *code = static_cast<errc>(e.code().value());
  }
}

TEST_CASE("single: awaiting a task again is errc::empty_task") {
  auto code = errc::deadlock;
  run(await_twice(&code));
  CHECK(code == errc::empty_task);
}

task<int> await_moved_from() {
  task<int> source = value(1);
  const task<int> target = std::move(source);
  co_return co_await std::move(source);
}

TEST_CASE("single: awaiting a moved-from task is errc::empty_task") {
  CHECK(is(thrown_by([] { run(await_moved_from()); }), errc::empty_task));
}

task<int> await_default() {
  task<int> nothing;
  co_return co_await std::move(nothing);
}

TEST_CASE("single: awaiting a default-constructed task is errc::empty_task") {
  CHECK(is(thrown_by([] { run(await_default()); }), errc::empty_task));
}

TEST_CASE("a task converts to true until it is moved from") {
  task<int> source = value(1);
  CHECK(source);
  const task<int> target = std::move(source);
  CHECK(target);
  CHECK_FALSE(source);  // NOLINT(bugprone-use-after-move): what is left is defined.
}

// -- results --------------------------------------------------------------------------------------

TEST_CASE("a task returns its value") { CHECK(run(value(7)) == 7); }

task<std::unique_ptr<int>> owned_value() { co_return std::make_unique<int>(5); }

task<int> await_owned_value() {
  const auto owned = co_await owned_value();
  co_return *owned;
}

TEST_CASE("a task's value may be one that can only be moved") {
  CHECK(run(await_owned_value()) == 5);
}

task<std::string> from_literal() { co_return "converted"; }

TEST_CASE("a returned value is converted to the task's type") {
  CHECK(run(from_literal()) == "converted");
}

struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};
task<no_default> made(int v) { co_return no_default(v); }

TEST_CASE("a task's value need not be default constructible") { CHECK(run(made(3)).value == 3); }

task<std::vector<int>> two_values() {
  std::vector<int> all;
  all.push_back(co_await value(1));
  all.push_back(co_await value(2));
  co_return all;
}

TEST_CASE("awaits run one after the other") {
  CHECK(run(two_values()) == std::vector<int>({1, 2}));
}

// -- exceptions -----------------------------------------------------------------------------------

task<int> fail(guest here) {
  static_cast<void>(here);
  throw std::out_of_range("as planned");
  co_return 0;
}

task<int> catch_it(census* guests) {
  try {
    co_return co_await fail(guest(*guests));
  } catch (const std::out_of_range&) {
    co_return -1;
  }
}

TEST_CASE("an exception comes out of the await, with its own type") {
  census guests;
  CHECK(run(catch_it(&guests)) == -1);
}

TEST_CASE("a task that throws destroys what it holds once") {
  census guests;
  run(catch_it(&guests));
  CHECK(guests.entered == 1);
  CHECK(guests.left == 1);
}

task<int> go_on_after_a_failure(census* guests) {
  const int first = co_await catch_it(guests);
  const int second = co_await value(2);
  co_return first + second;
}

TEST_CASE("a task goes on after one that it awaited has thrown") {
  census guests;
  CHECK(run(go_on_after_a_failure(&guests)) == 1);
}

TEST_CASE("an exception that nobody catches comes out of the outermost call") {
  census guests;
  CHECK_THROWS_AS(run(fail(guest(guests))), std::out_of_range);
}

// -- parameters -----------------------------------------------------------------------------------

task<std::size_t> length_of(std::string text) { co_return text.size(); }

TEST_CASE("a task keeps its parameters, also when what they were made of is gone") {
  task<std::size_t> later = length_of(std::string(100, 'x'));
  CHECK(run(std::move(later)) == 100);
}

task<int> read_owned(std::unique_ptr<int> owned) { co_return *owned; }

TEST_CASE("a parameter may be one that can only be moved") {
  CHECK(run(read_owned(std::make_unique<int>(9))) == 9);
}

}  // namespace
}  // namespace troupe::test
