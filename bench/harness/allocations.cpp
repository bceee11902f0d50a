#include "bench/harness/allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>

// The entry points behind glibc's malloc family. They stay reachable under these names when a
// program defines the family itself, which glibc allows ("Replacing malloc" in its manual).
extern "C" {
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace troupe::bench {

namespace {

// Constant initialised: malloc is called long before the first constructor of this program.
// Relaxed throughout: the counts are read after the counted work, ordered by other means.
constinit std::atomic<int> counters_alive{0};
constinit std::atomic<std::uint64_t> allocations{0};
constinit std::atomic<std::int64_t> bytes_held{0};

std::int64_t footprint(void* block) noexcept {
  return static_cast<std::int64_t>(heap_footprint(block));
}

bool is_counting() noexcept { return counters_alive.load(std::memory_order_relaxed) != 0; }

void* counted(void* block) noexcept {
  if (is_counting() && block != nullptr) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    bytes_held.fetch_add(footprint(block), std::memory_order_relaxed);
  }
  return block;
}

void count_free(void* block) noexcept {
  if (is_counting() && block != nullptr) {
    bytes_held.fetch_sub(footprint(block), std::memory_order_relaxed);
  }
}

heap_use now() noexcept {
  return {allocations.load(std::memory_order_relaxed), bytes_held.load(std::memory_order_relaxed)};
}

}  // namespace

allocation_count::allocation_count() noexcept {
  counters_alive.fetch_add(1, std::memory_order_relaxed);
  at_start_ = now();
}

allocation_count::~allocation_count() { counters_alive.fetch_sub(1, std::memory_order_relaxed); }

heap_use allocation_count::so_far() const noexcept {
  const heap_use current = now();
  return {current.allocations - at_start_.allocations, current.bytes - at_start_.bytes};
}

// The part the caller may use, and glibc's size field in front of it.
std::size_t heap_footprint(void* block) noexcept {
  return malloc_usable_size(block) + sizeof(std::size_t);
}

}  // namespace troupe::bench

using troupe::bench::count_free;
using troupe::bench::counted;

extern "C" {

void* malloc(std::size_t bytes) noexcept { return counted(__libc_malloc(bytes)); }

void free(void* block) noexcept {
  count_free(block);
  __libc_free(block);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
  return counted(__libc_calloc(count, bytes));
}

void* realloc(void* block, std::size_t bytes) noexcept {
  count_free(block);
  void* moved = __libc_realloc(block, bytes);
  if (moved == nullptr && bytes != 0) {
    counted(block);  // The old block is still there.
    return nullptr;
  }
  return counted(moved);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return counted(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return counted(__libc_memalign(alignment, bytes));
}

int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
  if (alignment % sizeof(void*) != 0 || !std::has_single_bit(alignment)) {
    return EINVAL;
  }
  void* block = counted(__libc_memalign(alignment, bytes));
  if (block == nullptr) {
    return ENOMEM;
  }
  *result = block;
  return 0;
}

}  // extern "C"
