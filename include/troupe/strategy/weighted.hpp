// weighted.hpp - a sum that knows how many numbers it is of.
//
//     weighted<float> mine = weigh(losses);                          // of one replica
//     float mean = co_await ctx.all_reduce(reduce_op::mean, mine);   // of all numbers
//
// The mean of the replicas' means is not the mean of their numbers when one of them holds
// fewer. A weighted value cannot be averaged wrongly: its mean is the sum of the sums over
// the sum of the counts.

#pragma once

#include <cstddef>

#include "troupe/strategy/per_replica.hpp"
#include "troupe/strategy/reduce.hpp"

namespace troupe {

template <reducible T>
struct weighted {
  T sum{};
  std::size_t count = 0;

  friend bool operator==(const weighted&, const weighted&) = default;
};

template <class T>
inline constexpr bool is_weighted = false;
template <class T>
inline constexpr bool is_weighted<weighted<T>> = true;

/// The sum and number of all elements of `value`.
template <reducible T>
weighted<element_t<T>> weigh(const T& value) {
  weighted<element_t<T>> all;
  for (const element_t<T> each : tensor_traits<T>::values(value)) {
    all.sum = detail::plus(all.sum, each);
    ++all.count;
  }
  return all;
}

/// One weighted value of everything, in replica order.
template <class T>
weighted<T> reduce(sum_op op, const per_replica<weighted<T>>& values) {
  per_replica<T> sums;
  sums.reserve(values.size());
  weighted<T> all;
  for (const auto& each : values) {
    sums.append(each.sum);
    all.count += each.count;
  }
  all.sum = reduce(op, sums);
  return all;
}

/// The mean of all numbers; not a number where there is none.
template <class T>
reduced_t<T, mean_op> reduce(mean_op, const per_replica<weighted<T>>& values) {
  const weighted<T> all = reduce(reduce_op::sum, values);
  using result = reduced_t<T, mean_op>;
  auto mean = tensor_traits<T>::template make<result>(tensor_traits<T>::shape(all.sum));
  const auto sums = tensor_traits<T>::values(all.sum);
  const auto out = tensor_traits<result>::values(mean);
  for (std::size_t j = 0; j < out.size(); ++j) {
    using element = element_t<result>;
    out[j] = static_cast<element>(sums[j]) / static_cast<element>(all.count);
  }
  return mean;
}

}  // namespace troupe
