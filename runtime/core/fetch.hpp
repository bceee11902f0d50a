// fetch.hpp - memory that is about to be written, and that another processor has read since.

#pragma once

namespace troupe::detail {

/// Has its line of cache on the way here, and taken from everybody else: a store finds it there and
/// what is stored after it need not wait. Of the built-in for it compilers make a fetch for
/// reading, where they are asked for no processor in particular.
inline void fetch_to_write(const void* memory) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw (%0)" : : "r"(memory));
#else
  __builtin_prefetch(memory, 1);
#endif
}

}  // namespace troupe::detail
