#include "troupe/strategy/reductions/indexed_slices.hpp"

#include <asio/io_context.hpp>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using ints = tensor<int>;
using slices = indexed_slices<ints>;
using numbers = indexed_slices<std::vector<int>>;
using rows = std::vector<std::size_t>;

/// Rows 1 and 3 of five.
slices two_rows() { return slices({1, 3}, ints({2, 2}, {1, 2, 3, 4}), {5, 2}); }

static_assert(std::is_same_v<regrouped_t<slices>, per_replica<slices>>);
static_assert(std::is_same_v<decltype(reduce(reduce_op::mean, per_replica<slices>())),
                             indexed_slices<tensor<double>>>);

template <class... T>
std::string what_of(T (*... fn)()) {
  std::string text;
  ((text += as<error>(thrown_by(fn)).value().facts().what), ...);
  return text;
}

// -- dense ----------------------------------------------------------------------------------------

TEST_CASE("slices are a tensor that is zero everywhere else") {
  CHECK(to_dense(two_rows()) == ints({5, 2}, {0, 0, 1, 2, 0, 0, 3, 4, 0, 0}));
  CHECK(to_dense(numbers({2, 0}, {7, 8}, {4})) == std::vector<int>({8, 0, 7, 0}));
  CHECK(to_dense(slices({1}, ints({1, 2, 1}, {1, 2}), {2, 2, 1})) == ints({2, 2, 1}, {0, 0, 1, 2}));
}

TEST_CASE("rows of the same place are added up") {
  CHECK(to_dense(numbers({1, 0, 1}, {1, 2, 4}, {2})) == std::vector<int>({2, 5}));
  constexpr int most = std::numeric_limits<int>::max();
  CHECK(to_dense(numbers({0, 0}, {most, 1}, {1}))[0] == std::numeric_limits<int>::min());
}

TEST_CASE("exact: rows of the same place are added up in their order") {
  const indexed_slices<std::vector<double>> all({0, 0, 0}, {1e16, 1.0, -1e16}, {1});
  const double in_order = (1e16 + 1.0) + -1e16;
  CHECK(std::bit_cast<std::uint64_t>(to_dense(all)[0]) == std::bit_cast<std::uint64_t>(in_order));
}

TEST_CASE("slices without rows are zero, whatever the shape of what holds none") {
  CHECK(to_dense(slices({}, ints(), {1, 2})) == ints({1, 2}));
  CHECK(to_dense(slices({}, ints(tensor_shape{0, 2}), {1, 2})) == ints({1, 2}));
  CHECK(to_dense(numbers({}, {}, {0})).empty());
}

TEST_CASE("slices are equal if they mean the same") {
  CHECK(numbers({1, 0, 1}, {1, 2, 4}, {2}) == numbers({0, 1}, {2, 5}, {2}));
  CHECK(numbers({1}, {0}, {2}) == numbers({}, {}, {2}));
  CHECK(numbers({1}, {1}, {2}) != numbers({0}, {1}, {2}));
  CHECK(numbers({1}, {1}, {2}) != numbers({1}, {1}, {3}));
}

TEST_CASE("strict: what is no rows of the dense shape is errc::shape_mismatch, and told") {
  CHECK(what_of(+[] { return to_dense(numbers({2}, {1}, {2})); }) ==
        "the slices have a row 2, which is not in the dense shape [2]");
  CHECK(what_of(+[] { return to_dense(numbers({0, 1}, {1}, {2})); }) ==
        "the slices have 2 indices and values of shape [1]");
  CHECK(what_of(+[] { return to_dense(slices({0}, ints({1, 3}), {5, 2})); }) ==
        "the slices have values of shape [1, 3], which are no rows of the dense shape [5, 2]");
  CHECK(what_of(+[] { return to_dense(slices()); }) ==
        "the slices are of a dense shape without axes");
  CHECK(what_of(+[] { return to_dense(numbers({}, {}, {5, 2})); }) ==
        "the slices have numbers for rows and a dense shape [5, 2]");
  CHECK(is(thrown_by([] { return to_dense(slices({}, ints::scalar(1), {1})); }),
           errc::shape_mismatch));
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  CHECK(is(thrown_by([] { return to_dense(numbers({}, {}, {most})); }), errc::shape_mismatch));
}

// -- reduced --------------------------------------------------------------------------------------

TEST_CASE("sparse: a sum has all replicas' rows in replica order, duplicates included") {
  const per_replica<slices> both = {slices({1}, ints({1, 2}, {10, 20}), {5, 2}), two_rows()};
  const slices sum = reduce(reduce_op::sum, both);
  CHECK(sum.indices == rows({1, 1, 3}));
  CHECK(sum.values == ints({3, 2}, {10, 20, 1, 2, 3, 4}));
  CHECK(sum.dense_shape == tensor_shape({5, 2}));
}

TEST_CASE("sparse: a mean is the rows of the sum, divided by the number of replicas") {
  const per_replica<numbers> both = {numbers({1, 1}, {1, 2}, {2}), numbers({0}, {3}, {2})};
  const auto mean = reduce(reduce_op::mean, both);
  CHECK(mean.indices == rows({1, 1, 0}));
  CHECK(mean.values == std::vector<double>({0.5, 1, 1.5}));
  CHECK(mean == indexed_slices<std::vector<double>>({0, 1}, {1.5, 1.5}, {2}));
}

TEST_CASE("a reduction of slices is dense what the reduction of the dense tensors is") {
  const per_replica<slices> both = {two_rows(), slices({3, 3}, ints({2, 2}, 7), {5, 2})};
  const per_replica<ints> dense = {to_dense(both[0]), to_dense(both[1])};
  CHECK(to_dense(reduce(reduce_op::sum, both)) == reduce(reduce_op::sum, dense));
  CHECK(to_dense(reduce(reduce_op::mean, both)) == reduce(reduce_op::mean, dense));
}

TEST_CASE("a replica may bring no rows, and so may all") {
  const slices none({}, ints(), {5, 2});
  CHECK(reduce(reduce_op::sum, per_replica<slices>({none, two_rows()})) == two_rows());
  const slices all = reduce(reduce_op::sum, per_replica<slices>({none, none}));
  CHECK(all.values.shape() == tensor_shape({0, 2}));
}

TEST_CASE("strict: replicas that differ are errc::shape_mismatch, with their shapes") {
  const auto reduce_two = [](slices a, slices b) {
    const auto thrown =
        as<error>(thrown_by([&] { reduce(reduce_op::sum, per_replica<slices>({a, b})); }));
    return thrown && thrown->code() == errc::shape_mismatch ? thrown->facts().what : "nothing";
  };
  CHECK(reduce_two(two_rows(), slices({1}, ints({1, 2}), {4, 2})) ==
        "the replicas' slices differ in the shape of the dense tensor: [5, 2], [4, 2] (in replica "
        "order)");
  CHECK(reduce_two(two_rows(), slices({1}, ints({1, 3}), {5, 2})) ==
        "the replicas' slices differ in the shape of a row: [2], [3] (in replica order)");
  CHECK(reduce_two(two_rows(), slices({5}, ints({1, 2}), {5, 2})) ==
        "the slices of replica 1 have a row 5, which is not in the dense shape [5, 2]");
  CHECK(is(thrown_by([] { return reduce(reduce_op::sum, per_replica<slices>()); }),
           errc::shape_mismatch));
}

TEST_CASE("a strategy reduces slices as it does other values") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 2);
  const per_replica<slices> both = {two_rows(), two_rows()};
  CHECK(strategy.reduce(reduce_op::sum, both).indices == rows({1, 3, 1, 3}));
  CHECK(to_dense(strategy.reduce(reduce_op::mean, both))[2] == 1.0);
  CHECK(strategy.reduce(reduce_op::mean, mirrored(two_rows())) == two_rows());
  CHECK(is(thrown_by([&] { strategy.reduce(reduce_op::sum, two_rows()); }), errc::not_per_replica));
}

}  // namespace
}  // namespace troupe::test
