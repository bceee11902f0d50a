// line.hpp - a live scheduler: a serial line of execution that any thread may post to.
//
// Lines of one runtime post to each other through channels, strangers through one queue. Whoever
// has posted looks at the line's state:
//   claimed  somebody runs the line or will, and looks at all queues before it leaves;
//   lent     the same; it is not the line's own thread, which sleeps and looks after it;
//   idle     nobody does, and nothing waits;
//   parked   the same, and its thread sleeps;
//   dozing   the same, and it may be lent.
// Whoever turns idle, parked or dozing into claimed owes the line one turn; therefore it is run by
// one thread at a time, and is woken at most once for any number of posts. A line that is claimed
// or lent costs its senders no write to what they share.
//
// A line that posts to one that is claimed looks at the state before others are sure to see what it
// has queued, and again when it has taken some more steps, after a fence for all that it has
// posted meanwhile. So one may fall asleep over a post; the second look finds it.
//
// Threading: post() by anybody; drain() by the one who was woken or whose try_claim()
// succeeded. pool_line.hpp has its own ways to run a line.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/concurrent_queue.hpp"
#include "runtime/live/channel.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

class line : public scheduler {
 public:
  /// `lines`: how many this runtime has, each of which may post to all others.
  line(std::size_t index, std::size_t lines, runtime_state& home);
  virtual ~line();

  /// Its own thread runs it, or looks for what to run.
  bool awake() const noexcept { return state_.load(std::memory_order_relaxed) == claimed; }

  /// \pre It is never lent.
  bool try_claim() noexcept { return state_.exchange(claimed) != claimed; }

  /// What is posted must not wait for what its thread does elsewhere: whoever has borrowed the
  /// line returns it.
  virtual void hurry() noexcept {}

  /// The name under which Asio's completions run on this line.
  const party& asio_party() const noexcept { return asio_party_; }

  /// Runs what is ready. Returns when nothing is left, or, on a shared executor, after a
  /// fair share of steps: then it has asked for its next turn.
  /// `first` is taken before what others post meanwhile. \pre Claimed.
  void drain(event* first = nullptr) noexcept;

  /// Ends the line: what is queued is dropped, and what strangers post from now on as soon as the
  /// last step has ended. Waits for a drain() that is under way on another thread; one that is
  /// still to come does nothing. What other lines post stays queued: once they have ended, close()
  /// again.
  void close() noexcept;

  std::uint64_t wake_ups() const noexcept { return wake_ups_.load(std::memory_order_relaxed); }

 protected:
  void post_from_outside(ready_entry what) noexcept override;
  bool note_from_outside(event& e) noexcept override;

  enum state : std::uint32_t { idle, parked, dozing, claimed, lent };

  void count_wake_up() noexcept { wake_ups_.fetch_add(1, std::memory_order_relaxed); }

  /// Arranges for one turn, soon, not inside this call; returns whether that woke anybody.
  virtual bool wake() noexcept = 0;

  /// Takes up to `steps` steps, and counts them down; false if nothing is left.
  /// \pre Claimed, draining_ is held, and this is the thread's current line.
  bool run_ready(int& steps) noexcept;

  /// For who has posted: claims the line and has it woken, if nobody runs it.
  void ring() noexcept;

  /// Leaves the line as `how`. False if something came in meanwhile: then it is still claimed, and
  /// whose turn it is has not changed. \pre Claimed, draining_ is held.
  bool leave(state how) noexcept;

  /// Others have posted something. \pre draining_ is held.
  bool anything_waits() noexcept;
  /// The same, and now it is ready.
  bool take_inbox() noexcept;
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  // Read by all senders, written when somebody leaves.
  alignas(64) std::atomic<std::uint32_t> state_;

 private:
  void post_from_stranger(ready_entry what) noexcept;
  void ring_after_fence() noexcept;
  void look_again_at(line& to) noexcept;
  void look_again() noexcept;
  void drop_for_good() noexcept;
  void drop_all() noexcept;

  std::atomic<bool> closed_{false};
  std::atomic<bool> ended_{false};  // Closed, and no step is under way.
  std::vector<channel> channels_;   // Index = the posting line's.
  std::uint64_t posted_to_ = 0;     // Lines to look at again: a bit each.
  party asio_party_{.kind = "asio"};

  alignas(64) concurrent_queue<ready_entry> inbox_;  // From strangers.
  std::atomic<int> posting_{0};  // Strangers between looking at ended_ and having enqueued.
  std::atomic<std::uint64_t> wake_ups_{0};

 protected:
  /// Held by whoever runs the line; waited for by close(), and by a worker whose line is out.
  alignas(64) std::mutex draining_;
};

}  // namespace troupe::detail
