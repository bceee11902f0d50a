#include "bench/harness/neighbour.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <system_error>

namespace troupe::bench {

namespace {

// The last of those this program may use: the first has the system's interrupts.
std::size_t last_processor() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) {
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  }
  std::size_t last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(last, &usable)) --last;
  return last;
}

void pin(std::thread& thread, std::size_t processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  const int failure = pthread_setaffinity_np(thread.native_handle(), sizeof only, &only);
  if (failure != 0) {
    throw std::system_error(failure, std::generic_category(), "pthread_setaffinity_np");
  }
}

}  // namespace

busy_neighbour::busy_neighbour() {
  const std::size_t processor = last_processor();
  thread_ = std::thread([this] { be_busy(); });
  try {
    pin(thread_, processor);
  } catch (...) {
    leaving_.store(true);
    thread_.join();
    throw;
  }
  busy_.wait(false);
}

busy_neighbour::~busy_neighbour() {
  leaving_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void busy_neighbour::be_busy() noexcept {
  busy_.store(true);
  busy_.notify_one();
  while (!leaving_.load(std::memory_order_relaxed)) {
  }
}

}  // namespace troupe::bench
