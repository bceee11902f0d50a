#include "troupe/strategy/values/tensor.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"
#include "troupe/strategy/reductions/reduce.hpp"

namespace troupe::test {
namespace {

static_assert(std::is_nothrow_move_constructible_v<tensor<float>>);
static_assert(std::is_nothrow_move_assignable_v<tensor<float>>);

tensor<int> two_by_three() { return tensor<int>({2, 3}, {1, 2, 3, 4, 5, 6}); }

TEST_CASE("dense: a tensor lies in memory row by row") {
  const tensor<int> t = two_by_three();
  CHECK(t.rank() == 2);
  CHECK(t.size() == 6);
  CHECK(t.at({0, 2}) == 3);
  CHECK(t.at({1, 0}) == 4);
  CHECK(t[4] == 5);
  CHECK(t.values().size() == 6);
}

TEST_CASE("dense: storage is aligned, whatever the shape") {
  for (std::size_t n = 0; n < 100; n += 7) {
    const tensor<char> t(tensor_shape{n});
    CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % tensor<char>::alignment == 0);
  }
}

TEST_CASE("cheap: a move takes the elements along where they are") {
  tensor<int> from = two_by_three();
  const int* const where = from.data();
  tensor<int> to = std::move(from);
  CHECK(to.data() == where);
  from = tensor<int>({1}, {7});
  CHECK(from.item() == 7);
}

TEST_CASE("a copy has elements of its own") {
  const tensor<int> from = two_by_three();
  tensor<int> to = from;
  to.at({0, 0}) = 9;
  CHECK(from.at({0, 0}) == 1);
  CHECK(to != from);
}

TEST_CASE("a tensor is filled with what it is told to be") {
  const tensor<float> t({2, 2}, 0.5f);
  CHECK(t == tensor<float>({2, 2}, {0.5f, 0.5f, 0.5f, 0.5f}));
}

TEST_CASE("tensors of different shape are different") {
  CHECK(tensor<int>({2, 3}) != tensor<int>({3, 2}));
  CHECK(tensor<int>({0}) != tensor<int>({0, 3}));
}

TEST_CASE("a tensor of rank zero is one number") {
  const tensor<double> t = tensor<double>::scalar(2.5);
  CHECK(t.rank() == 0);
  CHECK(t.size() == 1);
  CHECK(t.item() == 2.5);
}

TEST_CASE("a default tensor has no elements") { CHECK(tensor<int>().empty()); }

TEST_CASE("a slice is a stretch along axis 0") {
  CHECK(two_by_three().slice(1, 2) == tensor<int>({1, 3}, {4, 5, 6}));
  CHECK(two_by_three().slice(1, 1) == tensor<int>(tensor_shape{0, 3}));
  CHECK(tensor<int>(tensor_shape{0, 3}).slice(0, 0).empty());
}

TEST_CASE("the same elements can have another shape") {
  CHECK(two_by_three().reshaped({3, 2}) == tensor<int>({3, 2}, {1, 2, 3, 4, 5, 6}));
}

// -- mistakes -------------------------------------------------------------------------------------

TEST_CASE("elements that do not fill the shape are errc::shape_mismatch") {
  CHECK(is(thrown_by([] { return tensor<int>({2, 2}, {1, 2, 3}); }), errc::shape_mismatch));
  CHECK(is(thrown_by([] { return two_by_three().reshaped({4}); }), errc::shape_mismatch));
}

TEST_CASE("places outside the shape are errc::shape_mismatch") {
  tensor<int> t = two_by_three();
  CHECK(is(thrown_by([&] { return t.at({2, 0}); }), errc::shape_mismatch));
  CHECK(is(thrown_by([&] { return t.at({0}); }), errc::shape_mismatch));
  CHECK(is(thrown_by([&] { return t.slice(1, 3); }), errc::shape_mismatch));
  CHECK(is(thrown_by([&] { return t.slice(2, 1); }), errc::shape_mismatch));
  CHECK(is(thrown_by([] { return tensor<int>::scalar(1).slice(0, 0); }), errc::shape_mismatch));
}

TEST_CASE("the only element of several is errc::shape_mismatch") {
  CHECK(is(thrown_by([] { return two_by_three().item(); }), errc::shape_mismatch));
}

TEST_CASE("a shape that no memory holds is errc::shape_mismatch, not an overflow") {
  const auto most = std::numeric_limits<std::size_t>::max();
  CHECK(is(thrown_by([&] { return tensor<char>({most, 2}); }), errc::shape_mismatch));
  CHECK(is(thrown_by([&] { return tensor<double>({most / 4, 2}); }), errc::shape_mismatch));
  CHECK(tensor<char>({most, most, 0}).empty());
}

// -- what else is a tensor ------------------------------------------------------------------------

static_assert(tensor_like<int> && tensor_like<std::vector<float>> && tensor_like<tensor<short>>);
static_assert(tensor_like<std::span<const double>> && tensor_like<std::span<double, 3>>);
static_assert(!tensor_like<bool> && !tensor_like<const char*> && !tensor_like<std::vector<bool>>);

TEST_CASE("tensors are reduced element by element") {
  const per_replica<tensor<int>> values = {two_by_three(), two_by_three()};
  CHECK(reduce(reduce_op::sum, values) == tensor<int>({2, 3}, {2, 4, 6, 8, 10, 12}));
  CHECK(reduce(reduce_op::mean, values) == tensor<double>({2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST_CASE("tensors of as many elements and another shape are errc::shape_mismatch") {
  const per_replica<tensor<int>> values = {two_by_three(), two_by_three().reshaped({3, 2})};
  CHECK(is(thrown_by([&] { return reduce(reduce_op::sum, values); }), errc::shape_mismatch));
}

TEST_CASE("spans of numbers that live elsewhere reduce to a vector") {
  const std::vector<int> a = {1, 2};
  const std::vector<int> b = {3, 4};
  const per_replica<std::span<const int>> values = {a, b};
  CHECK(reduce(reduce_op::sum, values) == std::vector<int>({4, 6}));
}

}  // namespace

/// A user's own type: numbers with a name.
struct named_row {
  std::vector<float> numbers;
  const char* name;
};

}  // namespace troupe::test

template <>
struct troupe::tensor_traits<troupe::test::named_row> {
  static constexpr std::size_t rank = 1;
  using element = float;
  template <class U>
  using of = std::vector<U>;
  template <class U>
  using along = U;

  static std::span<const float> values(const test::named_row& row) { return row.numbers; }
  static tensor_shape shape(const test::named_row& row) { return {row.numbers.size()}; }
  template <class R>
  static R make(const tensor_shape& shape) {
    return R(shape[0]);
  }
};

namespace troupe::test {

/// Another: its rank is known, and is not one.
struct matrix {
  std::size_t rows, columns;
  std::vector<float> numbers;
};

}  // namespace troupe::test

template <>
struct troupe::tensor_traits<troupe::test::matrix> {
  static constexpr std::size_t rank = 2;
  using element = float;
  template <class U>
  using of = tensor<U>;

  static std::span<const float> values(const test::matrix& m) { return m.numbers; }
  static tensor_shape shape(const test::matrix& m) { return {m.rows, m.columns}; }
  template <class R>
  static R make(const tensor_shape& shape) {
    return R(shape);
  }
};

namespace troupe::test {
namespace {

TEST_CASE("matrices of as many numbers and another shape are errc::shape_mismatch") {
  const per_replica<matrix> values = {matrix{2, 3, {1, 2, 3, 4, 5, 6}},
                                      matrix{3, 2, {1, 2, 3, 4, 5, 6}}};
  CHECK(is(thrown_by([&] { return reduce(reduce_op::sum, values); }), errc::shape_mismatch));
}

TEST_CASE("a user's type is reduced once it says how it is seen") {
  const per_replica<named_row> values = {named_row{{1, 2}, "a"}, named_row{{3, 4}, "b"}};
  CHECK(reduce(reduce_op::sum, values) == std::vector<float>({4, 6}));
}

}  // namespace
}  // namespace troupe::test
