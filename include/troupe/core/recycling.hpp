// recycling.hpp - memory for what is made and dropped on every step.
//
// Coroutine frames, messages and gathered values live for one round or one run and
// come back in the same sizes. Each thread keeps what it freed, by size, and hands
// it out again, so that a steady state asks the heap for nothing.
//
// Guarantees
//   steady   an allocation of a size that was freed before costs no heap call, also when
//            one thread allocates what another frees: full caches trade with empty ones
//            through a depot, in batches;
//   bounded  at most `cached_blocks` blocks of each size class wait in one thread, and
//            as many in the depot;
//   plain    a block may be freed on any thread;
//   dense    blocks of a size lie close together, and most of very many lie in huge pages where
//            the system has them;
//   aligned  every block is aligned to 64 bytes: what is smaller touches one line of cache.
//
// Under AddressSanitizer nothing is kept, so that it sees every use after free.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TROUPE_RECYCLING_OFF 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TROUPE_RECYCLING_OFF 1
#endif

namespace troupe::detail {

struct recycling_cache {
  static constexpr std::size_t class_bytes = 64;
  static constexpr std::size_t classes = 48;  // Up to 3 KiB; larger blocks are rare.
  static constexpr std::uint32_t cached_blocks = 1024;
  static constexpr std::uint32_t batch_blocks = 64;

  /// Blocks of a class are so many times class_bytes: at least one, for the list they wait in.
  static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    return (bytes + (bytes == 0 ? 1 : 0) + class_bytes - 1) / class_bytes;
  }

  struct block {
    block* next;
  };

  std::array<block*, classes> free;
  std::array<std::uint32_t, classes> count;
  enum class state : std::uint8_t { unused, open, closed } state;
};

// Constant initialised, so that an access is one address computation and no guard.
inline constinit thread_local recycling_cache recycling{};

/// Opens this thread's cache and arranges for its end; false once the thread ends.
bool open_recycling() noexcept;

/// Fetches a batch of blocks into this thread's cache; false if the heap is to make one.
bool fetch_batch(std::size_t size_class) noexcept;
/// Brings a batch of this thread's blocks to the depot, or to the heap.
void bring_batch(std::size_t size_class) noexcept;

/// For a block that is no thread's: it is large, or the thread's cache has ended.
void* allocate_block(std::size_t bytes);
void free_block(void* memory, std::size_t bytes) noexcept;

/// From here on a block has huge pages of its own.
inline constexpr std::size_t huge_bytes = std::size_t{4} << 20U;

inline void* recycling_allocate(std::size_t bytes) {
  const std::size_t size_class = recycling_cache::class_of(bytes);
#ifndef TROUPE_RECYCLING_OFF
  if (size_class < recycling_cache::classes) {
    auto* block = recycling.free[size_class];
    if (!block && fetch_batch(size_class)) block = recycling.free[size_class];
    if (block) [[likely]] {
      recycling.free[size_class] = block->next;
      --recycling.count[size_class];
      return block;
    }
  }
  return allocate_block(size_class * recycling_cache::class_bytes);
#else
  return ::operator new(size_class * recycling_cache::class_bytes,
                        std::align_val_t(recycling_cache::class_bytes));
#endif
}

inline void recycling_free(void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifndef TROUPE_RECYCLING_OFF
  const std::size_t size_class = recycling_cache::class_of(bytes);
  if (size_class < recycling_cache::classes &&
      (recycling.state == recycling_cache::state::open || open_recycling())) [[likely]] {
    if (recycling.count[size_class] == recycling_cache::cached_blocks) bring_batch(size_class);
    auto* block = static_cast<recycling_cache::block*>(memory);
    block->next = recycling.free[size_class];
    recycling.free[size_class] = block;
    ++recycling.count[size_class];
    return;
  }
  free_block(memory, size_class * recycling_cache::class_bytes);
#else
  ::operator delete(memory, std::align_val_t(recycling_cache::class_bytes));
#endif
}

/// Coroutine frames that this thread has made, less those it has destroyed: a simulation, which
/// is one thread, sees those that were forgotten.
inline constinit thread_local std::int64_t frames_alive = 0;

inline void* allocate_frame(std::size_t bytes) {
  void* const frame = recycling_allocate(bytes);
  ++frames_alive;
  return frame;
}
inline void free_frame(void* frame, std::size_t bytes) noexcept {
  --frames_alive;
  recycling_free(frame, bytes);
}

/// Base of a class whose objects, one by one, live in recycled blocks.
struct recycled {
  static void* operator new(std::size_t bytes) { return recycling_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycling_free(memory, bytes);
  }
};

}  // namespace troupe::detail

namespace troupe {

/// A standard allocator over the recycled blocks.
template <class T>
struct recycling_allocator {
  using value_type = T;

  recycling_allocator() = default;
  template <class U>
  recycling_allocator(const recycling_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= detail::recycling_cache::class_bytes,
                  "troupe: recycled memory is aligned to 64 bytes at most: use std::allocator, or "
                  "keep what is aligned to more behind a pointer");
    // Below half of all memory, so that nothing wraps around where a size is rounded up.
    if (n > std::numeric_limits<std::size_t>::max() / 2 / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(detail::recycling_allocate(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t n) noexcept {
    detail::recycling_free(memory, n * sizeof(T));
  }

  friend bool operator==(const recycling_allocator&, const recycling_allocator&) = default;
};

template <class T>
using recycled_vector = std::vector<T, recycling_allocator<T>>;

}  // namespace troupe
