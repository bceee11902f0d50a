// What one round leaves to the next, on one line and on two: where its arguments go, what is
// expected there, and what it returned. None of that may be taken for the next one's.

#include <algorithm>
#include <array>
#include <asio/async_result.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/on_one_line_or_two.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;

constexpr int replicas = 4;

using fixture = on_one_line_or_two<replicas>;

int sum(const ints& values) { return std::accumulate(values.begin(), values.end(), 0); }
int product(const ints& values) {
  return std::accumulate(values.begin(), values.end(), 1, std::multiplies<>());
}

int first(const ints& values, const ints&) { return values[0]; }

/// How one replica differs from the others after some rounds that were alike.
enum class way { function, place, arguments, end };

task<int> merge_alike_and_then(replica_context ctx, int rounds, int odd_one, way differs) {
  int all = 0;
  const bool odd = ctx.replica_id() == odd_one;
  for (int round = 0; round <= rounds; ++round) {
    const bool now = odd && round == rounds;
    if (now && differs == way::end) co_return all;
    if (now && differs == way::place) {
      all += co_await ctx.merge_call(sum, 1);
    } else if (now && differs == way::arguments) {
      all += co_await ctx.merge_call(first, 1, 2);
    } else {
      auto* const merge = now && differs == way::function ? product : sum;
      all += co_await ctx.merge_call(merge, 1);
    }
  }
  co_return all;
}

TEST_CASE_METHOD(fixture, "whoever differs after rounds that were alike breaks the run") {
  for (const way differs : {way::function, way::place, way::arguments, way::end}) {
    const errc expected = differs == way::end ? errc::missing_replica : errc::merge_mismatch;
    for (int odd_one = 0; odd_one < replicas; ++odd_one) {
      for (const int rounds : {1, 2, 5}) {
        const auto thrown = thrown_by([&] { run(merge_alike_and_then, rounds, odd_one, differs); });
        CHECK(is(thrown, expected));
      }
    }
  }
  CHECK(run(merge_alike_and_then, 3, replicas, way::end)[0] == 4 * replicas);
}

/// Told from others by == alone: it is larger than a pointer.
struct scaled_sum {
  std::array<int, 6> factors;
  int operator()(const ints& values) const { return factors[5] * sum(values); }
  friend bool operator==(const scaled_sum&, const scaled_sum&) = default;
};

task<int> merge_scaled(replica_context ctx, int rounds, int odd_one) {
  int all = 0;
  for (int round = 1; round <= rounds; ++round) {
    const bool odd = ctx.replica_id() == odd_one && round == rounds;
    const scaled_sum merge{{0, 0, 0, 0, 0, odd ? 1000 : round}};
    all += co_await ctx.merge_call(merge, 1);
  }
  co_return all;
}

TEST_CASE_METHOD(fixture, "a function that only == tells from others may change with the round") {
  CHECK(run(merge_scaled, 3, replicas)[1] == (1 + 2 + 3) * replicas);
  for (int odd_one = 0; odd_one < replicas; ++odd_one) {
    CHECK(is(thrown_by([&] { run(merge_scaled, 3, odd_one); }), errc::merge_mismatch));
  }
}

task<int> merge_in_vain_now_and_then(replica_context ctx, std::vector<bool> fails) {
  int caught = 0;
  for (const bool now : fails) {
    const auto return_nothing = [now] {
      if (now) throw std::runtime_error("in vain");
    };
    try {
      co_await ctx.merge_call(return_nothing);
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  co_return caught;
}

TEST_CASE_METHOD(fixture, "a merge that failed is told by its own round alone") {
  const auto order = GENERATE(replica_order::concurrent, replica_order::one_by_one);
  const mirrored_strategy ordered(rt, replicas, {.order = order});
  for (unsigned bits = 0; bits < 32; ++bits) {
    std::vector<bool> fails;
    int expected = 0;
    for (unsigned i = 0; i < 5; ++i) {
      fails.push_back((bits >> i & 1) != 0);
      expected += fails.back() ? 1 : 0;
    }
    const ints caught = block_on(rt, ordered.run(merge_in_vain_now_and_then, fails));
    CHECK(caught == ints{expected, expected, expected, expected});
  }
}

/// Counts those alive that hold a round's number.
class counted {
 public:
  counted(std::shared_ptr<std::atomic<int>> alive, int round) : alive_(std::move(alive)) {
    ++*alive_;
    numbers_.fill(round);
  }
  counted(const counted& other) : alive_(other.alive_), numbers_(other.numbers_) { ++*alive_; }
  counted& operator=(const counted&) = default;
  ~counted() { --*alive_; }
  int round() const { return numbers_.back(); }

 private:
  std::shared_ptr<std::atomic<int>> alive_;
  std::array<int, 32> numbers_{};
};

struct gauge {
  std::shared_ptr<std::atomic<int>> alive = std::make_shared<std::atomic<int>>(0);
  std::array<int, 6> at_merge{};
};

task<bool> merge_and_look(replica_context ctx, gauge* look) {
  bool right = true;
  for (int round = 0; round < 6; ++round) {
    const auto make = [look, round] {
      look->at_merge[static_cast<std::size_t>(round)] = *look->alive;
      return counted(look->alive, round);
    };
    const counted made = co_await ctx.merge_call(make);
    right = made.round() == round && right;
  }
  co_return right;
}

TEST_CASE_METHOD(fixture, "what a merge returned is kept until the next one has returned") {
  gauge look;
  CHECK(run(merge_and_look, &look) == per_replica<bool>{true, true, true, true});
  CHECK(look.at_merge == std::array<int, 6>{0, 1, 1, 1, 1, 1});
  CHECK(*look.alive == 0);
}

task<int> await_twice(replica_context ctx) {
  auto merge = ctx.merge_call(sum, 1);
  const int all = co_await merge;
  int code = 0;
  try {
    static_cast<void>(co_await merge);
  } catch (const error& told) {
    code = told.code().value();
  }
  co_return all == ctx.num_replicas_in_sync() ? code : -1;
}

using codes = std::array<int, replicas>;

task<> await_twice_in_vain(replica_context ctx, codes* told) {
  if (ctx.replica_id() == 0) co_return;
  auto merge = ctx.merge_call(sum, 1);
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(co_await merge);
    } catch (const error& thrown) {
      (*told)[static_cast<std::size_t>(ctx.replica_id())] = thrown.code().value();
    }
  }
}

TEST_CASE_METHOD(fixture, "a merge that has been awaited is not awaited again") {
  const int expected = static_cast<int>(errc::empty_task);
  CHECK(run(await_twice) == ints{expected, expected, expected, expected});
  CHECK(block_on(rt, await_twice(replica_context())) == expected);  // Outside of all runs.
  codes told{};
  CHECK(is(thrown_by([&] { run(await_twice_in_vain, &told); }), errc::missing_replica));
  CHECK(told == codes{0, expected, expected, expected});
}

TEST_CASE("rounds follow each other for any number of replicas on any number of lines") {
  for (const std::size_t threads : {1U, 2U, 3U, 4U}) {
    runtime rt{pool_size{threads}};
    for (int n = 1; n < 7; ++n) {
      const mirrored_strategy strategy(rt, n);
      const ints sums = block_on(rt, strategy.run(merge_alike_and_then, 9, n, way::end));
      CHECK(sum(sums) == 10 * n * n);
    }
  }
}

TEST_CASE("a line goes on with a row that is longer than what it takes at once") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  constexpr int many = 1000;
  const mirrored_strategy strategy(rt, many);
  CHECK(sum(block_on(rt, strategy.run(merge_alike_and_then, 3, many, way::end))) ==
        4 * many * many);
}

task<int> merge_one(replica_context ctx) { co_return co_await ctx.merge_call(sum, 1); }
task<> look_at(const runtime* other, std::vector<std::string>* seen) {
  *seen = other->waiting();
  co_return;
}

/// Who goes on runs another runtime, which asks who waits in this one.
task<> look_from_elsewhere(replica_context ctx, const runtime* here,
                           std::vector<std::string>* seen) {
  static_cast<void>(co_await merge_one(ctx));
  if (ctx.replica_id() != 0) co_return;
  asio::io_context io;
  runtime elsewhere{io.get_executor()};
  launch(elsewhere, look_at(here, seen), [](const std::exception_ptr&) {});
  io.run();
}

TEST_CASE("a replica that goes on does not wait, whoever asks") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 3);
  std::vector<std::string> seen;
  block_on(rt, strategy.run(look_from_elsewhere, &rt, &seen));
  CHECK_FALSE(seen.empty());
  for (const std::string& line : seen) CHECK_FALSE(line.starts_with("replica/0"));
}

/// An operation whose beginning runs another runtime, and which ends in its turn.
struct look_and_post {
  const runtime* here;
  std::vector<std::string>* seen;
  asio::io_context* io;
  template <class Handler>
  void operator()(Handler handler) {
    asio::io_context inner;
    runtime elsewhere{inner.get_executor()};
    launch(elsewhere, look_at(here, seen), [](const std::exception_ptr&) {});
    inner.run();
    asio::post(*io, std::move(handler));
  }
};

task<int> merge_and_operate(replica_context ctx, look_and_post* operation) {
  int all = co_await merge_one(ctx);
  if (ctx.replica_id() == 0) {
    co_await asio::async_initiate<const use_task_t&, void()>(std::move(*operation), use_task);
  }
  all += co_await merge_one(ctx);
  co_return all;
}

TEST_CASE("a replica waits while the rest of its await suspends it, whoever asks") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 3);
  std::vector<std::string> seen;
  look_and_post operation{&rt, &seen, &io};
  CHECK(sum(block_on(rt, strategy.run(merge_and_operate, &operation))) == 3 * 2 * 3);
  const auto of_0 = [](const std::string& line) { return line.starts_with("replica/0"); };
  CHECK(std::ranges::any_of(seen, of_0));
}

}  // namespace
}  // namespace troupe::test
