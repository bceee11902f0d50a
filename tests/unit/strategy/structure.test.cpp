#include "troupe/strategy/structure.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace troupe::test {
namespace {

using text = std::string;

// -- typed ----------------------------------------------------------------------------------------

static_assert(std::is_same_v<regrouped_t<int>, per_replica<int>>);
static_assert(std::is_same_v<regrouped_t<std::vector<int>>, per_replica<std::vector<int>>>);
static_assert(std::is_same_v<regrouped_t<std::tuple<int, text>>,
                             std::tuple<per_replica<int>, per_replica<text>>>);
static_assert(
    std::is_same_v<regrouped_t<std::pair<int, std::tuple<text, float>>>,
                   std::pair<per_replica<int>, std::tuple<per_replica<text>, per_replica<float>>>>);
static_assert(std::is_same_v<regrouped_t<std::tuple<>>, std::tuple<>>);
static_assert(std::is_same_v<regrouped_t<per_replica<int>>, per_replica<per_replica<int>>>);
static_assert(std::is_same_v<selected_t<per_replica<int>>, int>);
static_assert(std::is_same_v<selected_t<mirrored<int>>, int>);
static_assert(std::is_same_v<selected_t<std::pair<per_replica<int>, text>>, std::pair<int, text>>);

// -- inverse --------------------------------------------------------------------------------------

template <class T>
per_replica<T> columns(std::vector<T> rows) {
  return per_replica<T>(rows.begin(), rows.end());
}

/// select(i, regroup(values)) is values[i].
template <class T>
bool comes_back(const std::vector<T>& rows) {
  const auto whole = regroup(columns(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (select_replica(i, whole) != rows[i]) return false;
  }
  return true;
}

TEST_CASE("inverse: numbers come back") { CHECK(comes_back<int>({4, 5, 6})); }

TEST_CASE("inverse: strings are leaves and come back whole") {
  CHECK(comes_back<text>({"a", "bc", ""}));
}

TEST_CASE("inverse: vectors of numbers may differ in length, are leaves and come back whole") {
  CHECK(comes_back<std::vector<int>>({{1}, {2, 3}, {}}));
}

TEST_CASE("inverse: tuples come back") {
  CHECK(comes_back<std::tuple<int, text>>({{1, "a"}, {2, "b"}, {3, "c"}}));
}

TEST_CASE("inverse: pairs come back") {
  CHECK(comes_back<std::pair<int, text>>({{1, "a"}, {2, "b"}}));
}

TEST_CASE("core-041 nested structure comes back") {
  using nest = std::tuple<text, std::pair<text, std::map<text, int>>, std::vector<text>>;
  CHECK(comes_back<nest>({nest("a1", {"b1", {{"c", 1}}}, {"g1", "h1"}),
                          nest("a2", {"b2", {{"c", 2}}}, {"g2", "h2"})}));
}

TEST_CASE("inverse: values of a single replica come back") {
  CHECK(comes_back<std::tuple<int, text>>({{1, "a"}}));
}

TEST_CASE("inverse: empty tuples come back") { CHECK(comes_back<std::tuple<>>({{}, {}})); }

// -- regroup --------------------------------------------------------------------------------------

TEST_CASE("core-040 leaves of a nest are grouped leaf by leaf") {
  using nest = std::tuple<text, std::pair<int, std::map<text, text>>>;
  const auto whole =
      regroup(columns<nest>({nest("a1", {1, {{"c", "c1"}}}), nest("a2", {2, {{"c", "c2"}}})}));
  CHECK(std::get<0>(whole) == per_replica<text>({"a1", "a2"}));
  CHECK(std::get<1>(whole).first == per_replica<int>({1, 2}));
  CHECK(std::get<1>(whole).second.at("c") == per_replica<text>({"c1", "c2"}));
}

TEST_CASE("core-044 a tuple of each replica becomes a tuple of what the replicas gave") {
  using row = std::tuple<text, text>;
  const auto whole = regroup(columns<row>({row("1", "2"), row("3", "4")}));
  CHECK(std::get<0>(whole) == per_replica<text>({"1", "3"}));
  CHECK(std::get<1>(whole) == per_replica<text>({"2", "4"}));
}

TEST_CASE("equal values of all replicas stay one for each") {
  CHECK(regroup(columns<int>({7, 7})) == per_replica<int>({7, 7}));
}

TEST_CASE("values that can only be moved are regrouped, too") {
  using row = std::tuple<std::unique_ptr<int>, int>;
  per_replica<row> rows;
  rows.reserve(2);
  for (int i = 0; i < 2; ++i) rows.append(std::make_unique<int>(i), 10 * i);
  const auto whole = regroup(std::move(rows));
  CHECK(*std::get<0>(whole)[1] == 1);
  CHECK(std::get<1>(whole) == per_replica<int>({0, 10}));
}

// -- select ---------------------------------------------------------------------------------------

TEST_CASE("a plain value goes to every replica") {
  CHECK(select_replica(0, 5) == 5);
  CHECK(select_replica(7, text("same")) == "same");
}

TEST_CASE("a mirrored value goes to every replica") {
  CHECK(select_replica(0, mirrored<int>(5)) == 5);
  CHECK(select_replica(1, mirrored<int>(5)) == 5);
}

TEST_CASE("core-068 a nest with a per_replica inside is taken apart leaf by leaf") {
  const std::pair<per_replica<int>, int> nest({1, 2}, 7);
  CHECK(select_replica(0, nest) == std::pair(1, 7));
  CHECK(select_replica(1, nest) == std::pair(2, 7));
}

TEST_CASE("a per_replica inside a per_replica is taken off one layer") {
  const per_replica<per_replica<int>> nest = {per_replica<int>({1, 2}), per_replica<int>({3, 4})};
  CHECK(select_replica(1, nest) == per_replica<int>({3, 4}));
}

TEST_CASE("taking a replica's component moves it out") {
  per_replica<std::unique_ptr<int>> values;
  values.reserve(2);
  values.append(std::make_unique<int>(1));
  values.append(std::make_unique<int>(2));
  const std::unique_ptr<int> mine = structure<per_replica<std::unique_ptr<int>>>::take(1, values);
  CHECK(*mine == 2);
  CHECK(values[0] != nullptr);
  CHECK(values[1] == nullptr);
}

}  // namespace
}  // namespace troupe::test
