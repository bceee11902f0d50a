// pool_runtime.cpp - lines on the workers of a Taskflow executor.
//
// The pool is a Taskflow executor, so that reduce graphs and replicas share one set of
// threads. A line that becomes runnable is one asynchronous task of it; the worker that
// takes the task runs the line until nothing is left, looks around for about the time a
// wake-up costs, and only then lets go.

#include <chrono>
#include <memory>
#include <vector>

#include "runtime/function_executor.hpp"
#include "runtime/live/executor_runtime.hpp"
#include "runtime/live/line.hpp"
#include "runtime/taskflow.hpp"
#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

/// A wake-up of a parked thread costs 10 to 20 us: wait that long before parking, no longer.
constexpr auto patience = std::chrono::microseconds(15);

class pool_line final : public line {
 public:
  pool_line(std::size_t index, std::size_t lines, runtime_state& home, tf::Executor& workers)
      : line(index, lines, home), workers_(workers), lingers_(lines > 1) {}

 private:
  void wake() noexcept override {
    workers_.silent_async([this] { drain(); });
  }
  int fair_share() const noexcept override { return std::numeric_limits<int>::max(); }

  bool linger() noexcept override {
    if (!lingers_) return false;
    const auto until = std::chrono::steady_clock::now() + patience;
    do {
      for (int i = 0; i < 32; ++i) {
        if (something_came()) return true;
        __builtin_ia32_pause();
      }
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  tf::Executor& workers_;
  bool lingers_;
};

/// Functions posted to a pool's executor run on its first line.
class pool_context final : public function_context {
 public:
  explicit pool_context(line& first) { owner_.on = &first; }
  ~pool_context() {
    shutdown();
    destroy();
  }
  void submit(event& function) noexcept override { owner_.on->post(function); }
};

class pool_runtime final : public runtime_state {
 public:
  explicit pool_runtime(std::size_t threads) : workers_(threads) {
    for (std::size_t i = 0; i < threads; ++i) {
      add_line(*lines_.emplace_back(std::make_unique<pool_line>(i, threads, *this, workers_)));
    }
    context_ = std::make_unique<pool_context>(*lines_.front());
  }
  ~pool_runtime() override {
    close();
    context_.reset();
  }

  asio::any_io_executor executor() const override { return function_executor(*context_); }

  std::uint64_t wake_ups() const noexcept override {
    std::uint64_t sum = 0;
    for (const auto& line : lines_) sum += line->wake_ups();
    return sum;
  }
  std::uint64_t now() const noexcept override {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

  void run_until(event& first, const std::atomic<bool>& done) override {
    require_open();
    if (scheduler::current()) {
      throw error(errc::would_block, "block_on() called from inside a task, an actor or a replica",
                  "await the operation instead: co_await it");
    }
    first.owner().on->post(first);
    waiters_.wait(done);
  }
  void finish(std::atomic<bool>& done) noexcept override { waiters_.finish(done); }

  void close() noexcept override {
    if (!mark_closed()) return;
    for (const auto& line : lines_) line->close();
    workers_.wait_for_all();
    abandon_roots();
  }

 private:
  tf::Executor workers_;
  std::vector<std::unique_ptr<pool_line>> lines_;
  std::unique_ptr<pool_context> context_;
  waiters waiters_;
};

}  // namespace

std::shared_ptr<runtime_state> make_pool_runtime(std::size_t threads) {
  if (threads == 0) {
    throw error(errc::invalid_device, "a pool needs at least one thread",
                "write pool_size{1} or more, or pass an executor");
  }
  return std::make_shared<pool_runtime>(threads);
}

}  // namespace troupe::detail
