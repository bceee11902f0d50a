// runtime.hpp - where replicas and actors run.
//
//     asio::io_context io;
//     runtime rt{io.get_executor()};     // no thread of its own: io's are enough
//     runtime rt{pool_size{2}};          // brings a pool of two threads
//
// On an executor a runtime is one line of execution, like a strand: at most one thread
// of the executor runs it at a time. A pool has one line a thread; replicas are dealt
// out to the lines in turn.
//
// Guarantees
//   quiet     runtime{executor} starts no thread and keeps no global state;
//   closing   destroying a runtime, or the execution context under it, ends everything
//             that still runs on it: what was awaited elsewhere fails with
//             errc::runtime_gone, every coroutine frame is destroyed once;
//   counted   wake_ups() tells how often a sleeping thread or an executor was woken.
//
// Threading: the constructor and destructor are for one thread, not inside of what runs here:
// a task would destroy its own frame, and a pool wait for its own thread for ever; everything else
// is for any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "troupe/runtime/asio.hpp"
#include "troupe/runtime/runtime_state.hpp"
#include "troupe/runtime/trace.hpp"

namespace troupe {

/// A number of threads, from one to most_threads; of any other the runtime's constructor throws
/// errc::invalid_device.
struct pool_size {
  /// Every line has a channel from each other, and a negative number is a very large one.
  static constexpr std::size_t most_threads = 1024;

  /// \param from_bytes How much a reduction reads before the threads share it as a graph of steps;
  ///        less is done by the one that is there. Which of them wins depends on the machine:
  ///        `bench/run --only D2` says where. The bits are the same. 0: all are shared, the
  ///        greatest number: none.
  explicit constexpr pool_size(std::size_t n,
                               std::size_t from_bytes = runtime_state::graph_pays_from) noexcept
      : threads(n), graph_from(from_bytes) {}

  /// Threads that wait in block_on() take part: while the pool's sleep they take its steps,
  /// instead of waking two threads for a microsecond's work. Any steps, also those of others: who
  /// waits must hold no lock that a step asks for, nor owe it anything else, and may have to see a
  /// step through that lasts. What comes after that one is the pool's within milliseconds.
  constexpr pool_size with_waiters() const noexcept {
    pool_size same = *this;
    same.waiters = true;
    return same;
  }

  std::size_t threads;
  std::size_t graph_from;
  bool waiters = false;
};

class runtime {
 public:
  using executor_type = asio::any_io_executor;

  /// Runs on `executor`: an io_context's, a strand, a thread pool's, your own.
  /// \throws errc::invalid_device if the executor is empty.
  explicit runtime(asio::any_io_executor executor);

  /// Brings `size` threads, named lines 0 … size - 1.
  explicit runtime(pool_size size);

  /// A handle on an existing runtime: a simulated world's.
  explicit runtime(std::shared_ptr<runtime_state> state) noexcept : state_(std::move(state)) {}

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime();

  /// Executes functions where this runtime runs. Timers made on it work everywhere.
  asio::any_io_executor get_executor() const { return state_->executor(); }

  /// The number of lines of execution: 1, or the pool's size.
  std::size_t lines() const noexcept { return state_->lines(); }

  /// Times a parked thread, or the executor, was asked to run a line.
  std::uint64_t wake_ups() const noexcept { return state_->wake_ups(); }

  /// Starts recording the latest `events` events of each line; 0 stops.
  /// \pre Nothing runs on this runtime yet.
  void trace(std::size_t events) { state_->trace(events); }

  /// What was recorded. \pre Nothing runs at the moment.
  recording traced() const { return state_->traced(); }

  /// One line for each coroutine that waits: who, for what, where.
  std::vector<std::string> waiting() const { return state_->waiting(); }

  const std::shared_ptr<runtime_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<runtime_state> state_;
};

}  // namespace troupe
