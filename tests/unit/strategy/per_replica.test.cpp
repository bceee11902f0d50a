#include "troupe/strategy/values/per_replica.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <ranges>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/census.hpp"

namespace troupe::test {
namespace {

static_assert(std::ranges::contiguous_range<per_replica<int>>);
static_assert(std::ranges::contiguous_range<per_replica<bool>>);
static_assert(std::ranges::sized_range<const per_replica<int>>);
static_assert(std::is_nothrow_move_constructible_v<per_replica<std::string>>);
template <class T>
inline constexpr bool is_shown = requires(std::ostream& out, const T& value) { out << value; };
struct unknown {};
static_assert(is_shown<per_replica<int>> && !is_shown<per_replica<unknown>>);

static_assert(is_per_replica<per_replica<int>> && !is_per_replica<std::vector<int>>);

TEST_CASE("a per_replica has one value for each replica, in replica order") {
  const per_replica<int> values = {3, 1, 2};
  CHECK(values.size() == 3);
  CHECK(values[0] == 3);
  CHECK(values[2] == 2);
}

TEST_CASE("a per_replica is indexed by any integer type") {
  const per_replica<int> values = {3, 1, 2};
  CHECK(values[1] == values[std::size_t{1}]);
  CHECK(values[1] == values[std::uint8_t{1}]);
}

TEST_CASE("a default per_replica is empty") {
  CHECK(per_replica<int>().empty());
  CHECK_FALSE(per_replica<int>({1}).empty());
}

TEST_CASE("contiguous: values lie one after the other, bools included") {
  per_replica<bool> values = {true, false, true};
  bool* const first = values.data();
  CHECK(&values[2] == first + 2);
}

TEST_CASE("a per_replica is made of any forward range") {
  const std::vector<int> source = {1, 2, 3};
  const per_replica<int> values(source.begin(), source.end());
  CHECK(std::ranges::equal(values, source));
}

TEST_CASE("a per_replica can be iterated and changed") {
  per_replica<int> values = {1, 2, 3};
  for (int& v : values) v *= 2;
  CHECK(std::accumulate(values.begin(), values.end(), 0) == 12);
}

TEST_CASE("per_replicas are equal when all their values are") {
  CHECK(per_replica<int>({1, 2}) == per_replica<int>({1, 2}));
  CHECK(per_replica<int>({1, 2}) != per_replica<int>({2, 1}));
  CHECK(per_replica<int>({1, 2}) != per_replica<int>({1, 2, 3}));
}

TEST_CASE("a copy is equal and independent") {
  const per_replica<std::string> source = {"a", "b"};
  per_replica<std::string> copy = source;
  copy[0] = "changed";
  CHECK(source[0] == "a");
  CHECK(copy[1] == "b");
}

TEST_CASE("a moved-from per_replica is empty") {
  per_replica<int> source = {1, 2};
  const per_replica<int> target = std::move(source);
  CHECK(target.size() == 2);
  CHECK(source.empty());  // NOLINT(bugprone-use-after-move): what is left is defined.
}

TEST_CASE("assignment replaces the values") {
  per_replica<std::string> values = {"a", "b", "c"};
  values = per_replica<std::string>({"x"});
  CHECK(values == per_replica<std::string>({"x"}));
}

TEST_CASE("a per_replica may be assigned to itself") {
  per_replica<std::string> values = {"a", "b"};
  const auto& same = values;
  values = same;
  CHECK(values == per_replica<std::string>({"a", "b"}));
}

TEST_CASE("values may be ones that can only be moved") {
  per_replica<std::unique_ptr<int>> values;
  values.reserve(2);
  values.append(std::make_unique<int>(1));
  values.append(std::make_unique<int>(2));
  const auto moved = std::move(values);
  CHECK(*moved[1] == 2);
}

TEST_CASE("values need no default constructor") {
  struct number {
    explicit number(int v) : value(v) {}
    int value;
  };
  per_replica<number> values;
  values.reserve(1);
  CHECK(values.append(7).value == 7);
}

TEST_CASE("append() constructs in place, in replica order") {
  per_replica<std::string> values;
  values.reserve(2);
  values.append(3u, 'x');
  values.append("y");
  CHECK(values == per_replica<std::string>({"xxx", "y"}));
}

TEST_CASE("every value is destroyed once") {
  census guests;
  {
    per_replica<guest> values;
    values.reserve(3);
    for (int i = 0; i < 3; ++i) values.append(guests);
    const auto moved = std::move(values);
  }
  CHECK(guests.entered == 3);
  CHECK(guests.left == 3);
}

TEST_CASE("values may be aligned more strictly than the heap's blocks") {
  struct alignas(64) wide {
    int value = 0;
  };
  const per_replica<wide> values = {wide(), wide()};
  CHECK(reinterpret_cast<std::uintptr_t>(values.data()) % 64 == 0);
}

TEST_CASE("a stream shows the values in replica order, also of structures of them") {
  std::ostringstream text;
  text << per_replica<int>({10, 11}) << per_replica<int>() << per_replica<std::string>({"a"});
  text << per_replica<per_replica<int>>({per_replica<int>({1, 2}), per_replica<int>({3})});
  CHECK(text.str() == "[10, 11][][a][[1, 2], [3]]");
}

TEST_CASE("swap() exchanges all values") {
  per_replica<int> a = {1, 2}, b = {3};
  a.swap(b);
  CHECK(a == per_replica<int>({3}));
  CHECK(b == per_replica<int>({1, 2}));
}

}  // namespace
}  // namespace troupe::test
