// Operations of the user's own: on texts and structs whole, on tensors element by element.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

/// Not commutative: it shows the order.
struct joined : own_reduction {
  static constexpr const char* name = "joined";
  std::string operator()(std::string a, const std::string& b) const { return std::move(a) + b; }
};

struct extent {
  int least = 0;
  int greatest = 0;

  friend bool operator==(const extent&, const extent&) = default;
};
struct both_extents : own_reduction {
  static constexpr const char* name = "both_extents";
  extent operator()(extent a, extent b) const {
    return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
  }
};

struct common_divisor : own_reduction {
  static constexpr const char* name = "common_divisor";
  int operator()(int a, int b) const {
    if (b < 0) throw std::domain_error("below zero");
    return std::gcd(a, b);
  }
};

struct nearest_to : own_reduction {
  static constexpr const char* name = "nearest_to";
  double wanted = 0;

  explicit nearest_to(double value) : wanted(value) {}
  double operator()(double a, double b) const {
    return std::abs(b - wanted) < std::abs(a - wanted) ? b : a;
  }
  friend bool operator==(const nearest_to&, const nearest_to&) = default;
};

struct nameless : own_reduction {
  int operator()(int a, int) const { return a; }
};

static_assert(reduction<joined> && reduction<nearest_to> && !reduction<nameless>);
static_assert(!reduction<no_aggregation> && !reduction<first_op>);
static_assert(detail::has_reduction<joined, std::string> && !detail::has_reduction<joined, int>);
static_assert(detail::has_reduction<common_divisor, tensor<int>>);
static_assert(!aggregates<joined, std::string>);
static_assert(joined() == joined());

TEST_CASE("an operation of one's own makes one value of all, in replica order") {
  CHECK(reduce(joined(), per_replica<std::string>({"a", "b", "c"})) == "abc");
  CHECK(reduce(both_extents(), per_replica<extent>({{3, 4}, {1, 2}, {2, 9}})) == extent{1, 9});
  CHECK(reduce(nearest_to(2.2), per_replica<double>({1, 2, 3})) == 2);
  CHECK(is(thrown_by([] { return reduce(joined(), per_replica<std::string>()); }),
           errc::shape_mismatch));
}

TEST_CASE("an operation of one's own reduces tensors element by element") {
  const per_replica<tensor<int>> values = {tensor<int>({1, 2}, {12, 9}), tensor<int>({1, 2}, 6)};
  CHECK(reduce(common_divisor(), values) == tensor<int>({1, 2}, {6, 3}));
  const per_replica<std::vector<int>> uneven = {{1}, {1, 2}};
  CHECK(is(thrown_by([&] { return reduce(common_divisor(), uneven); }), errc::shape_mismatch));
}

TEST_CASE("strategy.reduce() takes an operation of one's own") {
  const auto& alone = get_default_strategy();
  CHECK(alone.reduce(joined(), per_replica<std::string>({"a"})) == "a");
  runtime rt{pool_size{2}};
  const mirrored_strategy two(rt, 2);
  CHECK(two.reduce(joined(), per_replica<std::string>({"a", "b"})) == "ab");
}

template <class Op, class T>
task<T> bring(replica_context ctx, Op op, T mine) {
  co_return co_await ctx.all_reduce(op, std::move(mine));
}

template <class Op, class T>
auto all_reduced(Op op, const std::vector<T>& values) {
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, static_cast<int>(values.size()));
  const per_replica<T> mine(values.begin(), values.end());
  return block_on(rt, strategy.run(bring<Op, T>, op, mine));
}

TEST_CASE("all_reduce() takes an operation of one's own, leaf by leaf") {
  using words = std::map<int, std::vector<std::string>>;
  const per_replica<std::string> ac = {"ac", "ac"}, bd = {"bd", "bd"};
  CHECK(all_reduced(joined(), std::vector<words>({{{1, {"a", "b"}}}, {{1, {"c", "d"}}}})) ==
        std::map<int, std::vector<per_replica<std::string>>>({{1, {ac, bd}}}));
  const std::vector<int> sixes(200'000, 6), fours(200'000, 4), twos(200'000, 2);
  CHECK(all_reduced(common_divisor(), std::vector({sixes, fours}))[1] == twos);
}

TEST_CASE("what an operation of one's own throws, the replicas get, also out of a large tensor") {
  for (const std::size_t length : {1u, 200'000u}) {
    std::vector<int> last(length, 1);
    last.back() = -1;
    const std::vector<std::vector<int>> values = {std::vector<int>(length, 1), last};
    CHECK_THROWS_AS(all_reduced(common_divisor(), values), std::domain_error);
  }
}

task<double> bring_wanted(replica_context ctx, double wanted) {
  co_return co_await ctx.all_reduce(nearest_to(wanted), 1.0);
}

TEST_CASE("replicas whose operations are not equal have not called the same") {
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, 2);
  const per_replica<double> same = {1, 1}, others = {1, 2};
  CHECK(block_on(rt, strategy.run(bring_wanted, same)) == same);
  CHECK(is(thrown_by([&] { return block_on(rt, strategy.run(bring_wanted, others)); }),
           errc::merge_mismatch));
}

}  // namespace
}  // namespace troupe::test
