// scheduler.hpp - the seam: the only door between "runnable" and "running".
//
// A scheduler is one serial line of execution. Whatever can happen next is an event;
// an event belongs to a party (an actor, a replica, a barrier), and a party belongs to
// one line. Production and simulation run the same actors, barrier and strategies:
// they differ in the scheduler those post to, and nowhere else.
//
//   live        a line runs on any Asio executor, or on a worker of a pool, in the
//               order of posting;
//   simulation  one thread runs every line, in an order the exploration chooses.
//
// Guarantees
//   serial    steps of one line, hence of one party, never overlap;
//   deferred  post() never runs anything: a caller's invariants hold until it returns;
//   fifo      events that one party posts to another are taken in the order of posting;
//             nothing is promised between different senders;
//   steady    posting asks the heap for nothing once the queues have their size.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/activity.hpp"
#include "troupe/runtime/trace.hpp"

namespace troupe {

class runtime_state;
class scheduler;

/// Who acts: one serial participant, as schedules, traces and pictures name it.
struct party {
  std::string_view kind;  ///< "replica"; outlives the party.
  std::uint32_t index = 0;
  std::uint32_t id = 0;  ///< Unique in its runtime, in order of creation.
  scheduler* on = nullptr;
};

/// "replica/2".
std::string to_string(const party&);

/// One step that some party may take next. Intrusive: queues hold pointers.
class event {
 public:
  enum class turn : bool { take, drop };

  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Takes the step; with turn::drop, releases what the event owns instead, because
  /// the runtime has ended.
  void step(turn how = turn::take) noexcept { step_(*this, how); }
  const party& owner() const noexcept { return *owner_; }

 protected:
  using step_function = void (*)(event&, turn) noexcept;

  event(step_function taken, const party& owner) noexcept : step_(taken), owner_(&owner) {}
  ~event() = default;

 private:
  step_function step_;
  const party* owner_;
};

namespace detail {

/// A growing ring of pointers; touched by its line only.
class ready_ring {
 public:
  bool empty() const noexcept { return head_ == tail_; }
  void push(event& e) noexcept {
    if (tail_ - head_ == capacity_) grow(1);
    slots_[tail_++ & (capacity_ - 1)] = &e;
  }
  void push(std::span<event* const> batch) noexcept {
    if (capacity_ - (tail_ - head_) < batch.size()) grow(batch.size());
    if (batch.size() <= 8) {
      for (event* e : batch) slots_[tail_++ & (capacity_ - 1)] = e;
      return;
    }
    const std::size_t at = tail_ & (capacity_ - 1);
    const std::size_t before_wrap = std::min(batch.size(), capacity_ - at);
    std::copy_n(batch.data(), before_wrap, slots_.get() + at);
    std::copy_n(batch.data() + before_wrap, batch.size() - before_wrap, slots_.get());
    tail_ += batch.size();
  }
  event& pop() noexcept {
    // Frames of many replicas do not fit the cache: fetch what comes eight steps later.
    __builtin_prefetch(slots_[(head_ + 8) & (capacity_ - 1)]);
    return *slots_[head_++ & (capacity_ - 1)];
  }

 private:
  void grow(std::size_t more) noexcept;

  std::unique_ptr<event*[]> slots_;
  std::size_t capacity_ = 0;  // A power of two, or zero.
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace detail

class scheduler {
 public:
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// The line this thread runs right now, or null.
  static scheduler* current() noexcept { return current_; }

  /// Makes `e` runnable, from any thread. \pre `e` is not queued already.
  void post(event& e) noexcept {
    if (current_ == this) {
      ready_.push(e);
    } else {
      event* const single = &e;
      post_from_outside({&single, 1});
    }
  }

  /// The same for many, with at most one wake-up.
  void post(std::span<event* const> batch) noexcept {
    if (current_ == this) {
      ready_.push(batch);
    } else {
      post_from_outside(batch);
    }
  }

  /// Which of its runtime's lines this is.
  std::size_t index() const noexcept { return index_; }
  runtime_state& home() const noexcept { return home_; }

  /// In simulation: the schedule so far, as a string that replays it. Live: empty.
  virtual std::string replay_hint() const { return {}; }

  /// Records what happened, when somebody is listening.
  void trace(trace_kind kind, const party& who, place at = {}, std::uint64_t detail = 0) noexcept {
    if (tracer_) [[unlikely]]
      tracer_->record(kind, who.id, at, detail);
  }
  bool traced() const noexcept { return tracer_ != nullptr; }
  void trace_to(tracer* listener) noexcept { tracer_ = listener; }

 protected:
  scheduler(std::size_t index, runtime_state& home) noexcept : index_(index), home_(home) {}
  virtual ~scheduler() = default;

  virtual void post_from_outside(std::span<event* const> batch) noexcept = 0;

  static inline constinit thread_local scheduler* current_ = nullptr;

  detail::ready_ring ready_;

 private:
  tracer* tracer_ = nullptr;
  std::size_t index_;
  runtime_state& home_;
};

/// A logical task that a scheduler runs: posting it resumes it.
class routine : public event, public activity {
 public:
  explicit routine(const party& who) noexcept : event(&routine::run, who) {}

  void wake() noexcept final { owner().on->post(*this); }

 protected:
  /// For a routine that does more at a step than going on.
  routine(step_function step_taken, const party& who) noexcept : event(step_taken, who) {}
  ~routine() = default;

 private:
  static void run(event& self, turn how) noexcept {
    // A dropped routine is not owned by the queue: whoever owns it destroys its chain.
    if (how == turn::take) static_cast<routine&>(self).resume();
  }
};

}  // namespace troupe
