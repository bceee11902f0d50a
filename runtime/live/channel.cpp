// channel.cpp - the rare ends of a channel's rings.

#include "runtime/live/channel.hpp"

#include <utility>

namespace troupe::detail {

namespace {

constexpr std::size_t first_capacity = 64;

}  // namespace

channel::~channel() {
  if (!from_) from_.reset(first_.load(std::memory_order_acquire));
}

void channel::make_room() noexcept {
  if (to_) {
    // One slot is kept for `moved`. Pairs with take(): it has read what we write over.
    limit_ = taken_.load(std::memory_order_acquire) + to_->capacity - 1;
    if (tail_ < limit_) return;
  }
  const std::size_t capacity = to_ ? to_->capacity * 2 : first_capacity;
  auto larger = std::make_unique<ring>(capacity);  // A queue of pointers: if it does not fit,
  ring* const next = larger.get();                 // nothing else would.
  if (to_) {
    to_->next = std::move(larger);
    put(moved);
  } else {
    first_.store(larger.release(), std::memory_order_release);
  }
  to_ = next;
  limit_ = tail_ + capacity - 1;
}

std::uintptr_t channel::front_of_next() noexcept {
  ++head_;
  from_ = std::exchange(from_->next, nullptr);
  taken_.store(head_, std::memory_order_release);
  return front();
}

}  // namespace troupe::detail
