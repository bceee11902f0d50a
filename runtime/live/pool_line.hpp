// pool_line.hpp - a line that a worker of a pool runs, or in its place a thread that would wait.
//
// While nothing is ready the worker looks around for about the time a wake-up costs, and then
// sleeps. If somebody who takes part has waited for this runtime lately it dozes: whoever waits
// next may borrow the line (stand_in.hpp), and no thread is woken for a few short steps. The worker
// looks after a line that is lent: after a millisecond or two it calls it back, and has it as soon
// as the step has ended that is being taken.
//
// Threading: run() by its worker; take_turn() and give_back() by who has borrowed it; the rest by
// anybody.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "runtime/live/line.hpp"

namespace troupe::detail {

/// A wake-up of a parked thread costs 10 to 20 us: wait that long before parking, no longer.
constexpr std::chrono::microseconds patience{15};

class pool_line final : public line {
 public:
  /// `waits`: counts how often somebody has waited who takes part; outlives the line.
  pool_line(std::size_t index, std::size_t lines, runtime_state& home,
            const std::atomic<std::uint64_t>& waits);

  /// A worker's life.
  void run() noexcept;

  /// Lets run() return, soon.
  void end() noexcept;

  enum class turn : std::uint8_t { took_steps, found_none, over };

  /// Takes some steps, until `done`, for who has borrowed the line. Over: it is lent no more.
  turn take_turn(const std::atomic<bool>& done) noexcept;

  /// Ends the loan. What is still ready is the worker's.
  void give_back() noexcept;

  void hurry() noexcept override;

 private:
  /// Where its worker is: up, which it also is as soon as it has been called; asleep until it is
  /// called, but for one look at its queues; or looking up now and then.
  enum class bed : std::uint8_t { none, deep, light };

  void work() noexcept;
  bool something_comes() noexcept;
  bool waited_for_lately() noexcept;
  void sleep() noexcept;
  bool look_after() noexcept;
  bool wake() noexcept override;

  const std::atomic<std::uint64_t>& waits_;
  std::uint64_t waits_seen_ = 0;  // These two are the worker's.
  int dozes_left_ = 0;
  const bool looks_around_;
  std::atomic<bool> ending_{false};

  std::mutex park_;  // After draining_, if both, which may be tried with it.
  std::condition_variable woken_;
  bed bed_ = bed::none;  // With park_; so are the loans, and that the line becomes lent.
  std::uint64_t loans_ = 0;
  std::uint64_t loans_seen_ = 0;
};

}  // namespace troupe::detail
