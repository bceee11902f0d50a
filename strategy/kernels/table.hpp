// table.hpp - the kernels of one level. Each level is compiled in a file of its own, with the
// machine's instructions switched on.

#pragma once

#include "troupe/strategy/reductions/kernels.hpp"

namespace troupe::detail {

struct kernel_table {
  reduction_kernel of[kernel_ops][element_kinds];
};

extern const kernel_table portable_kernels;
extern const kernel_table avx2_kernels;
extern const kernel_table avx512_kernels;

}  // namespace troupe::detail
