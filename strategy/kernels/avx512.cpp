// avx512.cpp - the kernels for machines with AVX-512 F, BW, DQ and VL.

#include "strategy/kernels/loops.hpp"

namespace troupe::detail {

constinit const kernel_table avx512_kernels = kernels_compiled_here();

}  // namespace troupe::detail
