// slabs.cpp - finding the slab of a block, and room for more of them.

#include "runtime/core/slabs.hpp"

#include <algorithm>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace troupe::detail {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;  // Of most machines.

/// So much of a size lies in small slabs, whose pages one may walk.
constexpr std::size_t small_slabs_max = std::size_t{4} << 20U;

constexpr std::align_val_t small_slab_alignment{recycling_cache::class_bytes};

}  // namespace

void* allocate_huge(std::size_t bytes) noexcept {
  void* const memory = ::operator new(bytes, std::align_val_t(huge_page), std::nothrow);
#if defined(__linux__)
  // Advice: where it is not heeded the pages are small ones.
  if (memory) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
#endif
  return memory;
}

void free_huge(void* memory) noexcept { ::operator delete(memory, std::align_val_t(huge_page)); }

recycling_cache::block* slabs::take(std::size_t block_bytes, std::uint32_t& taken) noexcept {
  taken = 0;
  slab* const from = one_with_room(block_bytes);
  if (!from) return nullptr;
  recycling_cache::block* first = nullptr;
  recycling_cache::block** end = &first;
  for (; taken < recycling_cache::batch_blocks; ++taken) {
    if (from->returned) {
      *end = std::exchange(from->returned, from->returned->next);
    } else if (from->fresh + block_bytes <= from->end) {
      *end = new (std::exchange(from->fresh, from->fresh + block_bytes)) recycling_cache::block;
    } else {
      break;
    }
    end = &(*end)->next;
  }
  *end = nullptr;
  from->in_use += taken;
  return first;
}

bool slabs::give_back(void* memory) noexcept {
  slab* const home = find(memory);
  if (!home) return false;
  home->returned = new (memory) recycling_cache::block{home->returned};
  if (--home->in_use == 0) {
    bytes_ -= static_cast<std::size_t>(home->end - home->begin);
    free_memory(*home);
    std::move(home + 1, all_ + size_, home);
    --size_;
    latest_ = 0;
  }
  return true;
}

void slabs::free_memory(const slab& s) noexcept {
  if (s.small) {
    ::operator delete(s.begin, small_slab_alignment);
  } else {
    free_huge(s.begin);
  }
}

slabs::slab* slabs::find(const void* memory) noexcept {
  const auto* const at = static_cast<const std::byte*>(memory);
  slab* const after = std::upper_bound(
      all_, all_ + size_, at, [](const std::byte* m, const slab& s) { return m < s.begin; });
  if (after == all_) return nullptr;
  slab* const found = after - 1;
  return at < found->end ? found : nullptr;
}

slabs::slab* slabs::one_with_room(std::size_t block_bytes) noexcept {
  const auto has_room = [&](const slab& s) { return s.returned || s.fresh + block_bytes <= s.end; };
  if (latest_ < size_ && has_room(all_[latest_])) return all_ + latest_;
  slab* const end = all_ + size_;
  slab* found = std::find_if(all_, end, has_room);
  if (found == end) found = add(block_bytes);
  if (found) latest_ = static_cast<std::size_t>(found - all_);
  return found;
}

slabs::slab* slabs::add(std::size_t block_bytes) noexcept {
  if (size_ == capacity_) {
    const std::size_t more = std::max<std::size_t>(2 * capacity_, 16);
    auto* const larger = static_cast<slab*>(::operator new(more * sizeof(slab), std::nothrow));
    if (!larger) return nullptr;
    std::copy(all_, all_ + size_, larger);
    ::operator delete(std::exchange(all_, larger));
    capacity_ = more;
  }
  const bool small = bytes_ < small_slabs_max;
  const std::size_t bytes = small ? block_bytes * recycling_cache::batch_blocks : huge_page;
  auto* const begin = static_cast<std::byte*>(
      small ? ::operator new(bytes, small_slab_alignment, std::nothrow) : allocate_huge(bytes));
  if (!begin) return nullptr;
  bytes_ += bytes;
  slab* const place = std::lower_bound(all_, all_ + size_, begin,
                                       [](const slab& s, std::byte* m) { return s.begin < m; });
  std::move_backward(place, all_ + size_, all_ + size_ + 1);
  *place = slab{begin, begin + bytes, begin, nullptr, 0, small};
  ++size_;
  return place;
}

}  // namespace troupe::detail
