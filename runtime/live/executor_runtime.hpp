// executor_runtime.hpp - the two live runtimes, and how ordinary threads wait for them.

#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "troupe/runtime/runtime_state.hpp"

namespace troupe::detail {

/// On somebody else's executor: one line, no thread.
std::shared_ptr<runtime_state> make_executor_runtime(asio::any_io_executor executor);

/// On threads of its own: one line each. `lends`: to those who wait.
std::shared_ptr<runtime_state> make_pool_runtime(std::size_t threads, bool lends);

/// Threads that sleep until a flag is set. The flag may go as soon as it is set; this
/// belongs to the runtime, which stays.
class waiters {
 public:
  void wait(const std::atomic<bool>& done);
  void finish(std::atomic<bool>& done) noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace troupe::detail
