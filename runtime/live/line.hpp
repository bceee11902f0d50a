// line.hpp - a live scheduler: a serial line of execution that any thread may post to.
//
// `claimed`: somebody runs the line or was asked to. `idle`: nobody does, and nothing waits;
// `parked`: the same, and its thread sleeps. Whoever turns another state into claimed owes
// the line one drain(); therefore it is run by one thread at a time, and is woken at most
// once for any number of posts.
//
// Threading: post() by anybody; drain() by the one who was woken or whose try_claim()
// succeeded.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/concurrent_queue.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

class line : public scheduler {
 public:
  /// `producers`: how many lines of this runtime may post to this one.
  line(std::size_t index, std::size_t producers, runtime_state& home);
  virtual ~line();

  bool try_claim() noexcept { return state_.exchange(claimed) != claimed; }

  /// The name under which Asio's completions run on this line.
  const party& asio_party() const noexcept { return asio_party_; }

  /// Runs what is ready. Returns when nothing is left, or, on a shared executor, after a
  /// fair share of steps: then it has asked for its next turn.
  /// `first` is taken before what others post meanwhile. \pre Claimed.
  void drain(event* first = nullptr) noexcept;

  /// Ends the line: what is queued and what is posted from now on is dropped. Waits for a
  /// drain() that is under way on another thread; one that is still to come does nothing.
  void close() noexcept;

  std::uint64_t wake_ups() const noexcept { return wake_ups_.load(std::memory_order_relaxed); }

 protected:
  void post_from_outside(ready_entry what) noexcept override;

  enum state : std::uint32_t { idle, parked, claimed };

  /// Arranges for one drain(), soon, not inside this call. `before` is what the state was;
  /// returns whether that woke anybody.
  virtual bool wake(state before) noexcept = 0;

  /// Steps after which others have their turn.
  virtual int fair_share() const noexcept = 0;

  alignas(64) std::atomic<std::uint32_t> state_{idle};

 private:
  bool take_inbox() noexcept;
  void drop_all() noexcept;

  party asio_party_{.kind = "asio"};
  concurrent_queue<ready_entry> inbox_;
  std::vector<queue_token> tokens_;  // Index = the posting line's.
  std::mutex draining_;              // Held by drain(); never waited for, but by close().
  std::atomic<int> posting_{0};      // Threads between looking at closed_ and having enqueued.
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> wake_ups_{0};
};

}  // namespace troupe::detail
