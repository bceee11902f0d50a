// TR-501: blocking where that would wait for itself.

#include <asio/post.hpp>
#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <troupe/troupe.hpp>

#include "tests/catalogue/example.hpp"

namespace troupe::test {
namespace {

task<> nothing() { co_return; }

task<> block_inside(runtime* rt) {
  block_on(*rt, nothing());
  co_return;
}

TEST_CASE_METHOD(on_an_io_context, "TR-501 would_block: a task blocks instead of awaiting") {
  show(raised({.code = errc::would_block,
               .what = "block_on() called from inside a task, an actor or a replica",
               .fix = "await the operation, or start it with async_run() and a completion token"},
              thrown_on(block_inside(&rt))));
}

TEST_CASE("TR-501 would_block: a task on a pool blocks instead of awaiting") {
  runtime rt{pool_size{1}};
  raised({.code = errc::would_block,
          .what = "block_on() called from inside a task, an actor or a replica",
          .fix = "await the operation instead: co_await it"},
         thrown_by([&] { block_on(rt, block_inside(&rt)); }));
}

TEST_CASE_METHOD(on_an_io_context, "TR-501 would_block: a handler of the same context blocks") {
  std::exception_ptr thrown;
  asio::post(io, [&] { thrown = thrown_by([&] { block_on(rt, nothing()); }); });
  io.run();
  raised({.code = errc::would_block,
          .what = "block_on() called from a handler of the executor it waits for",
          .fix = "await the operation, or start it with async_run() and a completion token"},
         thrown);
}

TEST_CASE("TR-501 would_block: a simulated program blocks") {
  const failure found = failure_of([](world& w) { return block_inside(&w.runtime()); });
  raised({.code = errc::would_block,
          .what = "block_on() inside a simulation",
          .fix = "the program of explore() is a task: await the operation instead"},
         found.exception);
}

}  // namespace
}  // namespace troupe::test
