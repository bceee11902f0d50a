// kernels.hpp - the compiled loops that reductions of numbers are done by: one pass that reads
// all replicas and writes one result. For reduce.hpp, which chooses among them by type.
//
//     const reduction_kernel add = find_kernel(kernel_op::sum, element_kind::f32);
//     add(inputs, replicas, out + first, first, last);
//
// Guarantees
//   exact    each level has the bits of the plain fold in replica order: nothing is reordered or
//            contracted, and what is not a number is always the same quiet NaN;
//   anywhere inputs and results need no alignment, and the result may be the first input.

#pragma once

#include <cstddef>

namespace troupe::detail {

enum class kernel_op { sum, mean, min, max, product };
inline constexpr std::size_t kernel_ops = 5;

enum class element_kind { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bf16, f16, none };
inline constexpr std::size_t element_kinds = 12;

/// Elements [first, last) of `replicas` inputs -> out[0, last - first).
/// \pre 1 <= replicas <= kernel_replicas_max.
using reduction_kernel = void (*)(const void* const* in, std::size_t replicas, void* out,
                                  std::size_t first, std::size_t last) noexcept;

/// Up to here the sums of a mean of integers are exact in what the kernels add up in.
inline constexpr std::size_t kernel_replicas_max = 32'768;

/// What a machine can do; each includes those before it.
enum class kernel_level { portable, avx2, avx512 };

/// The best level of this machine and this build.
kernel_level best_kernel_level() noexcept;

/// For `level`, or the best one. \pre `level` is not above the best; `kind` is not none.
reduction_kernel find_kernel(kernel_op op, element_kind kind, kernel_level level) noexcept;
reduction_kernel find_kernel(kernel_op op, element_kind kind) noexcept;

/// What one call of a kernel works on.
struct kernel_call {
  reduction_kernel kernel;
  const void* const* in;
  std::size_t replicas;
  std::byte* out;        ///< Of element 0; overlaps no input.
  std::size_t out_size;  ///< Of one element.
};

/// The same elements, written past the caches: for results that no cache holds until somebody
/// reads them.
void run_streaming(const kernel_call& call, std::size_t first, std::size_t last) noexcept;

}  // namespace troupe::detail
