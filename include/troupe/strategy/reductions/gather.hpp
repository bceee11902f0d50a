// gather.hpp - the replicas' values, one after the other along an axis.
//
//     std::vector<int> all = strategy.gather(per_replica_ids);        // cross-replica
//     auto rows = co_await ctx.all_gather(tensor, 0);                 // on every replica
//
// Guarantees
//   ordered  replica order, whatever the schedule;
//   strict   same rank, same sizes along the other axes; a replica may bring none.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "troupe/strategy/reductions/indexed_slices.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor.hpp"

namespace troupe {

namespace detail {

/// The shape of all together. \throws errc::invalid_axis; errc::shape_mismatch.
tensor_shape gathered_shape(const std::vector<tensor_shape>& shapes, int axis);
void require_first_axis(int axis);

template <class T>
struct gathered {};
template <class T, class A>
struct gathered<std::vector<T, A>> {
  using type = std::vector<T, A>;
};
template <class T, std::size_t N>
struct gathered<std::array<T, N>> {
  using type = std::vector<T>;
};
template <class T>
struct gathered<tensor<T>> {
  using type = tensor<T>;
};

}  // namespace detail

template <class T>
concept gatherable = requires { typename detail::gathered<T>::type; };

/// One after the other along `axis`, in replica order.
/// \throws errc::invalid_axis unless the values have that axis: it counts from 0 only;
///         errc::shape_mismatch when other axes differ in number or size.
template <class T>
auto gather(const per_replica<T>& values, int axis = 0) {
  static_assert(!is_indexed_slices<T>,
                "troupe: gather does not support indexed_slices: reduce them, or gather what "
                "to_dense() makes of them");
  static_assert(gatherable<T>,
                "troupe: what has an axis can be gathered: std::vector, std::array and tensor; "
                "experimental_local_results() gives the values of other types");
  detail::require_first_axis(axis);
  typename detail::gathered<T>::type all;
  for (const T& each : values) all.insert(all.end(), each.begin(), each.end());
  return all;
}

template <class T>
tensor<T> gather(const per_replica<tensor<T>>& values, int axis = 0) {
  std::vector<tensor_shape> shapes;
  for (const auto& each : values) shapes.push_back(each.shape());
  tensor<T> all(detail::gathered_shape(shapes, axis));
  // A tensor is `outer` blocks; each block of the result has one of everybody's, in turn.
  std::size_t outer = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(axis); ++i) outer *= all.shape()[i];
  T* to = all.data();
  for (std::size_t block = 0; block < outer; ++block) {
    for (const auto& each : values) {
      const auto part = each.values().subspan(block * (each.size() / outer), each.size() / outer);
      to = std::copy(part.begin(), part.end(), to);
    }
  }
  return all;
}

}  // namespace troupe
