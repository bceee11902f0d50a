// reduce_scatter.hpp - ctx.reduce_scatter(op, value): each replica gets its stripe of a reduction.
//
//     tensor<float> mine = co_await ctx.reduce_scatter(reduce_op::sum, std::move(gradient));
//     auto stripes = reduce_scatter(reduce_op::mean, values, 1);   // cross-replica: a per_replica
//
// Stripes are cut along an axis, the first one unless another is named, in replica order. Of n
// rows and N replicas each gets n / N rows, and the first n % N replicas one more; where there are
// fewer rows than replicas the last ones get none.
//
// Guarantees
//   exact    one after the other (gather()), the stripes are reduce() of the values, bit by bit;
//   single   the values are read once, and only the stripes are written.

#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reductions/fused_pass.hpp"
#include "troupe/strategy/reductions/gather.hpp"
#include "troupe/strategy/reductions/reduce.hpp"

namespace troupe {

namespace detail {

/// A value as rows along an axis, as often as the axes before it want.
struct rows_along {
  std::size_t rows;
  std::size_t row_size;
};
/// \throws errc::invalid_axis unless the shape has that axis.
rows_along rows_of(const tensor_shape& shape, int axis);

struct stripe {
  std::size_t first;  ///< Of its rows.
  std::size_t rows;
};
/// Of replica `i` of `replicas`.
constexpr stripe stripe_of(std::size_t rows, std::size_t replicas, std::size_t i) noexcept {
  const std::size_t longer = rows % replicas;
  return {i * (rows / replicas) + std::min(i, longer), rows / replicas + (i < longer ? 1 : 0)};
}

template <class T, class R>
struct striped {};
template <class T, class A, class R>
struct striped<std::vector<T, A>, R> {
  using type = std::vector<R>;
};
template <class T, std::size_t N, class R>
struct striped<std::array<T, N>, R> {
  using type = std::vector<R>;
};
template <class T, class R>
struct striped<tensor<T>, R> {
  using type = tensor<R>;
};

/// What one replica gets.
template <class T, class Op>
using stripe_t = typename striped<T, reduced_element<Op, element_t<T>>>::type;

/// The part of a reduction that is one stripe.
template <class Op, class T, class R>
class stripe_reduction final : public leaf_reduction {
 public:
  stripe_reduction(Op op, const per_replica<T>& values, std::span<R> out, const rows_along& all,
                   const stripe& mine)
      : leaf_reduction(out.size(), values.size() * sizeof(element_t<T>)),
        all_(op, values, out),
        out_(out.data()),
        width_(mine.rows * all.row_size),
        pitch_(all.rows * all.row_size),
        offset_(mine.first * all.row_size) {}

  void run(std::size_t first, std::size_t last) const override {
    for_each_run(first, last,
                 [&](std::size_t from, std::size_t n, R* to) { all_.run_to(to, from, from + n); });
  }
  void tell(memory_use& memory, std::size_t first, std::size_t last) const override {
    for_each_run(first, last, [&](std::size_t from, std::size_t n, R* to) {
      all_.tell(memory, to, from, from + n);
    });
  }

 private:
  /// Elements of the stripe that follow each other in the values, too.
  template <class F>
  void for_each_run(std::size_t first, std::size_t last, F&& f) const {
    while (first < last) {
      const std::size_t within = first % width_;
      const std::size_t n = std::min(width_ - within, last - first);
      f(first / width_ * pitch_ + offset_ + within, n, out_ + first);
      first += n;
    }
  }

  element_reduction<Op, per_replica<T>, R> all_;
  R* out_;
  std::size_t width_;
  std::size_t pitch_;
  std::size_t offset_;
};

/// The stripes of everybody, to be reduced; stays where it is.
template <class Op, class T>
class stripes_in_hand {
 public:
  using result = stripe_t<T, Op>;

  /// \throws errc::shape_mismatch; errc::invalid_axis.
  stripes_in_hand(Op op, const per_replica<T>& values, int axis) {
    require_same_shape(values);
    tensor_shape shape = tensor_traits<T>::shape(values[0]);
    const rows_along all = rows_of(shape, axis);
    stripes_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const stripe mine = stripe_of(all.rows, values.size(), i);
      shape[static_cast<std::size_t>(axis)] = mine.rows;
      stripes_.append(room_of_shape<result>(shape));
      const auto out = elements_of_result(stripes_[i]);
      if (out.empty()) continue;
      leaves_.push_back(std::make_unique<leaf>(op, values, out, all, mine));
    }
  }

  void add_to(fused_pass& pass) const {
    for (const auto& each : leaves_) pass.add(*each);
  }
  void run() const {
    for (const auto& each : leaves_) each->run(0, each->elements());
  }
  per_replica<result> take() { return std::move(stripes_); }

 private:
  using leaf = stripe_reduction<Op, T, element_t<result>>;

  per_replica<result> stripes_;
  std::vector<std::unique_ptr<leaf>> leaves_;
};

template <class Op, class T>
concept scatterable = reduction<Op> && gatherable<T> && reducible<T> &&
                      (!named_own_reduction<Op> || combines<Op, element_t<T>>);

/// No function: a body is looked at after all that stands beside the call.
template <class Op, class T>
struct scatter_rule {
  static_assert(scatterable<Op, T>,
                "troupe: reduce_scatter() is defined for std::vector and std::array of numbers and "
                "for tensor; reduce leaves of structures one by one");
};

template <class Op, class T>
task<per_replica<stripe_t<T, Op>>> reduce_stripes(Op op, per_replica<T> values, int axis) {
  stripes_in_hand<Op, T> stripes(op, values, axis);
  fused_pass pass;
  stripes.add_to(pass);
  co_await pass.run();
  co_return stripes.take();
}

/// The merge function of ctx.reduce_scatter().
template <class Op>
class scatterer {
 public:
  scatterer(Op op, int axis) noexcept : op_(op), axis_(axis) {}

  template <class T>
  auto operator()(per_replica<T> values) const {
    return reduce_stripes(op_, std::move(values), axis_);
  }

  static std::string verb() { return std::string("reduce_scatter ") + Op::name; }

  friend bool operator==(scatterer, scatterer) = default;

 private:
  [[no_unique_address]] Op op_;
  int axis_;
};

}  // namespace detail

/// Component i is what replica i gets.
/// \throws errc::shape_mismatch if shapes differ, or there is no value; errc::invalid_axis unless
///         the values have that axis: it counts from 0 only.
template <class Op, class T>
auto reduce_scatter(Op op, const per_replica<T>& values, int axis = 0) {
  static_cast<void>(detail::scatter_rule<Op, T>());
  detail::stripes_in_hand<Op, T> stripes(op, values, axis);
  stripes.run();
  return stripes.take();
}

template <class Op, class T>
auto replica_context::reduce_scatter(Op op, T value, int axis) const {
  static_cast<void>(detail::scatter_rule<Op, T>());
  static_assert(!named_own_reduction<Op> || std::equality_comparable<Op>,
                "troupe: an operation that has members has an operator==, which tells whether the "
                "replicas have called the same");
  return merge_call(detail::scatterer<Op>(op, axis), std::move(value));
}

}  // namespace troupe
