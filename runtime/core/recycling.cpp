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
  bool trades = false;  // One thread has fetched what another had brought.

  /// Blocks that the heap made and has not got back. When they are many, slabs make the rest.
  std::size_t from_heap = 0;
  slabs huge;
};

constinit std::array<depot, recycling_cache::classes> depots{};

/// So much of a class comes from the heap before slabs begin: whose pages one may walk.
constexpr std::size_t heap_bytes_max = std::size_t{4} << 20U;

/// Under the depot's lock.
void free_one(depot& home, recycling_cache::block* block) noexcept {
  if (home.huge.give_back(block)) return;
  --home.from_heap;
  ::operator delete(block);
}

void free_list(recycling_cache::block* list, std::size_t size_class) noexcept {
  if (!list) return;
  depot& home = depots[size_class];
  const std::lock_guard lock(home.mutex);
  while (list) {
    free_one(home, std::exchange(list, list->next));
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

/// For a thread that has none left. Under the lock of the depot, which has none either; false if
/// the heap is to make one.
bool make_blocks(depot& from, std::size_t size_class, bool keeps) noexcept {
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
    if (!keeps || from.count == 0) return make_blocks(from, size_class, keeps);
    from.trades = true;
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
