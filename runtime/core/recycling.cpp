// recycling.cpp - opening and closing a thread's cache of blocks.

#include "troupe/core/recycling.hpp"

namespace troupe::detail {

namespace {

/// Returns the blocks when the thread ends. Touched only to open a cache: an object with
/// a destructor would put a guard before every access.
struct recycling_end {
  ~recycling_end() {
    recycling.state = recycling_cache::state::closed;
    for (auto*& list : recycling.free) {
      while (auto* block = list) {
        list = block->next;
        ::operator delete(block);
      }
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

}  // namespace troupe::detail
