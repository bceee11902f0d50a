// The forms that docs/coroutine-pitfalls.md recommends, compiled and run.
//
// Method: each region between markers is a fence of that page. calls counts the tasks that
// ran, so that a form which runs what it must not is caught, whatever its result.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::test {
namespace {

int calls = 0;

template <class T>
T run(task<T> body) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  calls = 0;
  return block_on(rt, std::move(body));
}

task<bool> ready(bool answer) {
  ++calls;
  co_return answer;
}

task<int> fetch(int value) {
  ++calls;
  co_return value;
}

// [if]
task<bool> both(bool first) {
  bool result = false;
  if (first) result = co_await ready(true);
  co_return result;
}
// [/if]

// [ternary]
task<int> fetch_if(bool wanted) {
  int result = 0;
  if (wanted) result = co_await fetch(1);
  co_return result;
}
// [/ternary]

// [loop]
task<int> count_to(int limit) {
  int count = 0;
  while (count < limit) {
    const bool more = co_await ready(count + 1 < limit);
    ++count;
    if (!more) break;
  }
  co_return count;
}
// [/loop]

TEST_CASE("what must not run does not run", "[docs]") {
  CHECK_FALSE(run(both(false)));
  CHECK(calls == 0);
  CHECK(run(both(true)));
  CHECK(calls == 1);
  CHECK(run(fetch_if(false)) == 0);
  CHECK(calls == 0);
  CHECK(run(fetch_if(true)) == 1);
  CHECK(run(count_to(3)) == 3);
  CHECK(calls == 3);
}

// [macro]
task<> claims_its_result() {
  const int value = co_await fetch(1);
  CHECK(value == 1);
}
// [/macro]

TEST_CASE("an awaited result is checked by its name", "[docs]") {
  run(claims_its_result());
  CHECK(calls == 1);
}

// [named-condition]
task<std::string> describe() {
  const bool up = co_await ready(true);
  if (up) co_return "up";
  co_return "down";
}
// [/named-condition]

TEST_CASE("a condition is a named result", "[docs]") {
  CHECK(run(describe()) == "up");
  CHECK(calls == 1);
}

struct request {
  std::string name;
  int times;
};

task<std::size_t> send(request r) { co_return r.name.size() * static_cast<std::size_t>(r.times); }
task<std::size_t> total(std::vector<int> values) { co_return values.size(); }

const std::string long_name(40, 'x');  // Too long to be stored in place.

// [name-first]
task<std::size_t> send_twice() {
  request r{long_name, 2};
  co_return co_await send(std::move(r));
}

task<std::size_t> add_up() {
  std::vector<int> values{1, 2, 3};
  co_return co_await total(std::move(values));
}

task<request> receive() {
  const int times = co_await fetch(3);
  co_return request{long_name, times};
}
// [/name-first]

struct message {
  explicit message(std::string text) : body(std::move(text)) {}
  std::string body;
};

task<std::size_t> post(message m) { co_return m.body.size(); }

// [constructor]
task<std::size_t> post_it() {
  co_return co_await post(message(long_name));  // message has a constructor: no braces needed.
}
// [/constructor]

TEST_CASE("what has a name, or a constructor, is destroyed once", "[docs]") {
  CHECK(run(send_twice()) == 80);
  CHECK(run(add_up()) == 3);
  const request received = run(receive());
  CHECK(received.name == long_name);
  CHECK(received.times == 3);
  CHECK(run(post_it()) == 40);
}

// [options]
struct options {
  std::string label = "none";
  int retries = 3;
};

task<int> connect(options with = options()) { co_return with.retries; }  // Not = {}.
// [/options]

task<int> connect_by_default() { co_return co_await connect(); }

TEST_CASE("a default argument is written with parentheses", "[docs]") {
  CHECK(run(connect_by_default()) == 3);
}

template <class F>
task<int> apply(F function) {
  co_return function();
}

// [lambda-argument]
task<std::size_t> apply_named() {
  const std::string text = long_name;
  auto length = [text] { return static_cast<int>(text.size()); };
  co_return static_cast<std::size_t>(co_await apply(std::move(length)));
}
// [/lambda-argument]

// [lambda-coroutine]
task<int> later() {
  auto add = [](int a, int b) -> task<int> { co_return a + co_await fetch(b); };
  task<int> sum = add(1, 2);  // The frame has its own copies of 1 and 2.
  co_return co_await std::move(sum);
}
// [/lambda-coroutine]

TEST_CASE("lambdas are named, and coroutines among them capture nothing", "[docs]") {
  CHECK(run(apply_named()) == 40);
  CHECK(run(later()) == 3);
}

// [by-value]
task<std::size_t> length(std::string text) {
  co_await ready(true);
  co_return text.size();
}

task<std::size_t> started_later() {
  task<std::size_t> pending = length(std::string(40, 'x'));  // Moved into the frame.
  co_return co_await std::move(pending);
}
// [/by-value]

TEST_CASE("a parameter by value lives as long as the frame", "[docs]") {
  CHECK(run(started_later()) == 40);
}

// [lock]
class tally {
 public:
  task<int> add(int key) {
    const int value = co_await fetch(key);
    {
      std::scoped_lock lock(mutex_);
      total_ += value;
    }
    co_await ready(true);
    co_return value;
  }

  int total() const {
    std::scoped_lock lock(mutex_);
    return total_;
  }

 private:
  mutable std::mutex mutex_;
  int total_ = 0;
};
// [/lock]

TEST_CASE("a lock is released before the next await", "[docs]") {
  tally t;
  CHECK(run(t.add(5)) == 5);
  CHECK(t.total() == 5);
}

task<int> fails() {
  co_await ready(true);
  throw std::runtime_error("no answer");
}

// [catch]
task<int> with_a_second_try() {
  std::exception_ptr failure;
  try {
    co_return co_await fails();
  } catch (const std::runtime_error&) {
    failure = std::current_exception();
  }
  co_await ready(failure == nullptr);  // Here an await is allowed again.
  co_return co_await fetch(2);
}
// [/catch]

TEST_CASE("a failure is stored, and answered after its handler", "[docs]") {
  CHECK(run(with_a_second_try()) == 2);
  CHECK(calls == 3);
}

// [alignment]
struct alignas(64) cache_line {
  std::byte bytes[64];
};

task<bool> is_aligned() {
  auto line = std::make_unique<cache_line>();  // operator new heeds alignas; a frame does not.
  co_await ready(true);
  co_return reinterpret_cast<std::uintptr_t>(line.get()) % alignof(cache_line) == 0;
}
// [/alignment]

TEST_CASE("over-aligned storage comes from new", "[docs]") { CHECK(run(is_aligned())); }

task<int> descend(int depth) {
  int below = 0;
  if (depth > 0) below = co_await descend(depth - 1);
  co_return below + 1;
}

task<int> repeat(int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) sum += co_await fetch(1);
  co_return sum;
}

TEST_CASE("awaits cost no stack, in a loop or in depth", "[docs]") {
  CHECK(run(repeat(1'000'000)) == 1'000'000);
  CHECK(run(descend(100'000)) == 100'001);
}

}  // namespace
}  // namespace troupe::test
