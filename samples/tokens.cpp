// tokens.cpp - one run for every completion token, and Asio operations inside a task.
//
// async_run() is an Asio asynchronous operation like any other: what happens at its end is
// the caller's choice. Every way below adds up the same step's results; the program fails
// if one of them comes out different.

#include <asio/as_tuple.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/deferred.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <iostream>
#include <optional>
#include <string>
#include <troupe/troupe.hpp>

namespace {

using namespace troupe;
using namespace std::chrono_literals;

int failures = 0;

void expect(const std::string& how, long got, long wanted) {
  std::cout << how << ": " << got << "\n";
  if (got == wanted) return;
  ++failures;
  std::cerr << how << " gave " << got << ", not " << wanted << "\n";
}

/// Three replicas: everybody's result is 3 * three + (0 + 1 + 2).
task<long> step(replica_context ctx, long three) {
  co_return co_await ctx.all_reduce(reduce_op::sum, three + ctx.replica_id());
}
constexpr long wanted = 12;

void callback(asio::io_context& io, const mirrored_strategy& strategy) {
  // [callback]
  strategy.async_run(step, std::tuple(3L), [](std::exception_ptr failure, per_replica<long> r) {
    expect("a callback", failure ? -1 : r[0], wanted);
  });
  // [/callback]
  io.run();
}

void callback_on_strand(asio::io_context& io, const mirrored_strategy& strategy) {
  // [associated]
  auto strand = asio::make_strand(io);  // The handler's executor, not the runtime's.
  strategy.async_run(
      step, std::tuple(3L),
      asio::bind_executor(strand, [strand](std::exception_ptr failure, per_replica<long> r) {
        const bool right = !failure && strand.running_in_this_thread();
        expect("a callback on its own strand", right ? r[1] : -1, wanted);
      }));
  // [/associated]
  io.run();
}

// [awaitable]
asio::awaitable<void> in_asio_coroutine(const mirrored_strategy* strategy) {
  per_replica<long> r = co_await strategy->async_run(step, std::tuple(3L), asio::use_awaitable);
  expect("use_awaitable", r[2], wanted);
}
// [/awaitable]

asio::awaitable<void> without_exceptions(const mirrored_strategy* strategy) {
  // [as_tuple]
  auto [failure, r] =
      co_await strategy->async_run(step, std::tuple(3L), asio::as_tuple(asio::use_awaitable));
  // [/as_tuple]
  expect("as_tuple(use_awaitable)", failure ? -1 : r[0], wanted);
}

/// Lazily: nothing starts before the operation is called, or awaited.
asio::awaitable<void> later(const mirrored_strategy* strategy) {
  // [deferred]
  auto operation = strategy->async_run(step, std::tuple(3L), asio::deferred);
  per_replica<long> r = co_await std::move(operation);
  // [/deferred]
  expect("deferred", r[0], wanted);
}

void future(asio::io_context& io, const mirrored_strategy& strategy) {
  // [future]
  std::future<per_replica<long>> r = strategy.async_run(step, std::tuple(3L), asio::use_future);
  io.run();  // In a program with threads one of them is here already.
  expect("use_future", r.get()[0], wanted);
  // [/future]
}

task<> notice(long* sum, long value) {
  *sum += value;
  co_return;
}

void detached(asio::io_context& io, const mirrored_strategy& strategy) {
  long sum = 0;
  strategy.async_run(notice, std::tuple(&sum, 4L), asio::detached);
  io.run();
  expect("detached", sum, wanted);
}

// --- The other way round: a task awaits Asio. --------------------------------------------

// [use_task]
/// Any operation, with the token use_task: the task goes on where it was.
task<std::string> echo(asio::ip::tcp::socket a, asio::ip::tcp::socket b) {
  asio::steady_timer timer(a.get_executor(), 1ms);
  co_await timer.async_wait(use_task);

  const std::string sent = "hello";
  co_await asio::async_write(a, asio::buffer(sent), use_task);
  std::string received(sent.size(), ' ');
  auto [failure, size] =
      co_await asio::async_read(b, asio::buffer(received), asio::as_tuple(use_task));
  if (failure) co_return failure.message();
  co_return received.substr(0, size);
}
// [/use_task]

// [await_asio]
/// Asio's own coroutine asks where it is …
asio::awaitable<long> share(long three) {
  asio::steady_timer timer(co_await asio::this_coro::executor, 1ms);
  co_await timer.async_wait(asio::use_awaitable);
  const std::optional<replica_context> me = get_replica_context();
  co_return three + me->replica_id();
}

/// … and is where the replica is that awaits it.
task<long> step_with_awaitable(replica_context ctx, long three) {
  const long mine = co_await await_asio(share(three));
  co_return co_await ctx.all_reduce(reduce_op::sum, mine);
}
// [/await_asio]

void task_over_awaitable(asio::io_context& io) {
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 3);
  const per_replica<long> r = block_on(rt, strategy.run(step_with_awaitable, 3L));
  expect("an awaitable inside replicas", r[0], wanted);
}

void task_over_asio(asio::io_context& io) {
  using asio::ip::tcp;
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  tcp::socket a(io);
  a.connect(acceptor.local_endpoint());
  tcp::socket b = acceptor.accept();
  runtime rt{io.get_executor()};
  const std::string heard = block_on(rt, echo(std::move(a), std::move(b)));
  expect("a task that awaits a timer and two sockets, bytes", heard == "hello" ? 5 : -1, 5);
}

}  // namespace

int main() {
  try {
    asio::io_context io;
    runtime rt{io.get_executor()};
    mirrored_strategy strategy{rt, 3};
    const auto run_again = [&io] { io.restart(); };

    callback(io, strategy), run_again();
    callback_on_strand(io, strategy), run_again();
    asio::co_spawn(io, in_asio_coroutine(&strategy), asio::detached);
    asio::co_spawn(io, without_exceptions(&strategy), asio::detached);
    asio::co_spawn(io, later(&strategy), asio::detached);
    io.run(), run_again();
    future(io, strategy), run_again();
    detached(io, strategy), run_again();
    task_over_asio(io), run_again();
    task_over_awaitable(io);
  } catch (const std::exception& e) {
    std::cerr << "tokens: " << e.what() << "\n";
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
