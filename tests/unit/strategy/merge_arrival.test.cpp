// Merges whose arguments are taken as their replicas arrive, on one line and on two: whatever the
// others bring, and whoever is first, everything is as if they had been fetched when all had come.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/on_one_line_or_two.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;

constexpr int replicas = 5;

using fixture = on_one_line_or_two<replicas>;

/// The values as digits, replica 0's first.
int digits(const ints& values) {
  int all = 0;
  for (const int each : values) all = 10 * all + each;
  return all;
}
int digits_backwards(const ints& values) {
  int all = 0;
  for (std::size_t i = values.size(); i > 0; --i) all = 10 * all + values[i - 1];
  return all;
}

task<> nothing() { co_return; }

/// Some steps, the more the lower the id.
task<> be_late(replica_context ctx) {
  for (int i = ctx.replica_id(); i < replicas; ++i) {
    static_cast<void>(co_await when_all(nothing()));
  }
}

task<int> merge_in_reverse(replica_context ctx) {
  co_await be_late(ctx);
  co_return co_await ctx.merge_call(digits, ctx.replica_id() + 1);
}

TEST_CASE_METHOD(fixture, "arguments are in replica order when the last replica arrives first") {
  CHECK(run(merge_in_reverse)[2] == 12345);
}

struct pair_of_columns {
  int operator()(const ints& left, const per_replica<double>& right) const {
    return digits(left) + static_cast<int>(right[replicas - 1]);
  }
};

task<std::array<int, 4>> alternate(replica_context ctx, int rounds) {
  std::array<int, 4> last{};
  const int id = ctx.replica_id();
  const auto count = [](const ints& values) { return static_cast<int>(values.size()); };
  for (int round = 0; round < rounds; ++round) {
    last[0] = co_await ctx.merge_call(digits, id);
    last[1] = co_await ctx.merge_call(digits_backwards, id);
    last[2] = co_await ctx.merge_call(pair_of_columns(), id, 0.5 + id);
    last[3] = co_await ctx.merge_call(count, id);
  }
  co_return last;
}

TEST_CASE_METHOD(fixture, "rounds of different merges follow each other") {
  CHECK(run(alternate, 3)[4] == std::array<int, 4>{1234, 43210, 1238, 5});
}

task<std::string> merge_strings_and_numbers(replica_context ctx) {
  const auto join = [](const per_replica<std::string>& texts, const ints& values) {
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i) all += texts[i] + std::to_string(values[i]);
    return all;
  };
  std::string mine(1, static_cast<char>('a' + ctx.replica_id()));
  const int number = co_await ctx.merge_call(digits, ctx.replica_id());
  co_return co_await ctx.merge_call(join, std::move(mine), number % 10 + ctx.replica_id());
}

TEST_CASE_METHOD(fixture, "arguments that own memory are moved out of the frames") {
  CHECK(run(merge_strings_and_numbers)[0] == "a4b5c6d7e8");
}

/// The place is the same for all, the function is not.
task<int> merge_what_it_is_given(replica_context ctx, int odd_one) {
  auto* const merge = ctx.replica_id() == odd_one ? digits_backwards : digits;
  co_return co_await ctx.merge_call(merge, ctx.replica_id() + 1);
}

TEST_CASE_METHOD(fixture, "whoever brings another function, the run is broken") {
  for (const int odd_one : {0, 2, replicas - 1}) {
    CHECK(is(thrown_by([&] { run(merge_what_it_is_given, odd_one); }), errc::merge_mismatch));
  }
  CHECK(run(merge_what_it_is_given, -1)[0] == 12345);
}

struct loose {
  std::array<float, 4> v;
};
struct alignas(16) aligned_loose {
  std::array<float, 4> v;
};
template <class T>
float sum_of_fourth(const per_replica<T>& values) {
  float sum = 0;
  for (const T& each : values) {
    // Where it is not aligned as its type is, a sanitizer says so, or the processor.
    sum += each.v[3];
  }
  return sum;
}
double weighted_digits(const ints& first, const per_replica<double>& second) {
  return digits(first) + second[4];
}

task<double> merge_what_is_as_large(replica_context ctx) {
  const auto id = static_cast<float>(ctx.replica_id());
  double all = 0;
  for (int round = 0; round < 3; ++round) {
    const loose plain = {{0, 0, 0, id}};
    const aligned_loose aligned = {{0, 0, 0, id}};
    const float of_plain = co_await ctx.merge_call(sum_of_fourth<loose>, plain);
    const float of_aligned = co_await ctx.merge_call(sum_of_fourth<aligned_loose>, aligned);
    const auto count = [](const per_replica<std::array<char, 4>>& fours,
                          const per_replica<std::array<char, 8>>& eights) {
      return static_cast<double>(fours.size() + eights.size());
    };
    const std::array<char, 4> four = {};
    const std::array<char, 8> eight = {};
    const double counted = co_await ctx.merge_call(count, four, eight);
    const double weighted = co_await ctx.merge_call(weighted_digits, ctx.replica_id(), 0.5);
    all += of_plain + of_aligned + counted + weighted;
  }
  co_return all;
}

TEST_CASE("rounds of values of one size and several alignments use the same room") {
  runtime rt{pool_size{5}};  // One replica to a line: there they lie in the intake.
  mirrored_strategy strategy{rt, replicas};
  for (const double all : block_on(rt, strategy.run(merge_what_is_as_large))) {
    CHECK(all == 3 * (10 + 10 + 10 + 1234.5));
  }
}

struct kept_values {
  std::array<ints, 4> rounds;
};

task<> merge_and_keep(replica_context ctx, kept_values* kept) {
  for (std::size_t round = 0; round < kept->rounds.size(); ++round) {
    // Every other function takes the values themselves, the others look at them.
    if (round % 2 == 0) {
      const auto take = [kept, round](ints values) { kept->rounds[round] = std::move(values); };
      co_await ctx.merge_call(take, ctx.replica_id() + static_cast<int>(round));
    } else {
      const auto look = [kept, round](const ints& values) { kept->rounds[round] = values; };
      co_await ctx.merge_call(look, ctx.replica_id() + static_cast<int>(round));
    }
  }
}

TEST_CASE_METHOD(fixture, "values that a merge function keeps are no later round's") {
  kept_values kept;
  run(merge_and_keep, &kept);
  CHECK(kept.rounds[0] == ints{0, 1, 2, 3, 4});
  CHECK(kept.rounds[1] == ints{1, 2, 3, 4, 5});
  CHECK(kept.rounds[2] == ints{2, 3, 4, 5, 6});
  CHECK(kept.rounds[3] == ints{3, 4, 5, 6, 7});
}

task<int> merge_after_a_throw(replica_context ctx) {
  int caught = 0;
  for (int round = 0; round < 3; ++round) {
    const auto refuse_second = [round](const ints& values) {
      if (round == 1) throw std::runtime_error("the second");
      return digits(values);
    };
    try {
      caught += co_await ctx.merge_call(refuse_second, round);
    } catch (const std::runtime_error&) {
      caught += 1000000;
    }
  }
  co_return caught;
}

TEST_CASE_METHOD(fixture, "a merge function that throws leaves the next round its own values") {
  CHECK(run(merge_after_a_throw)[3] == 1000000 + 22222);
}

TEST_CASE_METHOD(fixture, "where only their number counts, replica 0's function is called") {
  const mirrored_strategy lenient(rt, replicas, {.check = merge_check::count});
  const auto got = [&](int odd_one) {
    return block_on(rt, lenient.run(merge_what_it_is_given, odd_one))[1];
  };
  CHECK(got(0) == 54321);
  CHECK(got(3) == 12345);
}

task<int> merge_at_two_places(replica_context ctx) {
  if (ctx.replica_id() == 3) co_return co_await ctx.merge_call(digits, 0);
  co_return co_await ctx.merge_call(digits, 1);
}

TEST_CASE_METHOD(fixture, "whoever stands at another place, the run is broken") {
  CHECK(is(thrown_by([&] { run(merge_at_two_places); }), errc::merge_mismatch));
}

int letters(const per_replica<std::string>& values) { return static_cast<int>(values[0].size()); }

/// A word is not taken on arrival, a number is.
task<int> merge_a_word_or_a_number(replica_context ctx, int odd_one, bool odd_is_word) {
  static_cast<void>(co_await ctx.merge_call(digits, 9));
  std::string word = "seven";
  if ((ctx.replica_id() == odd_one) == odd_is_word) {
    co_return co_await ctx.merge_call(letters, std::move(word));
  }
  co_return co_await ctx.merge_call(digits, 7);
}

TEST_CASE_METHOD(fixture, "who brings what is not taken early never meets those whose is") {
  for (int odd_one = 0; odd_one < replicas; ++odd_one) {
    for (const bool odd_is_word : {true, false}) {
      CHECK(is(thrown_by([&] { run(merge_a_word_or_a_number, odd_one, odd_is_word); }),
               errc::merge_mismatch));
    }
  }
}

task<int> merge_all_but_one(replica_context ctx, int absent) {
  if (ctx.replica_id() == absent) co_return 0;
  co_return co_await ctx.merge_call(digits, ctx.replica_id());
}

TEST_CASE_METHOD(fixture, "what was taken is dropped with its round, and the next run is right") {
  for (const int absent : {0, 2, replicas - 1}) {
    CHECK(is(thrown_by([&] { run(merge_all_but_one, absent); }), errc::missing_replica));
    CHECK(run(merge_in_reverse)[0] == 12345);
  }
}

task<> merge_often_then_leave_one(replica_context ctx, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    static_cast<void>(co_await ctx.merge_call(digits, 1));
  }
  if (ctx.replica_id() == 1) co_return;
  static_cast<void>(co_await ctx.merge_call(digits, 1));
}

TEST_CASE_METHOD(fixture, "a run can be broken after any number of rounds") {
  for (const int rounds : {254, 255, 256, 257, 511, 512}) {
    CHECK(is(thrown_by([&] { run(merge_often_then_leave_one, rounds); }), errc::missing_replica));
  }
}

}  // namespace
}  // namespace troupe::test
