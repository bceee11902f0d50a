// stand_in.hpp - a thread that waits for a pool, and meanwhile does what it would wait for.
//
// Waking a thread takes longer than most steps. While a stand_in is alive, lines of its runtime
// that this thread posts to, and whose workers doze, are lent to it instead of being woken.
//
// It takes whatever steps come there, also those of others, and cannot leave one that lasts: see
// pool_size::with_waiters().
//
// Guarantees
//   returned   what lasts is called back by the workers after a millisecond or two, also when a
//              step blocks until another line's has been taken;
//   no habit   when two lines had more to do than a wake-up takes, the next times it is the
//              workers that are asked, twice as many times with each such disappointment;
//   steady     it asks the heap for nothing.
//
// Threading: belongs to the thread that made it.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>

#include "runtime/live/pool_line.hpp"

namespace troupe::detail {

class stand_in {
 public:
  explicit stand_in(const runtime_state& home) noexcept;
  ~stand_in();
  stand_in(const stand_in&) = delete;
  stand_in& operator=(const stand_in&) = delete;

  /// Whether this thread stands in for the line's worker from now on.
  static bool takes(pool_line&) noexcept;

  /// Takes the borrowed lines' steps until `done`, or until for some time there have been none.
  void work(const std::atomic<bool>& done) noexcept;

  /// How many lines it had at once, at most, and how long it was at work on them.
  std::size_t lines() const noexcept { return most_; }
  std::chrono::nanoseconds busy() const noexcept { return busy_; }

 private:
  bool turn_on_each(const std::atomic<bool>& done) noexcept;

  static thread_local constinit stand_in* here_;

  const runtime_state& home_;
  std::array<pool_line*, 16> lines_{};  // Those of more workers are woken.
  std::size_t count_ = 0;
  std::size_t most_ = 0;
  std::chrono::nanoseconds busy_{0};
};

/// Whether to stand in, by what has come of it before. Its races cost a guess.
class stand_in_habit {
 public:
  bool advises() noexcept {
    const int left = pause_.load(std::memory_order_relaxed);
    if (left > 0) pause_.store(left - 1, std::memory_order_relaxed);
    return left <= 0;
  }
  void learn_from(const stand_in& one) noexcept {
    if (one.lines() == 0) return;
    // A single line's steps come one after the other in any case.
    const bool was_worth_it = one.lines() == 1 || one.busy() < 2 * patience;
    const int before = caution_.load(std::memory_order_relaxed);
    const int now = was_worth_it ? before / 2 : before < 512 ? 2 * before + 1 : before;
    caution_.store(now, std::memory_order_relaxed);
    if (!was_worth_it) pause_.store(now, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> pause_{0};    // So many waits without.
  std::atomic<int> caution_{0};  // The last such pause, halved with each success.
};

}  // namespace troupe::detail
