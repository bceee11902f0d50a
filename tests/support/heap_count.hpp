// heap_count.hpp - counts what is asked of the heap, in the one program that includes it.
//
// It replaces the global operator new and delete: include it in one file of a test. The thread
// sanitizer has its own, which nobody may replace; there its hooks count.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_THREAD__)
#define TROUPE_COUNT_BY_HOOKS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TROUPE_COUNT_BY_HOOKS
#endif
#endif

#ifdef TROUPE_COUNT_BY_HOOKS
#include <sanitizer/allocator_interface.h>
#endif

namespace troupe::test {

inline std::atomic<std::size_t> heap_calls{0};

/// The calls that `f` makes.
template <class F>
std::size_t heap_calls_of(F&& f) {
  const std::size_t before = heap_calls.load();
  f();
  return heap_calls.load() - before;
}

#ifdef TROUPE_COUNT_BY_HOOKS

inline const int hooks_installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { heap_calls.fetch_add(1, std::memory_order_relaxed); },
    [](const volatile void*) {});

}  // namespace troupe::test

#else

inline void* counted_allocation(std::size_t bytes, std::size_t alignment) {
  heap_calls.fetch_add(1, std::memory_order_relaxed);
  // aligned_alloc() wants a multiple of the alignment.
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) {
    return memory;
  }
  throw std::bad_alloc();
}

}  // namespace troupe::test

// The compiler takes these for a mismatched pair: it does not see that both are replaced.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

void* operator new(std::size_t bytes) {
  return troupe::test::counted_allocation(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return troupe::test::counted_allocation(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
