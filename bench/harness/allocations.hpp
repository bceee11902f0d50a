// allocations.hpp - counts what this program asks of the heap.
//
//     allocation_count counted;
//     std::vector<int> v(1000);
//     counted.so_far().allocations;   // 1
//     counted.so_far().bytes;         // about 4,016: what the heap spends, headers included
//
// The C library's malloc family is replaced, not only operator new: Asio gets its handlers from
// aligned_alloc and concurrentqueue its blocks from malloc. While no allocation_count is alive a
// call costs one load and one predictable branch more than the C library's own.
//
// Threading: counts are those of all threads together.

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);
}

namespace troupe::bench {

struct heap_use {
  std::uint64_t allocations = 0;
  std::int64_t bytes = 0;  // Still held.
};

/// Counts from its construction to its destruction. Several may be alive at once.
class allocation_count {
 public:
  allocation_count() noexcept;
  allocation_count(const allocation_count&) = delete;
  allocation_count& operator=(const allocation_count&) = delete;
  ~allocation_count();

  /// What was allocated since construction, and how many bytes more are held than then.
  heap_use so_far() const noexcept;

 private:
  heap_use at_start_;
};

/// The C library's own allocator, past the counter: a hand-written limit must not pay for it.
inline void* allocate_uncounted(std::size_t bytes) {
  void* block = __libc_malloc(bytes);
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  return block;
}

/// What the heap spends on `block`, its header included. \pre `block` came from the heap.
std::size_t heap_footprint(void* block) noexcept;

inline void free_uncounted(void* block) noexcept { __libc_free(block); }

}  // namespace troupe::bench
