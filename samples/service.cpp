// service.cpp - a TCP service whose requests run strategy steps on its own io_context.
//
// The protocol is one line of text for each request and one for its answer:
//
//     sum 1 2 3      6                 the replicas share the numbers and merge their sums
//     slow 20        done              every replica sleeps 20 ms
//     slow 60000     error timeout     a request may take so long, no longer
//     sum one        error 'one' is not a whole number
//
// There is one io_context and one thread, main()'s. The runtime lives on that context and
// brings no thread; a run is one more asynchronous operation beside reads and writes.
// Without arguments the program talks to itself over loopback and checks what it hears.
//
//     sample_service --serve PORT      serves on 127.0.0.1 until Ctrl-C or SIGTERM

#include <algorithm>
#include <asio/as_tuple.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/read_until.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <charconv>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <list>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;
using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr auto with_error = asio::as_tuple(use_awaitable);
constexpr std::size_t longest_line = 4096;

// --- The steps: what one replica does for one request. -----------------------------------

using numbers = std::vector<long>;

// [step]
troupe::task<long> sum_share(troupe::replica_context ctx, numbers mine) {
  const long part = std::accumulate(mine.begin(), mine.end(), 0L);
  co_return co_await ctx.all_reduce(troupe::reduce_op::sum, part);
}
// [/step]

troupe::task<> sleep_share(std::chrono::milliseconds delay) { co_await troupe::sleep_for(delay); }

/// Deals the numbers out: an argument of run() that is per_replica gives each its own.
troupe::per_replica<numbers> deal(const numbers& all, int replicas) {
  std::vector<numbers> hands(static_cast<std::size_t>(replicas));
  for (std::size_t i = 0; i < all.size(); ++i) hands[i % hands.size()].push_back(all[i]);
  return {hands.begin(), hands.end()};
}

// --- Words and numbers. ------------------------------------------------------------------

std::optional<long> to_number(const std::string& word) {
  long value = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

/// What the client is told; the whole story of an error has more lines than its protocol.
std::string error_line(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const troupe::error& e) {
    if (e.code() == troupe::errc::cancelled) return "error cancelled";
  } catch (...) {
  }
  const std::string text = troupe::describe(failure);
  return "error " + text.substr(0, text.find('\n'));
}

// --- The service. ------------------------------------------------------------------------

class service {
 public:
  service(asio::io_context& io, unsigned short port, std::chrono::milliseconds timeout)
      : io_(io),
        acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), port)),
        timeout_(timeout),
        // [runtime]
        runtime_(io.get_executor()),  // No thread: whoever runs `io` runs the replicas.
        strategy_(runtime_, 4)
  // [/runtime]
  {}

  void start() { asio::co_spawn(io_, accept(), asio::detached); }

  /// Takes no more clients and cancels what is under way; then io.run() returns.
  void stop() {
    acceptor_.close();
    for (auto next = sessions_.begin(); next != sessions_.end();) {
      (next++)->emit(asio::cancellation_type::terminal);
    }
  }

  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
  int under_way() const { return under_way_; }
  int answered() const { return answered_; }

 private:
  awaitable<void> accept() {
    for (;;) {
      auto [failure, socket] = co_await acceptor_.async_accept(with_error);
      if (!acceptor_.is_open()) co_return;
      if (failure) {  // No descriptor left, perhaps: others will give theirs back.
        co_await troupe::sleep_for(io_.get_executor(), 100ms, use_awaitable);
        continue;
      }
      const auto signal = sessions_.emplace(sessions_.end());
      asio::co_spawn(
          io_, session(std::move(socket)),
          asio::bind_cancellation_slot(
              signal->slot(), [this, signal](std::exception_ptr) { sessions_.erase(signal); }));
    }
  }

  awaitable<void> session(tcp::socket socket) {
    std::string input;
    for (;;) {
      auto [failure, size] = co_await asio::async_read_until(
          socket, asio::dynamic_buffer(input, longest_line), '\n', with_error);
      const bool too_long = failure == asio::error::not_found;
      if (failure && !too_long) co_return;  // The client has left, or stop() was called.
      std::string answer = "error a line has at most " + std::to_string(longest_line) + " bytes";
      if (!too_long) {
        std::string line = input.substr(0, size - 1);
        input.erase(0, size);
        answer = co_await respond(std::move(line));
      }
      const auto state = co_await asio::this_coro::cancellation_state;
      const bool stopping = state.cancelled() != asio::cancellation_type::none;
      // A cancelled coroutine can await nothing more, but its client deserves an answer.
      if (stopping) co_await asio::this_coro::reset_cancellation_state();
      answer += '\n';
      ++answered_;
      auto [lost, sent] = co_await asio::async_write(socket, asio::buffer(answer), with_error);
      if (stopping || too_long || lost) co_return;
    }
  }

  // [timeout]
  /// A request and a clock: the one that is done first cancels the other.
  awaitable<std::string> respond(std::string line) {
    ++under_way_;
    auto late = troupe::sleep_for(io_.get_executor(), timeout_, use_awaitable);
    auto first = co_await (perform(std::move(line)) || std::move(late));
    --under_way_;
    if (first.index() == 1) co_return "error timeout";
    co_return std::get<0>(std::move(first));
  }
  // [/timeout]

  /// Never throws: `||` would wait for the clock before it passed the exception on.
  awaitable<std::string> perform(std::string line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    numbers arguments;
    for (std::string word; words >> word;) {
      const auto number = to_number(word);
      if (!number) co_return "error '" + word + "' is not a whole number";
      arguments.push_back(*number);
    }
    if (command == "sum") co_return co_await sum(std::move(arguments));
    if (command != "slow") co_return "error there is sum and slow, but no '" + command + "'";
    if (arguments.size() != 1 || arguments[0] < 0 || arguments[0] > 3'600'000) {
      co_return "error slow needs one number of milliseconds, at most an hour";
    }
    co_return co_await slow(std::chrono::milliseconds(arguments[0]));
  }

  // [request]
  awaitable<std::string> sum(numbers all) {
    std::tuple arguments(deal(all, strategy_.num_replicas_in_sync()));
    auto [failure, sums] =
        co_await strategy_.async_run(sum_share, std::move(arguments), with_error);
    if (failure) co_return error_line(failure);
    co_return std::to_string(sums[0]);  // Every replica has the same sum.
  }
  // [/request]

  awaitable<std::string> slow(std::chrono::milliseconds delay) {
    auto [failure] = co_await strategy_.async_run(sleep_share, std::tuple(delay), with_error);
    if (failure) co_return error_line(failure);
    co_return "done";
  }

  asio::io_context& io_;
  tcp::acceptor acceptor_;
  std::chrono::milliseconds timeout_;
  troupe::runtime runtime_;
  troupe::mirrored_strategy strategy_;
  std::list<asio::cancellation_signal> sessions_;  // One each; gone when the session is.
  int under_way_ = 0;
  int answered_ = 0;
};

// --- The proof: clients in the same program. ----------------------------------------------

class client {
 public:
  explicit client(asio::io_context& io) : socket_(io) {}

  awaitable<void> connect(tcp::endpoint to) { co_await socket_.async_connect(to, use_awaitable); }

  awaitable<void> send(std::string line) {
    line += '\n';
    co_await asio::async_write(socket_, asio::buffer(line), use_awaitable);
  }

  /// The next answer; "" when the service has closed the connection.
  awaitable<std::string> receive() {
    auto [failure, size] =
        co_await asio::async_read_until(socket_, asio::dynamic_buffer(input_), '\n', with_error);
    if (failure) co_return "";
    std::string line = input_.substr(0, size - 1);
    input_.erase(0, size);
    co_return line;
  }

  awaitable<std::string> ask(std::string line) {
    co_await send(std::move(line));
    co_return co_await receive();
  }

 private:
  tcp::socket socket_;
  std::string input_;
};

class proof {
 public:
  proof(asio::io_context& io, service& served) : io_(io), served_(served) {}

  awaitable<void> run() {
    co_await (many_sums(1) && many_sums(2) && many_sums(3) && too_slow() && bad_input());
    expect("sums asked after slow", quick_while_slow_ ? "answered before it" : "had to wait",
           "answered before it");
    co_await unfinished_at_shutdown();
  }

  bool holds() const { return failures_ == 0; }

 private:
  void expect(const std::string& asked, const std::string& got, const std::string& wanted) {
    if (got == wanted) return;
    ++failures_;
    std::cerr << "'" << asked << "' gave '" << got << "', not '" << wanted << "'\n";
  }

  awaitable<void> many_sums(int who) {
    client c(io_);
    co_await c.connect(served_.endpoint());
    for (int i = 0; i < 50; ++i) {
      const std::string line = "sum " + std::to_string(who) + " 10 -3 100 " + std::to_string(i);
      const std::string got = co_await c.ask(line);
      expect(line, got, std::to_string(107 + who + i));
    }
    if (!slow_answered_) quick_while_slow_ = true;
  }

  awaitable<void> too_slow() {
    client c(io_);
    co_await c.connect(served_.endpoint());
    expect("slow 60000", co_await c.ask("slow 60000"), "error timeout");
    slow_answered_ = true;
    expect("slow 1", co_await c.ask("slow 1"), "done");  // The strategy is as good as new.
  }

  awaitable<void> bad_input() {
    client c(io_);
    co_await c.connect(served_.endpoint());
    expect("sum one", co_await c.ask("sum one"), "error 'one' is not a whole number");
    expect("mean 1", co_await c.ask("mean 1"), "error there is sum and slow, but no 'mean'");
    expect("slow", co_await c.ask("slow"),
           "error slow needs one number of milliseconds, at most an hour");
    expect("sum", co_await c.ask("sum"), "0");
    const std::string too_long(longest_line + 1, '1');
    expect("a long line", co_await c.ask(too_long), "error a line has at most 4096 bytes");
  }

  awaitable<void> unfinished_at_shutdown() {
    client c(io_);
    co_await c.connect(served_.endpoint());
    co_await c.send("slow 60000");
    while (served_.under_way() == 0) co_await asio::post(io_, use_awaitable);
    served_.stop();
    expect("slow 60000 at shutdown", co_await c.receive(), "error cancelled");
    expect("the end of the connection", co_await c.receive(), "");
  }

  asio::io_context& io_;
  service& served_;
  int failures_ = 0;
  bool slow_answered_ = false;
  bool quick_while_slow_ = false;
};

std::size_t count_threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

int prove() {
  const std::size_t threads_before = count_threads();
  asio::io_context io;
  service served(io, 0, 1s);
  served.start();
  proof all(io, served);
  std::size_t threads_at_work = 0;
  asio::co_spawn(io, all.run(), [&](std::exception_ptr failure) {
    threads_at_work = count_threads();
    if (failure) std::rethrow_exception(failure);
  });
  io.run();  // Returns by itself: after stop() nothing is left to do.
  const std::size_t started = threads_at_work - threads_before;
  std::cout << "service: " << served.answered() << " answers, one timed out, one cancelled at "
            << "shutdown, " << started << " threads started\n";
  return all.holds() && started == 0 && served.under_way() == 0 ? 0 : 1;
}

int serve(unsigned short port) {
  asio::io_context io;
  service served(io, port, 10s);
  served.start();
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](std::error_code, int) { served.stop(); });
  std::cout << "serving on 127.0.0.1:" << served.endpoint().port() << "; Ctrl-C ends it\n"
            << std::flush;
  io.run();
  std::cout << "service: " << served.answered() << " answers, clean shutdown\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 1) return prove();
    const std::string option = argv[1];
    const long port = argc == 3 ? to_number(argv[2]).value_or(-1) : -1;
    if (option != "--serve" || port < 0 || port > 65535) {
      std::cerr << "usage: sample_service [--serve PORT]\n";
      return 2;
    }
    return serve(static_cast<unsigned short>(port));
  } catch (const std::exception& e) {
    std::cerr << "service: " << e.what() << "\n";
    return 1;
  }
}
