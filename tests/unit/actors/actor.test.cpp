// What an actor promises: serial, fifo, closed, steady, and what a failing one does.

#include "troupe/actors/actor.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

struct note {
  explicit note(int number) : n(number) {}
  int n;
};
struct slow_note {
  explicit slow_note(int number) : n(number) {}
  int n;
};
struct explode {};
struct notes {
  using answer_type = std::vector<int>;
  explicit notes(reply<std::vector<int>> answer) : to(std::move(answer)) {}
  reply<std::vector<int>> to;
};
struct forget {
  using answer_type = int;
  explicit forget(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};

class notebook final : public actor<notebook, note, slow_note, explode, notes, forget> {
 public:
  explicit notebook(runtime& rt) : actor(rt, "notebook") {}

  void on(note m) { numbers_.push_back(m.n); }
  task<> on(slow_note m) {
    ++inside_;
    co_await sleep_for(1ms);
    numbers_.push_back(inside_ == 1 ? m.n : -1);
    --inside_;
  }
  void on(explode) { throw std::runtime_error("out of paper"); }
  void on(notes m) { m.to.set(numbers_); }
  void on(forget) {}

 private:
  std::vector<int> numbers_;
  int inside_ = 0;
};

task<std::vector<int>> write_all(notebook& book) {
  book.tell(note(1));
  book.tell(slow_note(2));
  book.tell(note(3));
  book.tell(slow_note(4));
  co_return co_await book.ask<notes>();
}

TEST_CASE("messages of one sender are taken in order, one handler at a time") {
  for (const bool pooled : {false, true}) {
    asio::io_context io;
    runtime rt = pooled ? runtime(pool_size{2}) : runtime(io.get_executor());
    notebook book(rt);
    CHECK(block_on(rt, write_all(book)) == std::vector<int>{1, 2, 3, 4});
    block_on(rt, book.stop());
  }
}

task<> tell_twice(notebook* book, int first) {
  book->tell(note(first));
  book->tell(note(first + 1));
  co_return;
}

TEST_CASE("messages of two senders arrive in any order, each sender's in its own") {
  std::vector<std::vector<int>> seen;
  // coroutine-form: explore() keeps the lambda until its last run has ended
  const auto report = explore_all([&](world& w) -> task<> {
    notebook book(w.runtime());
    co_await when_all(tell_twice(&book, 10), tell_twice(&book, 20));
    const auto all = co_await book.ask<notes>();
    co_await book.stop();
    seen.push_back(all);
  });
  CHECK(report.schedules > 1);
  bool tens_first = false, twenties_first = false, mixed = false;
  for (const auto& order : seen) {
    std::vector<int> tens, twenties;
    for (int n : order) (n < 20 ? tens : twenties).push_back(n);
    CHECK(std::is_sorted(tens.begin(), tens.end()));
    CHECK(std::is_sorted(twenties.begin(), twenties.end()));
    if (order == std::vector<int>{10, 11, 20, 21}) tens_first = true;
    if (order == std::vector<int>{20, 21, 10, 11}) twenties_first = true;
    if (order == std::vector<int>{10, 20, 11, 21}) mixed = true;
  }
  CHECK(tens_first);
  CHECK(twenties_first);
  CHECK(mixed);
}

task<std::vector<int>> explode_and_ask(notebook& book) {
  book.tell(note(1));
  book.tell(explode());
  co_return co_await book.ask<notes>();
}

TEST_CASE("a handler that throws ends its actor: who asks is told, stop() throws it") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  notebook book(rt);
  try {
    block_on(rt, explode_and_ask(book));
    FAIL("it answered");
  } catch (const error& e) {
    CHECK(e.code() == errc::broken_reply);
  }
  CHECK_THROWS_AS(block_on(rt, book.stop()), std::runtime_error);
}

TEST_CASE("a message that is dropped without its answer is an error, not a wait") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  notebook book(rt);
  try {
    block_on(rt, book.ask<forget>());
    FAIL("it answered");
  } catch (const error& e) {
    CHECK(e.code() == errc::broken_reply);
  }
}

TEST_CASE("mail for an actor that was stopped is dropped") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  notebook book(rt);
  block_on(rt, book.stop());
  CHECK_THROWS_AS(block_on(rt, book.ask<notes>()), error);
}

struct token {
  explicit token(std::shared_ptr<int> counted) : life(std::move(counted)) {}
  std::shared_ptr<int> life;
};
class sink final : public actor<sink, token> {
 public:
  explicit sink(runtime& rt) : actor(rt, "sink") {}
  void on(token) {}
};

TEST_CASE("mail that an actor never took is dropped once, with the actor or with the runtime") {
  const auto life = std::make_shared<int>(0);
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    sink s(rt);
    s.tell(token(life));
  }
  CHECK(life.use_count() == 1);
  {
    asio::io_context io;
    runtime rt{io.get_executor()};
    {
      sink s(rt);
      s.tell(token(life));
    }
    io.run();
  }
  CHECK(life.use_count() == 1);
}

task<> never_answered(notebook* book) { static_cast<void>(co_await book->ask<notes>()); }

task<> hang_on(answer<int>* never) { static_cast<void>(co_await *never); }

TEST_CASE("a reply that nobody holds any more ends the wait under every schedule") {
  explore_all([](world& w) -> task<> {
    notebook book(w.runtime());
    co_await when_all(never_answered(&book), tell_twice(&book, 1));
    co_await book.stop();
  });
}

TEST_CASE("a reply that somebody keeps and never sets is a deadlock with its line") {
  const auto found = explore_to_failure([](world&) -> task<> {
    answer<int> never;
    const auto kept = never.to();
    co_await hang_on(&never);
  });
  const auto verdict = as<error>(found.exception);
  REQUIRE(verdict);
  CHECK(verdict->code() == errc::deadlock);
  REQUIRE(verdict->waiting().size() == 1);
  CHECK(verdict->waiting()[0].find("a reply") != std::string::npos);
}

// -- where a question is asked --------------------------------------------------------------------

struct riddle {
  using answer_type = int;
  explicit riddle(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};

/// Answers the first, and keeps the others.
class oracle final : public actor<oracle, riddle> {
 public:
  explicit oracle(runtime& on) : actor(on, "oracle") {}
  void on(riddle m) {
    if (kept_.empty()) m.to.set(1);
    kept_.push_back(std::move(m.to));
  }

 private:
  std::vector<reply<int>> kept_;
};

constexpr unsigned first_question = __LINE__ + 2;
task<> ask_twice(replica_context, oracle* whom) {
  co_await whom->ask<riddle>();
  co_await whom->ask<riddle>();
}

task<> wait_for_ever(world& w) {
  oracle whom(w.runtime());
  mirrored_strategy strategy(w.runtime(), 1);
  co_await strategy.run(ask_twice, &whom);
}

TEST_CASE("who waits for an actor's answer is told at the line that asks, and at no other") {
  const auto found = explore_to_failure(wait_for_ever);
  const auto verdict = as<error>(found.exception);
  REQUIRE(verdict);
  REQUIRE(verdict->waiting().size() == 2);
  const std::string line = verdict->waiting()[0];
  CHECK(line.find("replica/0  waits for a reply  at actor.test.cpp:" +
                  std::to_string(first_question + 1)) == 0);
  CHECK(line.find("awaited at") == line.npos);
}

TEST_CASE("in a picture, who goes on with an answer does so at the line that asked") {
  const auto found = explore_to_failure(wait_for_ever);
  INFO(found.picture);
  const std::string goes_on = "actor.test.cpp:" + std::to_string(first_question);
  const std::size_t at = found.picture.find("resume");
  REQUIRE(at != std::string::npos);
  CHECK(found.picture.find(goes_on, at) < found.picture.find('\n', at));
  CHECK(found.picture.find("actor.hpp") == std::string::npos);
}

}  // namespace
}  // namespace troupe::test
