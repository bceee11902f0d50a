// What is few lies in the vector itself, and what is many in recycled memory.

#include "troupe/core/small_vector.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "tests/support/heap_count.hpp"

namespace troupe::test {
namespace {

using detail::small_vector;

struct pair {
  std::uint64_t first;
  std::uint32_t second;
  friend bool operator==(const pair&, const pair&) = default;
};

template <std::size_t room>
void push_numbers(small_vector<std::uint32_t, room>& to, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) to.push_back(i);
}

template <std::size_t room>
bool holds_numbers(const small_vector<std::uint32_t, room>& in, std::uint32_t count) {
  if (in.size() != count || in.empty() != (count == 0)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (in[i] != i) return false;
  }
  return std::equal(in.begin(), in.end(), &in[0]);
}

TEST_CASE("small_vector: as many as it has room for take no memory of the heap", "[unit]") {
  small_vector<std::uint32_t, 16> values;
  CHECK(heap_calls_of([&] { push_numbers(values, 16); }) == 0);
  CHECK(values.capacity() == 16);
  CHECK(holds_numbers(values, 16));
}

TEST_CASE("small_vector: more of them keep their values and their order", "[unit]") {
  for (const std::uint32_t count : {0u, 1u, 4u, 5u, 8u, 9u, 1'000u}) {
    small_vector<std::uint32_t, 4> values;
    push_numbers(values, count);
    INFO(count << " values");
    CHECK(holds_numbers(values, count));
    CHECK(values.capacity() >= count);
  }
}

TEST_CASE("small_vector: what was cleared has its room still", "[unit]") {
  small_vector<std::uint32_t, 4> values;
  push_numbers(values, 100);
  const std::size_t room = values.capacity();
  values.clear();
  CHECK(values.empty());
  CHECK(heap_calls_of([&] { push_numbers(values, 100); }) == 0);
  CHECK(values.capacity() == room);
  CHECK(holds_numbers(values, 100));
}

TEST_CASE("small_vector: one of its own values can be added to it while it grows", "[unit]") {
  small_vector<pair, 2> values;
  values.push_back({1, 2});
  values.push_back({3, 4});
  for (int i = 0; i < 30; ++i) values.push_back(values[0]);
  CHECK(values.size() == 32);
  CHECK(values[1] == pair{3, 4});
  CHECK(std::count(values.begin(), values.end(), pair{1, 2}) == 31);
}

TEST_CASE("small_vector: what lies behind an erased value moves up", "[unit]") {
  for (const std::uint32_t count : {4u, 20u}) {
    for (std::uint32_t erased = 0; erased < count; ++erased) {
      small_vector<std::uint32_t, 4> values;
      push_numbers(values, count);
      values.erase(erased);
      REQUIRE(values.size() == count - 1);
      CHECK(std::is_sorted(values.begin(), values.end()));
      CHECK(std::find(values.begin(), values.end(), erased) == values.end());
    }
  }
}

TEST_CASE("small_vector: the last value goes first", "[unit]") {
  small_vector<std::uint32_t, 2> values;
  push_numbers(values, 5);
  CHECK(values.back() == 4);
  values.pop_back();
  CHECK(values.back() == 3);
  CHECK(holds_numbers(values, 4));
}

TEST_CASE("small_vector: room that does not exist is refused, and nothing has changed", "[unit]") {
  small_vector<std::uint32_t, 2> values;
  push_numbers(values, 5);
  const std::size_t room = values.capacity();
  CHECK_THROWS_AS(values.reserve(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
  CHECK(values.capacity() == room);
  CHECK(holds_numbers(values, 5));
}

TEST_CASE("small_vector: what was reserved is there", "[unit]") {
  small_vector<std::uint32_t, 2> values;
  values.reserve(1);
  CHECK(values.capacity() == 2);
  values.reserve(50);
  CHECK(heap_calls_of([&] { push_numbers(values, 50); }) == 0);
  CHECK(holds_numbers(values, 50));
}

}  // namespace
}  // namespace troupe::test
