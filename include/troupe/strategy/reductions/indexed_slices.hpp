// indexed_slices.hpp - some rows of a dense tensor: the gradient of a lookup in a table.
//
//     // Rows 1 and 3 of a table of shape [5, 2]; everything else is zero.
//     indexed_slices<tensor<float>> mine({1, 3}, tensor<float>({2, 2}, {1, 2, 3, 4}), {5, 2});
//     mine = co_await ctx.all_reduce(reduce_op::sum, mine);
//     tensor<float> whole = to_dense(mine);
//
// The same row may be there several times: its values are the sum.
//
// Guarantees
//   sparse   a sum has the rows of all replicas one after the other, in replica order; nothing
//            is added up, and the dense tensor is never made. A mean is that, divided by the
//            number of replicas;
//   exact    to_dense() adds up in the order of the rows: the same bits always;
//   strict   replicas with other rows or other dense shapes, and rows outside of the dense
//            shape, are errors. A replica may bring no rows.

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe {

namespace detail {

template <class V>
inline constexpr bool holds_rows = false;
template <arithmetic T, class A>
inline constexpr bool holds_rows<std::vector<T, A>> = true;
template <arithmetic T>
inline constexpr bool holds_rows<tensor<T>> = true;

}  // namespace detail

/// `values` has one row along axis 0 for each index, which says where it is in a tensor of
/// shape `dense_shape`. In a std::vector a row is a number.
template <tensor_like V>
struct indexed_slices {
  static_assert(detail::holds_rows<V>,
                "troupe: the rows of indexed_slices are a std::vector of numbers or a tensor");

  indexed_slices() = default;
  indexed_slices(std::vector<std::size_t> which, V rows, tensor_shape shape_of_all)
      : indices(std::move(which)), values(std::move(rows)), dense_shape(std::move(shape_of_all)) {}

  std::vector<std::size_t> indices;
  V values;
  tensor_shape dense_shape;

  /// Whether both mean the same dense tensor. \throws what to_dense() throws.
  friend bool operator==(const indexed_slices& a, const indexed_slices& b) {
    return a.dense_shape == b.dense_shape && to_dense(a) == to_dense(b);
  }
};

template <class T>
inline constexpr bool is_indexed_slices = false;
template <tensor_like V>
inline constexpr bool is_indexed_slices<indexed_slices<V>> = true;

namespace detail {

/// What there is to check about slices, whatever their values' type.
struct slices_view {
  std::span<const std::size_t> indices;
  tensor_shape shape;
  std::span<const std::size_t> dense_shape;
  bool of_numbers;  ///< A row is a number: the dense shape has one axis.
};

template <class V>
concept of_rank_one = requires { requires tensor_traits<V>::rank == 1; };

template <class V>
slices_view view_of(const indexed_slices<V>& slices) {
  return {slices.indices, tensor_traits<V>::shape(slices.values), slices.dense_shape,
          of_rank_one<V>};
}

/// \throws errc::shape_mismatch unless the rows fit the dense shape, are as many as the indices,
///         and lie inside.
void require_valid(const slices_view& slices);
/// The same of all replicas' slices, and that they agree.
void require_valid(std::span<const slices_view> all);

}  // namespace detail

/// The tensor or vector of shape `dense_shape` that the slices mean.
/// \throws errc::shape_mismatch when the rows do not fit the dense shape, are not as many as the
///         indices, or lie outside.
template <class V>
V to_dense(const indexed_slices<V>& slices) {
  detail::require_valid(detail::view_of(slices));
  detail::elements_of(slices.dense_shape);
  using sum = detail::fold_of<element_t<V>>;
  using sums = typename tensor_traits<V>::template of<sum>;
  sums dense = tensor_traits<V>::template make<sums>(slices.dense_shape);
  const std::span<sum> to = tensor_traits<sums>::values(dense);
  const std::span<const element_t<V>> from = tensor_traits<V>::values(slices.values);
  const std::size_t row = slices.indices.empty() ? 0 : from.size() / slices.indices.size();
  for (std::size_t i = 0; i < slices.indices.size(); ++i) {
    const auto there = to.subspan(slices.indices[i] * row, row);
    for (std::size_t j = 0; j < row; ++j) {
      there[j] = detail::settled(detail::plus(there[j], static_cast<sum>(from[i * row + j])));
    }
  }
  if constexpr (std::same_as<V, sums>) {
    return dense;
  } else {
    V rounded = tensor_traits<V>::template make<V>(slices.dense_shape);
    std::ranges::transform(to, tensor_traits<V>::values(rounded).begin(),
                           [](sum each) { return static_cast<element_t<V>>(each); });
    return rounded;
  }
}

/// All replicas' rows, duplicates included, in replica order; of a mean divided by the number of
/// replicas.
/// \throws errc::shape_mismatch with the replicas' shapes when they differ, and what to_dense()
///         throws; also when there is no value.
template <reduction Op, class V>
auto reduce(Op, const per_replica<indexed_slices<V>>& values) {
  static_assert(additive_reduction<Op>,
                "troupe: indexed_slices have a sum and a mean: what is not there is zero, and has "
                "no other reduction; reduce what to_dense() makes of them");
  using element = element_t<V>;
  using rows = typename tensor_traits<V>::template of<detail::reduced_element<Op, element>>;
  if (values.empty()) detail::throw_nothing_to_reduce();
  std::vector<detail::slices_view> views;
  for (const auto& each : values) views.push_back(detail::view_of(each));
  detail::require_valid(views);

  indexed_slices<rows> all;
  all.dense_shape = values[0].dense_shape;
  for (const auto& each : values) {
    all.indices.insert(all.indices.end(), each.indices.begin(), each.indices.end());
  }
  tensor_shape shape = all.dense_shape;
  shape[0] = all.indices.size();
  all.values = tensor_traits<V>::template make<rows>(shape);
  auto* to = tensor_traits<rows>::values(all.values).data();
  for (const auto& each : values) {
    for (const element value : tensor_traits<V>::values(each.values)) {
      if constexpr (std::same_as<Op, sum_op>) {
        *to++ = value;
      } else {
        const auto wide = static_cast<detail::mean_sum<element>>(value);
        *to++ = detail::mean_of<element>(wide, values.size());
      }
    }
  }
  return all;
}

}  // namespace troupe
