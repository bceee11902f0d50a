// line.cpp - how a live line passes between idle and claimed without losing a wake-up.

#include "runtime/live/line.hpp"

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "troupe/core/contract.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t inbox_batch = 64;

/// How many steps of its own a line takes before it looks for other senders' events.
constexpr int own_steps = 256;

/// How many steps one drain() takes before others on the same executor have their turn.
constexpr int fair_share = 4096;

}  // namespace

line::line(std::size_t index, std::size_t lines, runtime_state& home)
    : scheduler(index, home), state_(idle), channels_(lines > 1 ? lines : 0) {
  asio_party_.on = this;
}

line::~line() { drop_all(); }

void line::post_from_outside(ready_entry what) noexcept {
  scheduler* const from = current_;
  if (!from || &from->home() != &home()) {
    post_from_stranger(what);
    return;
  }
  channels_[from->index()].push(what);
  if (state_.load(std::memory_order_relaxed) >= claimed) [[likely]] {
    static_cast<line*>(from)->look_again_at(*this);
  } else {
    ring();
  }
}

bool line::note_from_outside(event& e) noexcept {
  if (state_.load(std::memory_order_relaxed) < claimed) return false;
  post_from_outside(ready_entry::note(e));
  return true;
}

void line::post_from_stranger(ready_entry what) noexcept {
  // Pairs with close(): either it sees us here, or we see that it has ended.
  posting_.fetch_add(1);
  if (ended_.load()) {
    posting_.fetch_sub(1, std::memory_order_release);
    what.for_each([](event& e) { e.step(event::turn::drop); });
    return;
  }
  // One, through the door for many: the queue hands blocks back by fences, which the thread
  // sanitizer does not see, and it exempts that door itself.
  const bool queued = inbox_.enqueue_bulk(&what, 1);
  TROUPE_ASSERT(queued);
  if (!closed()) ring();  // Once it is, there may be no executor any more.
  posting_.fetch_sub(1, std::memory_order_release);
}

void line::ring() noexcept {
  // Pairs with the fence in leave(): of two fences one comes first. If ours does, leave() sees
  // what we have queued; if its own does, we see that nobody runs the line.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  ring_after_fence();
}

void line::ring_after_fence() noexcept {
  std::uint32_t before = state_.load(std::memory_order_relaxed);
  do {
    if (before >= claimed) return;
  } while (!state_.compare_exchange_weak(before, claimed));
  if (wake()) count_wake_up();
}

void line::look_again_at(line& to) noexcept {
  if (to.index() < 64) {
    posted_to_ |= std::uint64_t{1} << to.index();
  } else {
    to.ring();
  }
}

void line::look_again() noexcept {
  if (posted_to_ == 0) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // As in ring().
  for (auto left = std::exchange(posted_to_, 0); left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    static_cast<line&>(home().line(i)).ring_after_fence();
  }
}

bool line::leave(state how) noexcept {
  look_again();
  state_.store(how);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (closed() || !anything_waits()) return true;
  // Whoever was faster to claim it has woken somebody.
  return state_.exchange(claimed) == claimed;
}

bool line::anything_waits() noexcept {
  for (channel& from : channels_) {
    if (!from.empty()) return true;
  }
  return inbox_.size_approx() != 0;
}

bool line::take_inbox() noexcept {
  bool any = false;
  // A step of the batch finds its event in the nearest cache, or on the way there.
  const auto take = [&](ready_entry e) {
    any = true;
    if (e.is_note()) {
      e.noted().step(closed() ? event::turn::drop : event::turn::take);
      return;
    }
    __builtin_prefetch(e.is_row() ? static_cast<const void*>(&e.row()) : &e.one(), 1);
    ready_.push(e);
  };
  for (channel& from : channels_) from.take(inbox_batch, take);
  if (inbox_.size_approx() == 0) return any;
  std::array<ready_entry, inbox_batch> batch;
  const std::size_t n = inbox_.try_dequeue_bulk(batch.data(), batch.size());
  for (std::size_t i = 0; i < n; ++i) take(batch[i]);
  return any;
}

bool line::run_ready(int& steps) noexcept {
  for (;;) {
    const int batch = std::min(steps, own_steps);
    steps -= batch - static_cast<int>(ready_.take_steps(static_cast<std::size_t>(batch)));
    look_again();
    if (closed()) {
      drop_for_good();
      return false;
    }
    // Steps that make each other ready must not keep everybody else out for ever.
    if (!take_inbox() && ready_.empty()) return false;
    if (steps == 0) {
      look_again();  // What was noted may have posted, too.
      return true;
    }
  }
}

void line::drain(event* first) noexcept {
  const std::lock_guard lock(draining_);
  if (closed()) {
    drop_for_good();
    return;
  }
  scheduler* const outer = std::exchange(current_, this);
  if (first) ready_.push(ready_entry(*first));
  int left = fair_share;
  bool more = run_ready(left);
  while (!more && !leave(idle)) more = run_ready(left);
  current_ = outer;
  if (more) wake();  // Still claimed: the next drain() goes on here.
}

void line::close() noexcept {
  closed_.store(true);
  if (current_ == this) {
    drop_all();  // Closed from one of its own steps, with which it ends.
    return;
  }
  const std::lock_guard lock(draining_);
  drop_for_good();
}

void line::drop_for_good() noexcept {
  ended_.store(true);
  while (posting_.load() != 0) std::this_thread::yield();
  drop_all();
}

void line::drop_all() noexcept {
  ready_.end();
  while (take_inbox()) {
  }
  while (event* const next = ready_.pop()) next->step(event::turn::drop);
}

}  // namespace troupe::detail
