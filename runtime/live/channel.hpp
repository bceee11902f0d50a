// channel.hpp - the way from one line to another one: a queue with one writer and one reader.
//
// An entry is one store for the writer and one load for the reader, and eight of them share a
// line of cache, which is all that travels between two processors. The reader never writes what
// the writer reads: a slot tells by one bit in which lap of the ring it was filled.
//
// Guarantees
//   fifo      entries are taken in the order of pushing;
//   at once   what was pushed is there for the reader when the push returns;
//   steady    a ring that is full is followed by one of twice its size, which stays.
//
// Threading: push() by the writer; empty() and take() by the reader. Either may be another thread
// from one call to the next, if the calls are ordered.

#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

class channel {
 public:
  channel() noexcept = default;
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;
  ~channel();

  void push(ready_entry what) noexcept {
    if (tail_ == limit_) [[unlikely]]
      make_room();
    put(std::bit_cast<std::uintptr_t>(what));
  }

  bool empty() noexcept { return front() == 0; }

  /// Gives up to `most` entries to `to`; returns whether there was one.
  template <class F>
  bool take(std::size_t most, F&& to) {
    bool any = false;
    for (; most > 0; --most) {
      const std::uintptr_t next = front();
      if (next == 0) break;
      ++head_;
      to(std::bit_cast<ready_entry>(next & ~lap_bit));
      any = true;
    }
    if (any) taken_.store(head_, std::memory_order_release);
    return any;
  }

 private:
  // Entries are pointers to what is aligned to eight bytes, and use the lowest bit and the third.
  static constexpr std::uintptr_t lap_bit = 2;
  static constexpr std::uintptr_t moved = 4;  // A note of nothing: the next ring follows.

  struct ring {
    explicit ring(std::size_t size)
        : capacity(size), slots(std::make_unique<std::atomic<std::uintptr_t>[]>(size)) {}

    std::uintptr_t lap(std::size_t at) const noexcept { return (at & capacity) != 0 ? lap_bit : 0; }
    std::atomic<std::uintptr_t>& slot(std::size_t at) const noexcept {
      return slots[at & (capacity - 1)];
    }

    std::size_t capacity;  // A power of two.
    std::unique_ptr<std::atomic<std::uintptr_t>[]> slots;
    std::unique_ptr<ring> next;  // Published by `moved`.
  };

  void put(std::uintptr_t bits) noexcept {
    // Pairs with front().
    to_->slot(tail_).store(bits | to_->lap(tail_), std::memory_order_release);
    ++tail_;
  }
  void make_room() noexcept;

  /// The bits of the next slot if it has been filled, or zero.
  std::uintptr_t front() noexcept {
    if (!from_) {
      from_.reset(first_.load(std::memory_order_acquire));
      if (!from_) return 0;
    }
    const std::uintptr_t bits = from_->slot(head_).load(std::memory_order_acquire);
    if (bits == 0 || (bits & lap_bit) != from_->lap(head_)) return 0;
    if ((bits & ~lap_bit) == moved) [[unlikely]]
      return front_of_next();
    return bits;
  }
  std::uintptr_t front_of_next() noexcept;

  // Positions count on from ring to ring.
  // The writer's. At its limit it looks how far the reader has come.
  alignas(64) std::size_t tail_ = 0;
  std::size_t limit_ = 0;
  ring* to_ = nullptr;
  std::atomic<ring*> first_{nullptr};  // Until the reader has it.

  // The reader's.
  alignas(64) std::size_t head_ = 0;
  std::unique_ptr<ring> from_;
  std::atomic<std::size_t> taken_{0};  // Tells the writer which slots it may fill again.
};

}  // namespace troupe::detail
