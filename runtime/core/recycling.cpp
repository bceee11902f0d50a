// recycling.cpp - a thread's cache of blocks, and the depot between the threads.

#include "troupe/core/recycling.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include "runtime/core/slabs.hpp"

namespace troupe::detail {

namespace {

/// Blocks that go from thread to thread. As a list, each would have to come from the other one's
/// cache before it told where the next one is.
using batch = std::array<recycling_cache::block*, recycling_cache::batch_blocks>;

/// Batches of blocks that one thread had too many of. Constant initialised and never
/// destroyed: threads may end after everything else has.
struct depot {
  static constexpr std::size_t batches =
      recycling_cache::cached_blocks / recycling_cache::batch_blocks;
  std::mutex mutex;
  std::array<batch, batches> full{};
  std::size_t count = 0;
  slabs made;
};

constinit std::array<depot, recycling_cache::classes> depots{};

/// For what is not kept: memory of the heap that begins a line of cache; null if there is none. It
/// is made larger, and remembers in front of itself where it begins: operator new takes its time
/// over an alignment.
void* heap_block(std::size_t bytes) noexcept {
  constexpr std::size_t alignment = recycling_cache::class_bytes;
  auto* const begin = static_cast<std::byte*>(::operator new(bytes + alignment, std::nothrow));
  if (!begin) return nullptr;
  // At least one pointer further on: that is how operator new aligns.
  auto* const memory = begin + (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment);
  new (memory - sizeof(void*)) void*(begin);
  return memory;
}
void free_heap_block(void* memory) noexcept {
  auto* const before = static_cast<std::byte*>(memory) - sizeof(void*);
  ::operator delete(*std::launder(reinterpret_cast<void**>(before)));
}

/// Under the depot's lock.
void free_one(depot& home, recycling_cache::block* block) noexcept {
  if (!home.made.give_back(block)) free_heap_block(block);
}

void free_list(recycling_cache::block* list, std::size_t size_class) noexcept {
  if (!list) return;
  depot& home = depots[size_class];
  const std::lock_guard lock(home.mutex);
  while (list) {
    free_one(home, std::exchange(list, list->next));
  }
}

/// Returns the blocks when the thread ends. Touched only to open a cache: an object with
/// a destructor would put a guard before every access.
struct recycling_end {
  ~recycling_end() {
    recycling.state = recycling_cache::state::closed;
    for (std::size_t i = 0; i < recycling_cache::classes; ++i) {
      free_list(std::exchange(recycling.free[i], nullptr), i);
    }
  }
  bool armed = false;
};

thread_local recycling_end at_thread_end;

}  // namespace

bool open_recycling() noexcept {
  if (recycling.state == recycling_cache::state::closed) return false;
  at_thread_end.armed = true;
  recycling.state = recycling_cache::state::open;
  return true;
}

bool fetch_batch(std::size_t size_class) noexcept {
  depot& from = depots[size_class];
  const bool keeps = recycling.state == recycling_cache::state::open || open_recycling();
  batch fetched;
  {
    const std::lock_guard lock(from.mutex);
    if (!keeps) return false;
    if (from.count == 0) {
      // A batch, too: a cache that gets a block at a time runs dry again on some rare day.
      auto& count = recycling.count[size_class];
      recycling.free[size_class] = from.made.take(size_class * recycling_cache::class_bytes, count);
      return count != 0;
    }
    fetched = from.full[--from.count];
  }
  for (const auto* const each : fetched) __builtin_prefetch(each, 1);
  for (auto* const each : fetched) {
    each->next = std::exchange(recycling.free[size_class], each);
  }
  recycling.count[size_class] += recycling_cache::batch_blocks;
  return true;
}

void free_block(void* memory, std::size_t bytes) noexcept {
  const std::size_t size_class = recycling_cache::class_of(bytes);
  if (size_class < recycling_cache::classes) {
    free_list(new (memory) recycling_cache::block{nullptr}, size_class);
  } else if (bytes >= huge_bytes) {
    free_huge(memory);
  } else {
    free_heap_block(memory);
  }
}

void* allocate_block(std::size_t bytes) {
  void* const memory = bytes < huge_bytes ? heap_block(bytes) : allocate_huge(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void bring_batch(std::size_t size_class) noexcept {
  batch brought;
  for (auto*& each : brought) {
    each = recycling.free[size_class];
    recycling.free[size_class] = each->next;
  }
  recycling.count[size_class] -= recycling_cache::batch_blocks;
  depot& to = depots[size_class];
  const std::lock_guard lock(to.mutex);
  if (to.count < depot::batches) {
    to.full[to.count++] = brought;
    return;
  }
  for (auto* const each : brought) free_one(to, each);
}

}  // namespace troupe::detail
