// portable.cpp - the kernels for every machine the library is built for.

#include "strategy/kernels/loops.hpp"

namespace troupe::detail {

constinit const kernel_table portable_kernels = kernels_compiled_here();

}  // namespace troupe::detail
