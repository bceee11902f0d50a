// element_reduction.hpp - what reduces the elements of all replicas' tensors: the compiled
// kernels where there are some for the type, otherwise a fold of one element after the other.
//
//     const element_reduction add(reduce_op::sum, values, out);
//     add.run(0, out.size());
//
// Guarantees
//   exact    the bits do not depend on the stretches, nor on the machine;
//   shared   stretches that do not overlap may run on different threads at once.

#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "troupe/core/small_vector.hpp"
#include "troupe/runtime/step_graph.hpp"
#include "troupe/strategy/reductions/arithmetic.hpp"
#include "troupe/strategy/reductions/kernels.hpp"
#include "troupe/strategy/values/float16.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe::detail {

/// From here on a result outlives no cache: writing past them does not read it first.
inline constexpr std::size_t streamed_from = 32 * 1024 * 1024;

template <class T>
constexpr element_kind kind_of_element() noexcept {
  using kind = element_kind;
  if constexpr (std::same_as<T, float>) return kind::f32;
  if constexpr (std::same_as<T, double>) return kind::f64;
  if constexpr (std::same_as<T, bfloat16>) return kind::bf16;
  if constexpr (std::same_as<T, float16>) return kind::f16;
  if constexpr (std::integral<T> && std::is_signed_v<T>) {
    return sizeof(T) == 1   ? kind::i8
           : sizeof(T) == 2 ? kind::i16
           : sizeof(T) == 4 ? kind::i32
           : sizeof(T) == 8 ? kind::i64
                            : kind::none;
  }
  if constexpr (std::integral<T> && std::is_unsigned_v<T>) {
    return sizeof(T) == 1   ? kind::u8
           : sizeof(T) == 2 ? kind::u16
           : sizeof(T) == 4 ? kind::u32
           : sizeof(T) == 8 ? kind::u64
                            : kind::none;
  }
  return kind::none;
}

constexpr kernel_op kernel_of(sum_op) noexcept { return kernel_op::sum; }
constexpr kernel_op kernel_of(mean_op) noexcept { return kernel_op::mean; }
constexpr kernel_op kernel_of(min_op) noexcept { return kernel_op::min; }
constexpr kernel_op kernel_of(max_op) noexcept { return kernel_op::max; }
constexpr kernel_op kernel_of(product_op) noexcept { return kernel_op::product; }

template <class Op, class T>
concept has_kernel =
    requires(Op op) { kernel_of(op); } && kind_of_element<element_t<T>>() != element_kind::none;

/// `values`, a per_replica or what looks like one, have `out`'s size and outlive it. `out` may be
/// the elements of the first value.
template <class Op, class Values, class R>
class element_reduction {
  using T = typename Values::value_type;

 public:
  element_reduction(Op op, const Values& values, std::span<R> out)
      : op_(op), values_(values), out_(out) {
    if constexpr (has_kernel<Op, T>) {
      if (values.size() > kernel_replicas_max) return;
      inputs_.reserve(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) inputs_.push_back(elements(i).data());
      kernel_ = find_kernel(kernel_of(op), kind_of_element<element_t<T>>());
      streams_ = out.size_bytes() >= streamed_from && inputs_[0] != out.data();
    }
  }

  void run(std::size_t first, std::size_t last) const {
    if (kernel_ && streams_) {
      auto* const out = reinterpret_cast<std::byte*>(out_.data());
      run_streaming({kernel_, inputs_.begin(), inputs_.size(), out, sizeof(R)}, first, last);
    } else {
      run_to(out_.data() + first, first, last);
    }
  }
  /// The same elements, to somewhere else.
  void run_to(R* out, std::size_t first, std::size_t last) const {
    if (kernel_) {
      kernel_(inputs_.begin(), inputs_.size(), out, first, last);
    } else {
      for (std::size_t j = first; j < last; ++j) {
        out[j - first] =
            fold<element_t<T>>(op_, values_.size(), [&](std::size_t i) { return elements(i)[j]; });
      }
    }
  }

  /// What a stretch reads and writes.
  void tell(memory_use& memory, const R* out, std::size_t first, std::size_t last) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      memory.reads(elements(i).subspan(first, last - first));
    }
    memory.writes(out, (last - first) * sizeof(R));
  }
  void tell(memory_use& memory, std::size_t first, std::size_t last) const {
    tell(memory, out_.data() + first, first, last);
  }

 private:
  auto elements(std::size_t i) const noexcept {
    return tensor_traits<T>::values(std::as_const(values_[i]));
  }

  [[no_unique_address]] Op op_;
  const Values& values_;
  std::span<R> out_;
  small_vector<const void*, 4> inputs_;  // Of few replicas beside what else a step looks at.
  reduction_kernel kernel_ = nullptr;
  bool streams_ = false;
};

}  // namespace troupe::detail
