// slabs.hpp - blocks of one size, carved from larger pieces of memory.
//
// Blocks lie close together and begin lines of cache. The first slabs of a size are a batch of
// blocks each. A hundred thousand frames in such would lie in ten thousand pages, and walking them
// would be waiting for address translation: from some megabytes on a slab is one huge page, where
// the system has those. It is given back when the last of its blocks is.
//
// Threading: none; whoever owns it has a lock.

#pragma once

#include <cstddef>
#include <cstdint>

#include "troupe/core/recycling.hpp"

namespace troupe::detail {

/// Memory for `bytes`, in huge pages where the system has them; null if there is none.
void* allocate_huge(std::size_t bytes) noexcept;
void free_huge(void* memory) noexcept;

/// Constant initialised and never destroyed, like what it belongs to.
class slabs {
 public:
  /// At most a batch of blocks as a list in the order of addresses, and how many they are; null
  /// and none if there is no memory.
  recycling_cache::block* take(std::size_t block_bytes, std::uint32_t& taken) noexcept;

  /// False if `memory` is not of a slab; otherwise it is back.
  bool give_back(void* memory) noexcept;

 private:
  struct slab {
    std::byte* begin;
    std::byte* end;
    std::byte* fresh;  ///< From here on nothing was ever handed out.
    recycling_cache::block* returned;
    std::uint32_t in_use;
    bool small;  ///< Not a huge page.
  };

  slab* find(const void* memory) noexcept;
  slab* one_with_room(std::size_t block_bytes) noexcept;
  slab* add(std::size_t block_bytes) noexcept;
  static void free_memory(const slab& s) noexcept;

  slab* all_ = nullptr;  // In the order of addresses.
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::size_t latest_ = 0;  // The one that had room last.
  std::size_t bytes_ = 0;   // Of all.
};

}  // namespace troupe::detail
