// What launch() promises beside its result: when, where, with whose memory, until when.

#include <asio/bind_allocator.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/detached.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <troupe/troupe.hpp>

#include "tests/support/census.hpp"
#include "tests/support/gate.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

task<int> answer() { co_return 42; }
task<> note(bool* ran) {
  *ran = true;
  co_return;
}

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
};

TEST_CASE_METHOD(fixture, "deferred: nothing runs inside the initiating call") {
  bool ran = false, completed = false;
  launch(rt, note(&ran), [&](std::exception_ptr) { completed = true; });
  CHECK_FALSE(ran);
  CHECK_FALSE(completed);
  io.run();
}

TEST_CASE_METHOD(fixture, "deferred: nothing runs inside a call from a handler of the executor") {
  bool inside = true, ran_inside = false, ran = false;
  asio::post(io, [&] {
    launch(rt, note(&ran), [&](std::exception_ptr) { ran_inside = inside; });
    ran_inside = ran_inside || ran;
    inside = false;
  });
  io.run();
  CHECK(ran);
  CHECK_FALSE(ran_inside);
}

TEST_CASE_METHOD(fixture, "associated: completes on the handler's executor") {
  asio::io_context other;
  auto strand = asio::make_strand(other);
  bool there = false;
  launch(rt, answer(), asio::bind_executor(strand, [&](std::exception_ptr, int) {
           there = strand.running_in_this_thread();
         }));
  io.poll();
  CHECK_FALSE(there);
  other.run();
  CHECK(there);
}

TEST_CASE_METHOD(fixture, "counted: the handler's context stays busy until it has completed") {
  asio::thread_pool elsewhere(1);
  runtime far{elsewhere.get_executor()};
  bool completed = false;
  launch(far, answer(), asio::bind_executor(io.get_executor(), [&](std::exception_ptr, int) {
           completed = true;
         }));
  io.run();  // Returns only when there is no work left.
  CHECK(completed);
}

task<> pass(gate* g) { co_await g->async_pass(use_task); }

TEST_CASE_METHOD(fixture, "counted: the runtime's context stays busy while the task waits") {
  gate g;
  launch(rt, pass(&g), asio::detached);
  io.poll();
  CHECK_FALSE(io.stopped());
  g.open();
  io.poll();
  CHECK(io.stopped());
}

/// Counts what is allocated and what is given back.
template <class T>
struct counting_allocator {
  using value_type = T;
  census* blocks;

  explicit counting_allocator(census* c) : blocks(c) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) : blocks(other.blocks) {}
  T* allocate(std::size_t n) {
    ++blocks->entered;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* memory, std::size_t n) {
    ++blocks->left;
    std::allocator<T>().deallocate(memory, n);
  }
  friend bool operator==(const counting_allocator&, const counting_allocator&) = default;
};

TEST_CASE_METHOD(fixture, "associated: memory comes from the handler's allocator and goes back") {
  census blocks;
  launch(
      rt, answer(),
      asio::bind_allocator(counting_allocator<std::byte>(&blocks), [](std::exception_ptr, int) {}));
  io.run();
  CHECK(blocks.entered > 0);
  CHECK(blocks.balanced());
}

TEST_CASE_METHOD(fixture, "associated: memory is given back before the handler is called") {
  census blocks;
  bool all_back = false;
  launch(rt, answer(),
         asio::bind_allocator(counting_allocator<std::byte>(&blocks),
                              [&](std::exception_ptr, int) { all_back = blocks.balanced(); }));
  io.run();
  CHECK(all_back);
}

TEST_CASE_METHOD(fixture, "cancellable: the handler's slot cancels what the task waits for") {
  gate never;
  asio::cancellation_signal cancel;
  std::exception_ptr failure;
  launch(rt, pass(&never),
         asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr e) { failure = e; }));
  io.poll();
  cancel.emit(asio::cancellation_type::terminal);
  io.run();
  const auto told = as<std::system_error>(failure);
  REQUIRE(told);
  CHECK(told->code() == asio::error::operation_aborted);
}

TEST_CASE_METHOD(fixture, "cancellable: a task cancelled before its first step ends once") {
  gate never;
  asio::cancellation_signal cancel;
  int ended = 0;
  launch(rt, pass(&never),
         asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr) { ++ended; }));
  cancel.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(ended == 1);
}

TEST_CASE_METHOD(fixture, "cancellable: a signal after the completion has nothing to reach") {
  asio::cancellation_signal cancel;
  int ended = 0;
  launch(rt, answer(),
         asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr, int) { ++ended; }));
  io.run();
  CHECK_FALSE(cancel.slot().has_handler());
  cancel.emit(asio::cancellation_type::terminal);
  CHECK(ended == 1);
}

TEST_CASE_METHOD(fixture, "what a handler throws comes out of io.run(), and all goes on") {
  launch(rt, answer(), [](std::exception_ptr, int) { throw std::out_of_range("as planned"); });
  CHECK_THROWS_AS(io.run(), std::out_of_range);
  int got = 0;
  launch(rt, answer(), [&](std::exception_ptr, int value) { got = value; });
  io.restart();
  io.run();
  CHECK(got == 42);
}

TEST_CASE("a task that its io_context abandons is destroyed once and completes nowhere") {
  census frames;
  gate never;
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    launch(
        rt,
        [](gate* g, census* c) -> task<> {
          const guest here(*c);
          co_await g->async_pass(use_task);
        }(&never, &frames),
        asio::detached);
    io.poll();
    REQUIRE(frames.entered == 1);
  }
  CHECK(frames.left == 1);
}

}  // namespace
}  // namespace troupe::test
