// pool_line.cpp - how a worker falls asleep, is woken, and lends its line.

#include "runtime/live/pool_line.hpp"

#include <limits>
#include <utility>

#include "runtime/live/stand_in.hpp"
#include "troupe/core/activity.hpp"

namespace troupe::detail {

namespace {

/// How often a worker that dozes looks up. It calls a line back that was lent all the while.
constexpr auto doze = std::chrono::milliseconds(1);

/// After so many dozes or turns since the last wait a worker sleeps until it is woken.
constexpr int dozes = 64;

/// Steps of a turn on a borrowed line, after which the others that are borrowed have theirs; and
/// how many come before another look whether it has been called back.
constexpr int steps_of_turn = 64;
constexpr int steps_unseen = 8;

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
      if (take_inbox()) return true;
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
  loans_seen_ = loans_;
  bool sure = false;  // That it had nothing to do when it had slept for a while.
  for (auto how = state_.load(); how != claimed && !ending_.load(); how = state_.load()) {
    bed_ = how == parked ? bed::deep : bed::light;
    if (sure && how == parked) {
      woken_.wait(lock);
    } else if (woken_.wait_for(lock, doze) == std::cv_status::timeout) {
      sure = look_after() && how == parked;
    }
  }
  bed_ = bed::none;
}

/// A worker has slept for a while. True if it has seen that nothing waits. \pre park_ is held.
bool pool_line::look_after() noexcept {
  std::uint32_t how = state_.load();
  bool seen = false;
  // A line may have posted as this one fell asleep, and have been busy with a step since.
  if (how < claimed && draining_.try_lock()) {
    const std::lock_guard held(draining_, std::adopt_lock);
    seen = !anything_waits();
    if (!seen) state_.compare_exchange_strong(how, claimed);
  }
  if (how == dozing && !waited_for_lately()) {
    state_.compare_exchange_strong(how, parked);
  } else if (how == lent && loans_seen_ == loans_) {
    state_.compare_exchange_strong(how, claimed);
  }
  loans_seen_ = loans_;
  return seen;
}

bool pool_line::wake() noexcept {
  {
    const std::lock_guard lock(park_);
    // Who claimed the line may come here late: if the worker is up, or was up since, it has seen
    // that, and whatever the line is now, somebody else answers for it.
    if (bed_ == bed::none || state_.load() != claimed) return false;
    if (bed_ == bed::light && stand_in::takes(*this)) {
      ++loans_;
      state_.store(lent);
      return false;
    }
    bed_ = bed::none;
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
    bed_ = bed::none;
  }
  woken_.notify_one();
}

pool_line::turn pool_line::take_turn(const std::atomic<bool>& done) noexcept {
  if (state_.load() != lent) return turn::over;
  const std::unique_lock lock(draining_, std::try_to_lock);
  if (!lock) return turn::found_none;  // Whoever has it is about to leave.
  // What runs here is not the code that waits: it has neither its line nor its contexts.
  scheduler* const outer = std::exchange(current_, this);
  const void* const mode = std::exchange(activity::ambient_outside(), nullptr);
  bool any = false;
  for (int taken = 0; taken < steps_of_turn; taken += steps_unseen) {
    if (state_.load() != lent || done.load(std::memory_order_acquire)) break;
    int left = steps_unseen;
    const bool more = run_ready(left);
    any |= left != steps_unseen;
    if (!more) break;
  }
  activity::ambient_outside() = mode;
  current_ = outer;
  return any ? turn::took_steps : turn::found_none;
}

void pool_line::give_back() noexcept {
  const std::unique_lock lock(draining_, std::try_to_lock);
  if (!lock) {
    hurry();  // Unless its worker has it, nobody would look after it any more.
    return;
  }
  {
    const std::lock_guard guard(park_);
    if (state_.load() != lent) return;
    if (!ready_.empty()) {
      state_.store(claimed);
    } else if (leave(dozing)) {
      return;
    }
    bed_ = bed::none;
  }
  count_wake_up();
  woken_.notify_one();
}

void pool_line::hurry() noexcept {
  ring();  // It may have fallen asleep over what was posted.
  {
    const std::lock_guard lock(park_);
    std::uint32_t how = lent;
    state_.compare_exchange_strong(how, claimed);
    // Or whoever has claimed it has not come to wake() yet, where it would be lent.
    if (state_.load() != claimed || bed_ == bed::none) return;
    bed_ = bed::none;
  }
  count_wake_up();
  woken_.notify_one();
}

}  // namespace troupe::detail
