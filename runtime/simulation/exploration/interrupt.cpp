// interrupt.cpp - one handler, however many explore at a time.

#include "runtime/simulation/exploration/interrupt.hpp"

#include <signal.h>

#include <atomic>
#include <mutex>

namespace troupe::detail {

namespace {

std::atomic<unsigned> interrupts{0};
static_assert(std::atomic<unsigned>::is_always_lock_free);  // A handler may touch nothing else.

void note_interrupt(int) { interrupts.fetch_add(1, std::memory_order_relaxed); }

std::mutex installing;
unsigned watching = 0;
struct sigaction replaced;

}  // namespace

interrupt_watch::interrupt_watch(bool wanted)
    : wanted_(wanted), before_(interrupts.load(std::memory_order_relaxed)) {
  if (!wanted_) return;
  const std::lock_guard lock(installing);
  if (watching++ > 0) return;
  struct sigaction ours = {};
  ours.sa_handler = note_interrupt;
  ours.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&ours.sa_mask);
  sigaction(SIGINT, &ours, &replaced);
  // Whoever was started to ignore it goes on doing so.
  if (replaced.sa_handler == SIG_IGN) sigaction(SIGINT, &replaced, nullptr);
}

interrupt_watch::~interrupt_watch() {
  if (!wanted_) return;
  const std::lock_guard lock(installing);
  if (--watching == 0) sigaction(SIGINT, &replaced, nullptr);
}

bool interrupt_watch::interrupted() const noexcept {
  return wanted_ && interrupts.load(std::memory_order_relaxed) != before_;
}

}  // namespace troupe::detail
