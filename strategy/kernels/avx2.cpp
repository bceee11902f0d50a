// avx2.cpp - the kernels for machines with AVX2 and F16C.

#include "strategy/kernels/loops.hpp"

namespace troupe::detail {

constinit const kernel_table avx2_kernels = kernels_compiled_here();

}  // namespace troupe::detail
