// recycling.cpp - a thread's cache of blocks, and the depot between the threads.

#include "troupe/core/recycling.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

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
};

constinit std::array<depot, recycling_cache::classes> depots{};

void free_list(recycling_cache::block* list) noexcept {
  while (list) {
    auto* const next = list->next;
    ::operator delete(list);
    list = next;
  }
}

/// Between threads that trade, a full cache and what is under way must exist before nobody runs
/// dry any more. A batch at a time gets there at once, a block at a time on some rare day.
bool make_batch(std::size_t size_class) noexcept {
  for (std::uint32_t i = 0; i < recycling_cache::batch_blocks; ++i) {
    void* const memory = ::operator new(size_class * recycling_cache::class_bytes, std::nothrow);
    if (!memory) break;
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
    for (auto*& list : recycling.free) free_list(std::exchange(list, nullptr));
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
  if (recycling.state != recycling_cache::state::open && !open_recycling()) return false;
  depot& from = depots[size_class];
  {
    const std::lock_guard lock(from.mutex);
    if (from.count != 0) {
      from.trades = true;
      recycling.free[size_class] = from.full[--from.count];
      recycling.count[size_class] = recycling_cache::batch_blocks;
      return true;
    }
    if (!from.trades) return false;
  }
  return make_batch(size_class);
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
  free_list(first);
}

}  // namespace troupe::detail
