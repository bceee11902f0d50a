// Every kind of structure but tuples: what it regroups to, what comes back, what is refused.

#include <array>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {

using text = std::string;
using texts = per_replica<text>;

struct metrics {
  float loss = 0;
  std::vector<text> notes;

  friend bool operator==(const metrics&, const metrics&) = default;
};

struct nobody_described {
  std::vector<text> notes;

  friend bool operator==(const nobody_described&, const nobody_described&) = default;
};

struct batch {
  per_replica<int> part;
  text name;
};

}  // namespace troupe::test

template <>
struct troupe::described<troupe::test::metrics> {
  using metrics = test::metrics;
  static constexpr auto members = std::tuple(&metrics::loss, &metrics::notes);
};
template <>
struct troupe::described<troupe::test::batch> {
  static constexpr auto members = std::tuple(&test::batch::part, &test::batch::name);
};

namespace troupe::test {
namespace {

template <class T>
inline constexpr bool is_leaf = std::is_same_v<regrouped_t<T>, per_replica<T>>;

static_assert(is_leaf<int> && is_leaf<text> && is_leaf<nobody_described>);
static_assert(is_leaf<std::vector<float>> && is_leaf<std::array<int, 2>>);
static_assert(is_leaf<std::vector<bool>> && is_leaf<std::vector<std::byte>>);
static_assert(is_leaf<tensor<int>> && is_leaf<weighted<float>>);
static_assert(is_leaf<std::optional<text>> && is_leaf<std::optional<std::tuple<int>>>);

static_assert(std::is_same_v<regrouped_t<std::vector<text>>, std::vector<texts>>);
static_assert(std::is_same_v<regrouped_t<std::array<text, 2>>, std::array<texts, 2>>);
static_assert(std::is_same_v<regrouped_t<std::map<int, text>>, std::map<int, texts>>);
static_assert(std::is_same_v<regrouped_t<std::unordered_map<text, int>>,
                             std::unordered_map<text, per_replica<int>>>);
static_assert(std::is_same_v<regrouped_t<std::vector<std::vector<int>>>,
                             std::vector<per_replica<std::vector<int>>>>);
static_assert(std::is_same_v<regrouped_t<metrics>, fields<metrics>>);
static_assert(std::is_same_v<selected_t<fields<metrics>>, metrics>);
static_assert(std::is_same_v<selected_t<metrics>, metrics>);
static_assert(std::is_same_v<selected_t<std::vector<texts>>, std::vector<text>>);
static_assert(std::is_same_v<selected_t<std::map<int, mirrored<text>>>, std::map<int, text>>);
using halves = fields<metrics, std::tuple<mirrored<double>, std::vector<texts>>>;
static_assert(
    std::is_same_v<selected_t<halves>, fields<metrics, std::tuple<double, std::vector<text>>>>);

// -- regrouped ------------------------------------------------------------------------------------

TEST_CASE("vectors and arrays are regrouped element by element") {
  using row = std::vector<text>;
  const auto rows = regroup(per_replica<row>({row({"a1", "b1"}), row({"a2", "b2"})}));
  CHECK(rows == std::vector<texts>({{"a1", "a2"}, {"b1", "b2"}}));
  using two = std::array<text, 2>;
  const auto twos = regroup(per_replica<two>({two{"a1", "b1"}, two{"a2", "b2"}}));
  CHECK(twos[1] == texts({"b1", "b2"}));
  CHECK(regroup(per_replica<row>({row(), row()})).empty());
  CHECK(regroup(per_replica<std::array<text, 0>>({{}, {}})).empty());
}

TEST_CASE("maps are regrouped value by value, with the keys of all") {
  using row = std::map<text, int>;
  const auto rows = regroup(per_replica<row>({row({{"a", 1}, {"b", 2}}), {{"b", 4}, {"a", 3}}}));
  CHECK(rows.at("a") == per_replica<int>({1, 3}));
  CHECK(rows.at("b") == per_replica<int>({2, 4}));
  using unordered = std::unordered_map<int, text>;
  const auto others =
      regroup(per_replica<unordered>({{{1, "a1"}, {2, "b1"}}, {{2, "b2"}, {1, ""}}}));
  CHECK(others.at(2) == texts({"b1", "b2"}));
}

TEST_CASE("a map keeps the order of its keys") {
  using falling = std::map<int, text, std::greater<>>;
  const auto whole = regroup(per_replica<falling>({falling({{1, "a"}, {2, "b"}})}));
  CHECK(whole.begin()->first == 2);
}

TEST_CASE("a described struct is regrouped member by member, and selected as a struct") {
  const std::vector<metrics> rows = {{0.5f, {"x1", "y1"}}, {0.25f, {"x2", "y2"}}};
  const fields<metrics> whole = regroup(per_replica<metrics>(rows.begin(), rows.end()));
  CHECK(whole.get<&metrics::loss>() == per_replica<float>({0.5f, 0.25f}));
  CHECK(whole.get<&metrics::notes>()[1] == texts({"y1", "y2"}));
  CHECK(select_replica(1, whole) == rows[1]);
}

TEST_CASE("a described struct with a per_replica in it is selected with the replica's component") {
  const batch both{{1, 2}, "b"};
  const auto second = select_replica(1, both);
  CHECK(second.get<&batch::part>() == 2);
  CHECK(second.get<&batch::name>() == "b");
}

TEST_CASE("what replicas may lack is kept as an optional of each") {
  using row = std::vector<std::optional<text>>;
  const auto whole = regroup(per_replica<row>({row({"a", std::nullopt}), row({{}, "b"})}));
  CHECK(whole[1] == per_replica<std::optional<text>>({std::nullopt, "b"}));
}

TEST_CASE("structure that can only be moved is regrouped and taken, too") {
  using row = std::map<int, std::vector<std::unique_ptr<int>>>;
  per_replica<row> rows;
  rows.reserve(2);
  for (int i = 0; i < 2; ++i) rows.append()[0].push_back(std::make_unique<int>(i));
  auto whole = regroup(std::move(rows));
  auto second = structure<decltype(whole)>::take(1, whole);
  CHECK(*second[0][0] == 1);
  CHECK(whole[0][0][0] != nullptr);
}

TEST_CASE("structure with nothing of a single replica in it is handed on without a copy") {
  const std::vector<text> plain = {"a", "b"};
  CHECK(&select_replica(1, plain) == &plain);
  const std::map<int, metrics> deep;
  CHECK(&select_replica(1, deep) == &deep);
}

// -- refused --------------------------------------------------------------------------------------

/// What regroup() says of the values, less what it always says.
template <class T>
text refusal(std::vector<T> rows) {
  const auto thrown =
      as<error>(thrown_by([&] { regroup(per_replica<T>(rows.begin(), rows.end())); }));
  if (!thrown || thrown->code() != errc::structure_mismatch) return "none";
  const text& what = thrown->facts().what;
  return what.substr(what.find(": ") + 2);
}

TEST_CASE("checked: vectors of different length name the first replica that differs") {
  using row = std::vector<text>;
  CHECK(refusal<row>({row(3), row(3), row(2)}) == "replica 2 has 2 elements, replica 0 has 3");
  CHECK(refusal<row>({row(), row(1)}) == "replica 1 has 1 element, replica 0 has 0");
  CHECK(refusal<row>({row(1), row(1)}) == "none");
}

TEST_CASE("checked: maps of different keys name the first replica that differs, and a key") {
  using row = std::map<text, int>;
  CHECK(refusal<row>({{{"a", 1}, {"b", 1}}, {{"a", 1}}}) == "replica 1 has no key \"b\"");
  CHECK(refusal<row>({{{"a", 1}}, {{"b", 1}}}) == "replica 1 has no key \"a\"");
  CHECK(refusal<row>({{{"a", 1}}, {{"a", 1}, {"b", 1}}}) ==
        "replica 1 has the key \"b\", replica 0 has not");
  using numbered = std::unordered_map<int, text>;
  CHECK(refusal<numbered>({{{7, ""}}, {}}) == "replica 1 has no key 7");
  using odd = std::map<std::pair<int, int>, int>;
  CHECK(refusal<odd>({{{{1, 2}, 3}}, {}}) == "replica 1 has not all keys that replica 0 has");
}

TEST_CASE("checked: structure that differs is found at any depth") {
  using nest = std::tuple<int, std::map<int, std::vector<text>>>;
  CHECK(refusal<nest>({{1, {{5, {"a"}}}}, {1, {{5, {"a", "b"}}}}}) ==
        "replica 1 has 2 elements, replica 0 has 1");
  CHECK(refusal<metrics>({{0, {"x"}}, {0, {}}}) == "replica 1 has 0 elements, replica 0 has 1");
}

// -- in runs and merges ---------------------------------------------------------------------------

struct on_an_io_context {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};

  template <class... A>
  auto run(A... arguments) {
    return block_on(rt, strategy.run(std::move(arguments)...));
  }
};

text show(const metrics& mine) {
  return std::to_string(mine.notes.size()) + " " + mine.notes.at(0);
}

TEST_CASE_METHOD(on_an_io_context, "what a run returned is the next one's argument, as it was") {
  const auto both = run([](replica_context ctx) {
    return metrics{1.0f, {text(static_cast<std::size_t>(ctx.replica_id()), 'x')}};
  });
  CHECK(run(show, both) == texts({"1 ", "1 x"}));
}

task<text> merge_metrics(replica_context ctx) {
  const metrics mine{1.0f, {text(1, static_cast<char>('a' + ctx.replica_id()))}};
  const auto whole = co_await ctx.merge_call([](fields<metrics> all) { return all; }, mine);
  co_return whole.notes.at(0);
}

TEST_CASE_METHOD(on_an_io_context, "a merge is given fields, and returns each replica its struct") {
  CHECK(run(merge_metrics) == texts({"a", "b"}));
}

std::vector<text> as_many_as_id(replica_context ctx) {
  return std::vector<text>(static_cast<std::size_t>(ctx.replica_id()), "x");
}

TEST_CASE_METHOD(on_an_io_context, "a run whose results differ in structure throws it") {
  CHECK(is(thrown_by([&] { run(as_many_as_id); }), errc::structure_mismatch));
  CHECK(run([](replica_context ctx) { return ctx.replica_id(); }) == per_replica<int>({0, 1}));
}

task<text> merge_as_many_as_id(replica_context ctx) {
  text told = "nothing";
  try {
    const auto ignore = [](const std::vector<texts>&) {};
    co_await ctx.merge_call(ignore, as_many_as_id(ctx));
  } catch (const error& e) {
    told = tag_of(static_cast<errc>(e.code().value()));
  }
  const int sum = co_await ctx.all_reduce(reduce_op::sum, 1);
  co_return told + ", then " + std::to_string(sum);
}

TEST_CASE_METHOD(on_an_io_context, "a merge whose arguments differ throws it on every replica") {
  CHECK(run(merge_as_many_as_id) == texts({"TR-305, then 2", "TR-305, then 2"}));
}

TEST_CASE_METHOD(on_an_io_context,
                 "values made for replicas that differ in structure are refused") {
  CHECK(is(thrown_by([&] {
             strategy.experimental_distribute_values_from_function([](value_context ctx) {
               return std::vector<text>(static_cast<std::size_t>(ctx.replica_id));
             });
           }),
           errc::structure_mismatch));
}

task<std::vector<text>> gather_texts(replica_context ctx) {
  co_return co_await ctx.all_gather(as_many_as_id(ctx));
}

TEST_CASE_METHOD(on_an_io_context, "a vector is gathered as a whole, whatever its length") {
  CHECK(run(gather_texts) == std::vector<texts>({{"x", "x"}}));
}

}  // namespace
}  // namespace troupe::test
