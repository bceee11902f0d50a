// line.cpp - how a live line passes between idle and claimed without losing a wake-up.

#include "runtime/live/line.hpp"

#include <algorithm>
#include <thread>

#include "troupe/core/contract.hpp"

namespace troupe::detail {

namespace {

constexpr std::size_t inbox_batch = 64;

/// How many steps of its own a line takes before it looks for other senders' events.
constexpr int own_steps = 256;

}  // namespace

line::line(std::size_t index, std::size_t producers, runtime_state& home) : scheduler(index, home) {
  asio_party_.on = this;
  tokens_.reserve(producers);
  for (std::size_t i = 0; i < producers; ++i) tokens_.emplace_back(inbox_);
}

line::~line() { drop_all(); }

void line::post_from_outside(ready_entry what) noexcept {
  // Pairs with close(): either it sees us here, or we see it closed.
  posting_.fetch_add(1);
  if (closed_.load()) {
    posting_.fetch_sub(1, std::memory_order_release);
    what.for_each([](event& e) { e.step(event::turn::drop); });
    return;
  }
  // Another line of this runtime has a token of its own; strangers share the rest.
  const scheduler* from = current_;
  // One, through the door for many: the queue hands blocks back by fences, which the thread
  // sanitizer does not see, and it exempts that door itself.
  const bool queued = from && &from->home() == &home()
                          ? inbox_.enqueue_bulk(tokens_[from->index()], &what, 1)
                          : inbox_.enqueue_bulk(&what, 1);
  TROUPE_ASSERT(queued);
  // Pairs with the exchange in drain(): either that one sees our event, or we see idle.
  const auto before = static_cast<state>(state_.exchange(claimed));
  if (before != claimed && wake(before)) wake_ups_.fetch_add(1, std::memory_order_relaxed);
  posting_.fetch_sub(1, std::memory_order_release);
}

bool line::take_inbox() noexcept {
  std::array<ready_entry, inbox_batch> batch;
  bool any = false;
  while (const std::size_t n = inbox_.try_dequeue_bulk(batch.data(), batch.size())) {
    for (std::size_t i = 0; i < n; ++i) ready_.push(batch[i]);
    any = true;
    if (n < batch.size()) break;
  }
  return any;
}

void line::drain(event* first) noexcept {
  const std::lock_guard lock(draining_);
  if (closed_.load(std::memory_order_acquire)) {
    drop_all();
    return;
  }
  scheduler* const outer = std::exchange(current_, this);
  if (first) ready_.push(ready_entry(*first));
  int left = fair_share();
  for (;;) {
    const int batch = std::min(left, own_steps);
    left -= batch - static_cast<int>(ready_.take_steps(static_cast<std::size_t>(batch)));
    if (closed_.load(std::memory_order_acquire)) drop_all();
    // Steps that make each other ready must not keep everybody else out for ever.
    if (take_inbox() || !ready_.empty()) {
      if (left > 0) continue;
      current_ = outer;
      wake(idle);  // Still claimed: the next drain() goes on here.
      return;
    }
    state_.exchange(idle);
    // A post between the last look and the exchange found the line claimed and woke nobody.
    if (inbox_.size_approx() == 0 || state_.exchange(claimed) == claimed) break;
  }
  current_ = outer;
}

void line::close() noexcept {
  closed_.store(true);
  while (posting_.load() != 0) std::this_thread::yield();
  if (current_ == this) {
    drop_all();  // Closed from one of its own steps.
    return;
  }
  const std::lock_guard lock(draining_);
  drop_all();
}

void line::drop_all() noexcept {
  take_inbox();
  while (event* const next = ready_.pop()) next->step(event::turn::drop);
}

}  // namespace troupe::detail
