#include <asio/bind_allocator.hpp>
#include <asio/bind_executor.hpp>
#include <asio/bind_immediate_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/deferred.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/census.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/taskflows.hpp"

namespace troupe::test {
namespace {

struct fixture {
  fixture() {
    flow.emplace([this] { ++ran; });
    stuck.emplace([this] { held(); });
  }
  ~fixture() { held.draw(); }

  asio::io_context io;
  std::atomic<int> ran{0};
  bolt held;
  tf::Taskflow flow, stuck;
  tf::Executor workers{2};  // Gone before the taskflows are.
};

// -- posted ---------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "posted: nothing is called before the executor calls it") {
  ending how;
  async_run(workers, flow, noting(io, how));
  workers.wait_for_all();
  CHECK_FALSE(how);
  io.run();
  CHECK(how);
}

TEST_CASE_METHOD(fixture,
                 "posted: a taskflow without tasks does not complete before it is posted") {
  ending how;
  tf::Taskflow nothing;
  async_run(workers, nothing, noting(io, how));
  CHECK_FALSE(how);
  io.run();
  CHECK(good(how));
}

TEST_CASE_METHOD(fixture,
                 "posted: an immediate executor may call at once what has nothing to run") {
  ending how;
  tf::Taskflow nothing;
  const auto here = asio::system_executor();
  async_run(workers, nothing,
            asio::bind_immediate_executor(here, [&how](std::exception_ptr e) { how = e; }));
  CHECK(good(how));
}

TEST_CASE_METHOD(fixture,
                 "posted: what a handler throws that is called at once, async_run() throws") {
  const auto strand = asio::make_strand(io);
  bool thrown = false;
  asio::post(strand, [&] {
    tf::Taskflow nothing;
    const auto throws = [](std::exception_ptr) { throw std::out_of_range("as planned"); };
    try {
      async_run(workers, nothing, asio::bind_immediate_executor(strand, throws));
    } catch (const std::out_of_range&) {
      thrown = true;
    }
  });
  io.run();
  CHECK(thrown);
}

TEST_CASE_METHOD(fixture, "posted: a worker may start a run on its own executor, and go on") {
  tf::Executor one(1);
  ending how;
  bool went_on = false, ran_inside = false;
  tf::Taskflow starter;
  starter.emplace([&] {
    async_run(one, flow, noting(io, how));
    ran_inside = ran != 0;
    went_on = true;
  });
  ending started;
  async_run(one, starter, noting(io, started));
  one.wait_for_all();
  io.run();
  CHECK(started);
  CHECK(how);
  CHECK(went_on);
  CHECK_FALSE(ran_inside);
  CHECK(ran == 1);
}

task<> run_thrice(tf::Executor* workers, tf::Taskflow* flow) {
  for (int i = 0; i < 3; ++i) co_await async_run(*workers, *flow, use_task);
}

TEST_CASE_METHOD(fixture, "posted: a worker of a troupe pool awaits a taskflow of other workers") {
  runtime pool{pool_size{2}};
  block_on(pool, run_thrice(&workers, &flow));
  CHECK(ran == 3);
}

// -- released -------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "released: a taskflow may go in the handler") {
  auto own = std::make_unique<tf::Taskflow>();
  own->emplace([this] { ++ran; });
  tf::Taskflow& users = *own;
  async_run(workers, users, asio::bind_executor(io, [&own](std::exception_ptr) { own.reset(); }));
  io.run();
  CHECK_FALSE(own);
  CHECK(ran == 1);
}

TEST_CASE_METHOD(fixture, "released: a taskflow that was moved in has gone, and what it held") {
  auto held_by_task = std::make_shared<int>(3);
  const std::weak_ptr<int> watch = held_by_task;
  tf::Taskflow own;
  own.emplace([this, kept = std::move(held_by_task)] { ran += *kept; });
  bool gone = false;
  async_run(workers, std::move(own),
            asio::bind_executor(io, [&](std::exception_ptr) { gone = watch.expired(); }));
  io.run();
  CHECK(gone);
  CHECK(ran == 3);
}

TEST_CASE_METHOD(fixture,
                 "released: an operation that was never started keeps its taskflow till then") {
  auto held_by_task = std::make_shared<int>(3);
  const std::weak_ptr<int> watch = held_by_task;
  tf::Taskflow own;
  own.emplace([kept = std::move(held_by_task)] {});
  {
    const auto operation = async_run(workers, std::move(own), asio::deferred);
    CHECK_FALSE(watch.expired());
  }
  CHECK(watch.expired());
}

// -- in turn --------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "in turn: runs of one taskflow do not overlap") {
  int at_once = 0;  // Not atomic: the sanitizers would tell.
  int most = 0;
  tf::Taskflow single;
  single.emplace([&] {
    most = std::max(most, ++at_once);
    --at_once;
  });
  int completed = 0;
  for (int i = 0; i < 100; ++i) {
    async_run(workers, single, asio::bind_executor(io, [&](std::exception_ptr) { ++completed; }));
  }
  io.run();
  CHECK(completed == 100);
  CHECK(most == 1);
}

// -- counted --------------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "counted: the handler's executor has work until the taskflow has run") {
  ending how;
  async_run(workers, stuck, noting(io, how));
  held.wait_until_begun();
  CHECK(io.poll() == 0);
  CHECK_FALSE(io.stopped());  // An io_context without work stops.
  held.draw();
  io.run();
  CHECK(how);
}

TEST_CASE_METHOD(fixture, "counted: the workers go when every handler has been posted") {
  ending how;
  {
    tf::Executor leaving(1);
    async_run(leaving, flow, noting(io, how));
  }
  CHECK(io.poll() == 1);
  CHECK(how);
}

// -- steady ---------------------------------------------------------------------------------------

/// Counts what it gave and has not got back.
template <class T>
struct counting {
  using value_type = T;
  explicit counting(std::atomic<int>* b) noexcept : balance(b) {}
  template <class U>
  counting(const counting<U>& other) noexcept : balance(other.balance) {}  // NOLINT
  T* allocate(std::size_t n) {
    ++*balance;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    --*balance;
    std::allocator<T>().deallocate(memory, n);
  }
  friend bool operator==(const counting&, const counting&) noexcept = default;
  std::atomic<int>* balance;
};

TEST_CASE_METHOD(fixture, "steady: the operation's memory is the associated allocator's") {
  std::atomic<int> balance{0};
  int under_way = 0, at_the_end = -1;
  const counting<std::byte> memory(&balance);
  async_run(workers, stuck,
            asio::bind_executor(io, asio::bind_allocator(memory, [&](std::exception_ptr) {
                                  at_the_end = balance;
                                })));
  under_way = balance;
  held.draw();
  io.run();
  CHECK(under_way == 1);
  CHECK(at_the_end == 0);
}

// -- what ends early ------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "a context that was stopped calls the handler when it runs again") {
  ending how;
  async_run(workers, flow, noting(io, how));
  io.stop();
  workers.wait_for_all();
  io.run();
  CHECK_FALSE(how);
  io.restart();
  io.run();
  CHECK(how);
}

TEST_CASE_METHOD(fixture, "a context that ends with a completion destroys the handler uncalled") {
  census handlers;
  bool called = false;
  {
    asio::io_context short_lived;
    async_run(workers, flow,
              asio::bind_executor(short_lived, [&called, here = guest(handlers)](
                                                   std::exception_ptr) { called = true; }));
    workers.wait_for_all();
  }
  CHECK_FALSE(called);
  CHECK(handlers.entered == 1);
  CHECK(handlers.balanced());
}

task<> run_with_guest(tf::Executor* workers, tf::Taskflow* flow, census* frames) {
  const guest here(*frames);
  co_await async_run(*workers, *flow, use_task);
}

TEST_CASE_METHOD(fixture, "a runtime may end under a task whose taskflow still runs") {
  census frames;
  std::exception_ptr failure;
  {
    runtime rt{pool_size{1}};
    launch(rt, run_with_guest(&workers, &stuck, &frames),
           asio::bind_executor(io, [&failure](std::exception_ptr e) { failure = e; }));
    held.wait_until_begun();
  }
  CHECK(frames.entered == 1);
  CHECK(frames.balanced());
  held.draw();
  workers.wait_for_all();
  io.run();
  CHECK(is(failure, errc::runtime_gone));
}

}  // namespace
}  // namespace troupe::test
