// pool_line.cpp - how a worker falls asleep, is woken, and lends its line.

#include "runtime/live/pool_line.hpp"

#include <limits>
#include <utility>

#include "runtime/live/stand_in.hpp"

namespace troupe::detail {

namespace {

/// How often a worker that dozes looks up, and how long it is lent to somebody who is slow.
constexpr auto doze = std::chrono::milliseconds(1);

/// So many dozes after the last wait for the runtime a worker sleeps until it is woken.
constexpr int dozes = 64;

/// Steps of a turn on a borrowed line: then the others that are borrowed have theirs.
constexpr int lent_steps = 64;

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

pool_line::pool_line(std::size_t index, std::size_t lines, runtime_state& home,
                     const std::atomic<std::uint64_t>& waits)
    : line(index, lines, home), waits_(waits), looks_around_(lines > 1) {
  state_.store(claimed);  // By the worker that is about to come.
}

void pool_line::run() noexcept {
  current_ = this;
  while (!ending_.load()) {
    work();
    sleep();
  }
  current_ = nullptr;
}

/// Until nothing comes any more and the line is left, or until it is closed. While it looks around
/// the line stays claimed: who posts writes to the queue and to nothing else.
void pool_line::work() noexcept {
  const std::lock_guard lock(draining_);
  while (!closed()) {
    int steps = std::numeric_limits<int>::max();
    if (run_ready(steps) || something_comes()) continue;
    if (leave(waited_for_lately() ? dozing : parked)) return;
  }
  state_.store(parked);  // There is nothing to come, but end().
}

bool pool_line::something_comes() noexcept {
  if (!looks_around_) return false;
  const auto until = std::chrono::steady_clock::now() + patience;
  do {
    for (int i = 0; i < 32; ++i) {
      if (anything_waits()) return true;
      pause_briefly();
    }
  } while (!closed() && std::chrono::steady_clock::now() < until);
  return false;
}

bool pool_line::waited_for_lately() noexcept {
  const std::uint64_t now = waits_.load(std::memory_order_relaxed);
  if (std::exchange(waits_seen_, now) != now) dozes_left_ = dozes;
  return dozes_left_ > 0 && dozes_left_-- > 0;
}

void pool_line::sleep() noexcept {
  std::unique_lock lock(park_);
  asleep_ = true;
  loans_seen_ = loans_;
  for (auto how = state_.load(); how != claimed && !ending_.load(); how = state_.load()) {
    if (how == parked) {
      woken_.wait(lock);
    } else if (woken_.wait_for(lock, doze) == std::cv_status::timeout) {
      look_after();
    }
  }
  asleep_ = false;
}

/// A worker has dozed once more. \pre park_ is held.
void pool_line::look_after() noexcept {
  std::uint32_t how = state_.load();
  if (how == dozing && !waited_for_lately()) {
    state_.compare_exchange_strong(how, parked);
  } else if (how == lent && loans_seen_ == loans_) {
    state_.compare_exchange_strong(how, claimed);
  }
  loans_seen_ = loans_;
}

bool pool_line::wake(state before) noexcept {
  {
    const std::lock_guard lock(park_);
    if (!asleep_) return false;  // On its way to bed: it will see that the line is claimed.
    if (before == dozing && stand_in::takes(*this)) {
      ++loans_;
      state_.store(lent);
      return false;
    }
  }
  woken_.notify_one();
  return true;
}

void pool_line::end() noexcept {
  ending_.store(true);
  {
    // It is asleep and hears us, or sees that it is ending before it falls asleep.
    const std::lock_guard lock(park_);
    state_.store(claimed);
  }
  woken_.notify_one();
}

pool_line::turn pool_line::take_turn() noexcept {
  const std::unique_lock lock(draining_, std::try_to_lock);
  if (!lock || state_.load() != lent) return turn::over;
  scheduler* const outer = std::exchange(current_, this);
  int steps = lent_steps;
  run_ready(steps);
  current_ = outer;
  return steps == lent_steps ? turn::found_none : turn::took_steps;
}

void pool_line::give_back() noexcept {
  const std::unique_lock lock(draining_, std::try_to_lock);
  if (!lock) return;  // Its worker has it, or it is being closed.
  {
    const std::lock_guard guard(park_);
    if (state_.load() != lent) return;
    if (ready_.empty() && leave(dozing)) return;
    state_.store(claimed);
  }
  woken_.notify_one();
}

void pool_line::hurry() noexcept {
  {
    const std::lock_guard lock(park_);
    std::uint32_t how = lent;
    if (!state_.compare_exchange_strong(how, claimed)) return;
  }
  woken_.notify_one();
}

}  // namespace troupe::detail
