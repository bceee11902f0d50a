// weighted.hpp - a sum that knows how many numbers it is of.
//
//     const auto mine = weigh(losses);                               // of one replica
//     double mean = co_await ctx.all_reduce(reduce_op::mean, mine);  // of all numbers
//
// The mean of the replicas' means is not the mean of their numbers when one of them holds
// fewer. A weighted value cannot be averaged wrongly: its mean is the sum of the sums over
// the sum of the counts.

#pragma once

#include <cstddef>

#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/reductions/reduce_axis.hpp"
#include "troupe/strategy/values/per_replica.hpp"

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

/// The sum and number of all elements of `value`; the sum is wide, so that it is right.
template <reducible T>
auto weigh(const T& value) {
  using sum = detail::along_sum<mean_op, element_t<T>>;
  weighted<sum> all;
  for (const element_t<T> each : tensor_traits<T>::values(value)) {
    all.sum = detail::plus(all.sum, static_cast<sum>(each));
    ++all.count;
  }
  all.sum = detail::settled(all.sum);
  return all;
}

/// The mean of one replica's numbers, which is right for itself. It knows no count: the mean of
/// several is wrong as soon as one replica holds fewer numbers, and is warned of.
template <class T>
struct unweighted {
  T mean{};

  operator T() const noexcept { return mean; }
  friend bool operator==(const unweighted&, const unweighted&) = default;
};

template <class T>
inline constexpr bool is_unweighted = false;
template <class T>
inline constexpr bool is_unweighted<unweighted<T>> = true;

/// The mean of all elements of `value`; not a number where there is none.
template <reducible T>
auto local_mean(const T& value) {
  const auto all = weigh(value);
  using mean = detail::mean_element<element_t<T>>;
  return unweighted<mean>{detail::mean_of<element_t<T>>(all.sum, all.count)};
}

/// The mean of means.
template <class T>
T reduce(mean_op op, const per_replica<unweighted<T>>& values) {
  per_replica<T> means;
  means.reserve(values.size());
  for (const auto& each : values) means.append(each.mean);
  return reduce(op, means);
}

namespace detail {

/// The replicas' sums, for themselves, and how many numbers they are of.
template <class T>
struct weighted_columns {
  explicit weighted_columns(const per_replica<weighted<T>>& values) {
    sums.reserve(values.size());
    for (const auto& each : values) {
      sums.append(each.sum);
      count += each.count;
    }
  }

  per_replica<T> sums;
  std::size_t count = 0;
};

}  // namespace detail

/// One weighted value of everything, in replica order. A replica without numbers brings
/// zeros of the others' shape.
template <class T>
weighted<T> reduce(sum_op op, const per_replica<weighted<T>>& values) {
  const detail::weighted_columns<T> all(values);
  return {reduce(op, all.sums), all.count};
}

/// The mean of all numbers; not a number where there is none.
template <class T>
reduced_t<T, mean_op> reduce(mean_op, const per_replica<weighted<T>>& values) {
  using result = reduced_t<T, mean_op>;
  using element = element_t<T>;
  using sum = detail::along_sum<mean_op, element>;
  const detail::weighted_columns<T> all(values);
  detail::require_same_shape(all.sums);
  auto mean = tensor_traits<T>::template make<result>(tensor_traits<T>::shape(all.sums[0]));
  const auto out = tensor_traits<result>::values(mean);
  for (std::size_t j = 0; j < out.size(); ++j) {
    sum total{};
    for (const T& each : all.sums) {
      total = detail::plus(total, static_cast<sum>(tensor_traits<T>::values(each)[j]));
    }
    out[j] = detail::mean_of<element>(total, all.count);
  }
  return mean;
}

}  // namespace troupe
