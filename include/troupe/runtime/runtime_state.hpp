// runtime_state.hpp - what a runtime shares with everything that runs on it.
//
// Strategies, actors and pending operations keep the state alive, so that none of them
// can outlive it; once it is closed they fail instead. Users meet it only as
// runtime::state().

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/small_vector.hpp"
#include "troupe/runtime/asio.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe {

class step_graph;

/// Something that waits on a runtime and must end with it: a run, an operation, an actor.
class root {
 public:
  root(const root&) = delete;
  root& operator=(const root&) = delete;

  /// Adds one line for each coroutine of this root that waits.
  virtual void describe(std::vector<std::string>& lines) const = 0;

  /// The runtime has ended: destroy all frames, fail what is awaited elsewhere.
  /// Nothing of this runtime runs during the call. May destroy *this.
  virtual void abandon() noexcept = 0;

 protected:
  root() = default;
  virtual ~root() = default;

 private:
  friend class runtime_state;
  root* before_ = nullptr;
  root* after_ = nullptr;
};

class runtime_state : public std::enable_shared_from_this<runtime_state> {
 public:
  /// Unless somebody says otherwise: below, handing out steps has cost more than a second thread
  /// wins, on the machines it was measured on.
  static constexpr std::size_t graph_pays_from = std::size_t{256} * 1024;

  runtime_state(const runtime_state&) = delete;
  runtime_state& operator=(const runtime_state&) = delete;
  virtual ~runtime_state() = default;

  std::size_t lines() const noexcept { return schedulers_.size(); }

  /// The line that number `i` of something runs on: they are dealt out in turn.
  scheduler& line(std::size_t i) const noexcept {
    const std::size_t n = schedulers_.size();
    if (i < n) return *schedulers_[i];
    // Most numbers are small, and a division of small numbers takes half as long.
    const bool small = (i | n) >> 32 == 0;
    return *schedulers_[small ? static_cast<std::uint32_t>(i) % static_cast<std::uint32_t>(n)
                              : i % n];
  }

  /// True when one thread runs all lines: then they are traced as one.
  virtual bool one_thread() const noexcept { return false; }

  /// Asio's system executor when the runtime's own has ended: a pool's with the runtime, any other
  /// with the context under it.
  virtual asio::any_io_executor executor() const = 0;
  virtual asio::execution_context& context() const = 0;

  /// Where the completions of Asio operations run that a task on `line` awaits: on that
  /// line, so that a completion and a cancellation never meet.
  virtual asio::any_io_executor completions_on(scheduler& line) const = 0;

  virtual std::uint64_t wake_ups() const noexcept { return 0; }

  /// Posts `first`, a root's that is on the list, and runs what can run, or sleeps, until somebody
  /// calls finish(done). \throws errc::would_block from inside this runtime, errc::deadlock when
  /// nothing can ever finish it.
  virtual void run_until(event& first, const std::atomic<bool>& done) = 0;

  /// Sets `done`, which may be gone as soon as it is set, and wakes its waiter.
  virtual void finish(std::atomic<bool>& done) noexcept = 0;

  /// Runs `graph`: here and now, then returns null; or elsewhere, then wakes `waiter` at
  /// the end and returns what must be kept until then.
  virtual std::shared_ptr<void> start(step_graph& graph, activity& waiter);

  /// How many bytes a reduction reads from which on it is a graph.
  std::size_t graph_from() const noexcept { return graph_from_; }
  /// \pre Nothing runs yet.
  void graph_from(std::size_t bytes) noexcept { graph_from_ = bytes; }

  /// Ends everything that runs here; see runtime.hpp, "closing".
  virtual void close() noexcept = 0;

  /// Nanoseconds since some start: real, or virtual.
  virtual std::uint64_t now() const noexcept = 0;

  /// A name for a new participant. Ids are in order of creation, hence deterministic
  /// when creation is; a retired id is the next one given.
  /// `line` counts modulo lines(); ~0 deals the party out by its id.
  party enroll(std::string_view kind, std::uint32_t index, std::size_t line);
  void retire(const party&) noexcept;

  /// False, and nothing done, once all that were on the list have been abandoned. Until then, also
  /// while the runtime ends, one that is on the list will be, or delists itself.
  /// \pre It is whole: that may be now.
  bool enlist(root&) noexcept;
  /// When it returns nobody will abandon it, nor is about to, but for the caller.
  void delist(root&) noexcept;
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// \throws errc::runtime_gone if the runtime has ended.
  void require_open() const;

  /// One line for each coroutine that waits, sorted. \pre Nothing runs at the moment.
  std::vector<std::string> waiting() const;
  /// Everybody's name; index = party::id.
  std::vector<std::string> participants() const;
  void trace(std::size_t events);
  recording traced() const;

 protected:
  /// `shared`: several threads may use it at once.
  explicit runtime_state(bool shared = true) noexcept : shared_(shared) {}

  /// Somebody has got a name.
  virtual void enrolled(const party&) {}

  void reserve_lines(std::size_t n) { schedulers_.reserve(n); }
  void add_line(scheduler& line) { schedulers_.push_back(&line); }
  /// False if it was closed already.
  bool mark_closed() noexcept { return !closed_.exchange(true); }
  void abandon_roots() noexcept;

 private:
  void unlink(root&) noexcept;
  std::unique_lock<std::mutex> lock() const {
    return shared_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }

  detail::small_vector<scheduler*, 4> schedulers_;
  const bool shared_;
  mutable std::mutex mutex_;  // Guards the list and the names; never held in callbacks.
  root* roots_ = nullptr;
  detail::small_vector<party, 16> names_;  // Index = party::id.
  detail::small_vector<std::uint32_t, 16> retired_;
  std::vector<std::unique_ptr<tracer>> tracers_;
  std::atomic<bool> closed_{false};
  std::recursive_mutex abandoning_;  // Held while a root is, which may delist itself and others.
  bool all_abandoned_ = false;       // Until then, what a last step makes is abandoned, too.
  std::size_t graph_from_ = graph_pays_from;
};

}  // namespace troupe
