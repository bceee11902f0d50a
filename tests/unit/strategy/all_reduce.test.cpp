#include <array>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace other {

/// A leaf of somebody else's, whose sum is declared after everything of troupe's.
struct name_list {
  std::string names;

  friend bool operator==(const name_list&, const name_list&) = default;
};

inline name_list reduce(troupe::sum_op, const troupe::per_replica<name_list>& values) {
  name_list all;
  for (const name_list& each : values) all.names += each.names;
  return all;
}

}  // namespace other

namespace troupe::test {

struct metrics {
  float loss = 0;
  int hits = 0;

  friend bool operator==(const metrics&, const metrics&) = default;
};

}  // namespace troupe::test

template <>
struct troupe::described<troupe::test::metrics> {
  using metrics = test::metrics;
  static constexpr auto members = std::tuple(&metrics::loss, &metrics::hits);
};

namespace troupe::test {
namespace {

template <class Op, class T>
inline constexpr bool is_reducible = detail::all_reducible<Op, regrouped_t<T>>;

static_assert(is_reducible<sum_op, int> && is_reducible<mean_op, tensor<float>>);
static_assert(is_reducible<mean_op, std::map<int, std::vector<weighted<float>>>>);
static_assert(is_reducible<sum_op, std::tuple<std::array<metrics, 2>, std::pair<int, double>>>);
static_assert(is_reducible<sum_op, std::vector<other::name_list>>);
static_assert(!is_reducible<mean_op, other::name_list>);
static_assert(!is_reducible<sum_op, std::string> && !is_reducible<sum_op, std::tuple<int, bool>>);
static_assert(!is_reducible<sum_op, std::vector<std::string>>);
static_assert(is_reducible<max_op, std::vector<int>> && is_reducible<product_op, float>);
static_assert(!is_reducible<min_op, weighted<float>>);

// A reduction of numbers is no coroutine, neither alone nor in a structure.
template <class Regrouped>
using made_of = std::invoke_result_t<detail::reducer<mean_op>&, Regrouped>;
static_assert(std::is_same_v<made_of<per_replica<float>>, mirrored<float>>);
static_assert(std::is_same_v<made_of<per_replica<int>>, mirrored<double>>);
static_assert(std::is_same_v<made_of<per_replica<std::vector<float>>>,
                             task<per_replica<std::vector<float>>>>);
static_assert(
    std::is_same_v<made_of<per_replica<std::vector<int>>>, task<mirrored<std::vector<double>>>>);
static_assert(
    std::is_same_v<made_of<std::map<int, per_replica<int>>>, std::map<int, mirrored<double>>>);

// -- in a run -------------------------------------------------------------------------------------

template <class Op, class T>
using reduced_by = typename decltype(std::declval<replica_context>().all_reduce(
    Op(), std::declval<T>()))::value_type;

template <class Op, class T>
task<reduced_by<Op, T>> bring(replica_context ctx, T mine) {
  co_return co_await ctx.all_reduce(Op(), std::move(mine));
}

/// What all_reduce() gives the last replica, after a look at what the others got.
template <class Op, class T>
reduced_by<Op, T> reduce_on_all(Op, std::vector<T> values) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, static_cast<int>(values.size()));
  const per_replica<T> all(values.begin(), values.end());
  const auto results = block_on(rt, strategy.run(bring<Op, T>, all));
  reduced_by<Op, T> last = select_replica(values.size() - 1, results);
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(select_replica(i, results) == last);
  return last;
}

TEST_CASE("whole: vectors of tensors are reduced one by one, in their order") {
  using row = std::vector<tensor<int>>;
  const tensor<int> one({2}, 1), tens({1, 1}, 10);
  CHECK(reduce_on_all(reduce_op::sum, std::vector<row>(3, row({one, tens}))) ==
        row({tensor<int>({2}, 3), tensor<int>({1, 1}, 30)}));
}

TEST_CASE("whole: maps are reduced key by key") {
  using row = std::map<std::string, std::vector<int>>;
  const std::vector<row> both = {{{"a", {1}}, {"b", {40, 1}}}, {{"a", {3}}, {"b", {2, 98}}}};
  CHECK(reduce_on_all(reduce_op::sum, both) == row({{"a", {4}}, {"b", {42, 99}}}));
  using means = std::map<std::string, std::vector<double>>;
  CHECK(reduce_on_all(reduce_op::mean, both) == means({{"a", {2}}, {"b", {21, 49.5}}}));
  using unordered = std::unordered_map<int, float>;
  CHECK(reduce_on_all(reduce_op::sum, std::vector<unordered>(2, {{1, 2}, {3, 4}})) ==
        unordered({{1, 4}, {3, 8}}));
}

TEST_CASE("whole: the sum of a described struct is one, its mean has the means of its members") {
  const std::vector<metrics> both = {{0.5f, 1}, {1.5f, 2}};
  CHECK(reduce_on_all(reduce_op::sum, both) == metrics{2.0f, 3});
  const auto mean = reduce_on_all(reduce_op::mean, both);
  CHECK(mean.get<&metrics::loss>() == 1.0f);
  CHECK(mean.get<&metrics::hits>() == 1.5);
}

TEST_CASE("whole: a nest of every kind of structure is reduced leaf by leaf") {
  using nest = std::tuple<std::array<metrics, 2>, std::pair<int, std::map<int, metrics>>,
                          std::vector<std::tuple<weighted<double>, std::vector<float>>>>;
  const nest one({metrics{1, 2}, metrics{3, 4}}, {5, {{6, metrics{7, 8}}}},
                 {{weighted<double>{9, 1}, {10, 11}}});
  const nest three({metrics{3, 6}, metrics{9, 12}}, {15, {{6, metrics{21, 24}}}},
                   {{weighted<double>{27, 3}, {30, 33}}});
  CHECK(reduce_on_all(reduce_op::sum, std::vector<nest>(3, one)) == three);
}

TEST_CASE("a leaf's own reduction is found by its name, also by strategy.reduce()") {
  using list = other::name_list;
  using row = std::pair<int, list>;
  CHECK(reduce_on_all(reduce_op::sum, std::vector<row>({{1, {"a"}}, {2, {"b"}}})) ==
        row(3, {"ab"}));
  CHECK(reduce_on_all(reduce_op::sum, std::vector<list>({{"a"}, {"b"}})) == list{"ab"});
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy two(rt, 2);
  CHECK(two.reduce(reduce_op::sum, per_replica<list>({{"a"}, {"b"}})) == list{"ab"});
}

TEST_CASE("what is given away is reduced in the first replica's memory, small and large") {
  runtime rt{pool_size{2}};
  for (const std::size_t length : {10u, 1'000'000u}) {
    per_replica<tensor<float>> values = {tensor<float>({length}, 1), tensor<float>({length}, 2)};
    const float* const first = values[0].data();
    const mirrored<tensor<float>> sum = block_on(
        rt, detail::reduce_nest<detail::receiver::caller>(reduce_op::sum, std::move(values)));
    CHECK(sum.get().data() == first);
    CHECK(sum.get() == tensor<float>({length}, 3));
  }
}

TEST_CASE("what belongs to somebody else is left as it is") {
  runtime rt{pool_size{2}};
  std::vector<float> first(100'000, 1), second(100'000, 2);
  const per_replica<std::span<float>> values = {std::span(first), std::span(second)};
  CHECK(block_on(rt, detail::reduce_nest<detail::receiver::caller>(reduce_op::sum, values)).get() ==
        std::vector<float>(100'000, 3));
  CHECK(first == std::vector<float>(100'000, 1));
}

TEST_CASE("minima, maxima and products are reduced leaf by leaf, too") {
  const std::vector<metrics> both = {{0.5f, 3}, {1.5f, 2}};
  CHECK(reduce_on_all(reduce_op::min, both) == metrics{0.5f, 2});
  CHECK(reduce_on_all(reduce_op::max, both) == metrics{1.5f, 3});
  CHECK(reduce_on_all(reduce_op::product, both) == metrics{0.75f, 6});
  const std::vector<float> small(100'000, -1.0f), large(100'000, 1e8f);
  CHECK(reduce_on_all(reduce_op::max, std::vector({small, large})) == large);
}

TEST_CASE("exact: a large tensor inside a structure has the bits of one outside") {
  const std::vector<float> first(100'000, 0.1f), second(100'000, 1e8f);
  using row = std::vector<std::vector<float>>;
  const auto outside = reduce_on_all(reduce_op::mean, std::vector({first, second}));
  const auto inside = reduce_on_all(reduce_op::mean, std::vector<row>({{first}, {second}}));
  CHECK(inside == row({outside}));
}

template <class T>
task<std::string> bring_what_differs(replica_context ctx, T mine) {
  std::string told = "nothing";
  try {
    co_await ctx.all_reduce(reduce_op::sum, std::move(mine));
  } catch (const error& e) {
    told = tag_of(static_cast<errc>(e.code().value()));
  }
  co_return told;
}

TEST_CASE("what differs in structure or in shape is an error on every replica") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 2);
  using row = std::map<int, std::vector<int>>;
  const per_replica<row> keys = {row({{1, {1}}}), row({{2, {1}}})};
  CHECK(block_on(rt, strategy.run(bring_what_differs<row>, keys)) ==
        per_replica<std::string>({"TR-305", "TR-305"}));
  const per_replica<row> shapes = {row({{1, {1}}}), row({{1, {1, 2}}})};
  CHECK(block_on(rt, strategy.run(bring_what_differs<row>, shapes)) ==
        per_replica<std::string>({"TR-302", "TR-302"}));
}

}  // namespace
}  // namespace troupe::test
