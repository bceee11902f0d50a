// stirred_heap.cpp - blocks of every size, given back in a drawn order.

#include "runtime/simulation/exploration/stirred_heap.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "runtime/simulation/policies.hpp"
#include "troupe/core/recycling.hpp"

namespace troupe::detail {

#if defined(TROUPE_RECYCLING_OFF)

// AddressSanitizer keeps freed memory back, and gives out new memory in the order of addresses.
stirred_heap::stirred_heap(std::uint64_t) {}

#else

namespace {

// Allocators keep small blocks at hand by their exact sizes, and find others by fit.
constexpr std::size_t blocks = 4;  // Of each size.
constexpr std::size_t small_step = 16, small_end = 1024;
constexpr std::size_t large_end = 8 * 1024;

template <class T>
void shuffle(std::vector<T>& all, seeded& dice) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[dice.below(i)]);
}

}  // namespace

stirred_heap::stirred_heap(std::uint64_t seed) {
  seeded dice(seed);
  std::size_t next = 0;
  for (std::size_t size = small_step; size <= large_end; size = next) {
    next = size < small_end ? size + small_step : size + size / 2;
    std::vector<std::unique_ptr<char[]>> loose;
    for (std::size_t i = 0; i < blocks; ++i) {
      loose.emplace_back(new char[size]);
      between_.emplace_back(new char[size]);
    }
    shuffle(loose, dice);
    for (auto& each : loose) each.reset();
  }
  // Coroutine frames and messages have their own.
  for (std::size_t i = 1; i < recycling_cache::classes; ++i) {
    const std::size_t size = i * recycling_cache::class_bytes;
    std::vector<void*> loose;
    for (std::size_t n = 0; n < blocks; ++n) loose.push_back(recycling_allocate(size));
    shuffle(loose, dice);
    for (void* each : loose) recycling_free(each, size);
  }
}

#endif

}  // namespace troupe::detail
