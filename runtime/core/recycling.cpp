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

/// Batches of blocks that one thread had too many of. Constant initialised and never
/// destroyed: threads may end after everything else has.
struct depot {
  static constexpr std::size_t batches =
      recycling_cache::cached_blocks / recycling_cache::batch_blocks;
  std::mutex mutex;
  std::array<recycling_cache::block*, batches> full{};
  std::size_t count = 0;
  bool trades = false;  // One thread has fetched what another had brought.

  /// Blocks that the heap made and has not got back. When they are many, slabs make the rest.
  std::size_t from_heap = 0;
  slabs huge;
};

constinit std::array<depot, recycling_cache::classes> depots{};

/// So much of a class comes from the heap before slabs begin: whose pages one may walk.
constexpr std::size_t heap_bytes_max = std::size_t{4} << 20U;

void free_list(recycling_cache::block* list, std::size_t size_class) noexcept {
  if (!list) return;
  depot& home = depots[size_class];
  const std::lock_guard lock(home.mutex);
  while (list) {
    auto* const next = list->next;
    if (!home.huge.give_back(list)) {
      --home.from_heap;
      ::operator delete(list);
    }
    list = next;
  }
}

/// Between threads that trade, a full cache and what is under way must exist before nobody runs
/// dry any more. A batch at a time gets there at once, a block at a time on some rare day.
bool make_batch(depot& from, std::size_t size_class) noexcept {
  for (std::uint32_t i = 0; i < recycling_cache::batch_blocks; ++i) {
    void* const memory = ::operator new(size_class * recycling_cache::class_bytes, std::nothrow);
    if (!memory) break;
    ++from.from_heap;
    auto* const block = static_cast<recycling_cache::block*>(memory);
    block->next = std::exchange(recycling.free[size_class], block);
    ++recycling.count[size_class];
  }
  return recycling.free[size_class] != nullptr;
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
  const std::lock_guard lock(from.mutex);
  if (keeps && from.count != 0) {
    from.trades = true;
    recycling.free[size_class] = from.full[--from.count];
    recycling.count[size_class] = recycling_cache::batch_blocks;
    return true;
  }
  const std::size_t bytes = size_class * recycling_cache::class_bytes;
  if (keeps && from.from_heap * bytes >= heap_bytes_max) {
    auto& taken = recycling.count[size_class];
    recycling.free[size_class] = from.huge.take(bytes, recycling_cache::batch_blocks, taken);
    if (taken != 0) return true;
  }
  if (keeps && from.trades) return make_batch(from, size_class);
  ++from.from_heap;  // The caller's next step.
  return false;
}

void free_block(void* memory, std::size_t bytes) noexcept {
  const auto size_class = (bytes + recycling_cache::class_bytes - 1) / recycling_cache::class_bytes;
  if (size_class < recycling_cache::classes) {
    free_list(new (memory) recycling_cache::block{nullptr}, size_class);
  } else if (bytes >= huge_bytes) {
    free_huge(memory);
  } else {
    ::operator delete(memory);
  }
}

void* allocate_block(std::size_t bytes) {
  if (bytes < huge_bytes) return ::operator new(bytes);
  void* const memory = allocate_huge(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void bring_batch(std::size_t size_class) noexcept {
  recycling_cache::block* const first = recycling.free[size_class];
  recycling_cache::block* last = first;
  for (std::uint32_t i = 1; i < recycling_cache::batch_blocks; ++i) last = last->next;
  recycling.free[size_class] = std::exchange(last->next, nullptr);
  recycling.count[size_class] -= recycling_cache::batch_blocks;
  depot& to = depots[size_class];
  {
    const std::lock_guard lock(to.mutex);
    if (to.count < depot::batches) {
      to.full[to.count++] = first;
      return;
    }
  }
  free_list(first, size_class);
}

}  // namespace troupe::detail
