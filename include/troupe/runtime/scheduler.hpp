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
//             nothing is promised between different senders, nor for conclusions;
//   steady    posting asks the heap for nothing once the queues have their size.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "troupe/core/activity.hpp"
#include "troupe/core/event.hpp"
#include "troupe/runtime/trace.hpp"

namespace troupe {

class runtime_state;

class scheduler {
 public:
  scheduler(const scheduler&) = delete;
  scheduler& operator=(const scheduler&) = delete;

  /// The line this thread runs right now, or null.
  static scheduler* current() noexcept { return current_; }

  /// Makes `e` runnable, from any thread. \pre `e` is not queued already.
  void post(event& e) noexcept { post(detail::ready_entry(e)); }

  /// The same for what comes of many and is posted by whoever happens to be the last of them: it
  /// has no place among what else that one posts. \param done What all of them have touched for it.
  void post_conclusion(event& e, const void* done) noexcept {
    if (current_ == this) {
      ready_.push(detail::ready_entry(e));
    } else {
      post_conclusion_from_outside(e, done);
    }
  }

  /// The same for many, with at most one wake-up.
  /// \pre `row` is not empty, and stays as it is until the last of it was taken.
  void post(const event_row& row) noexcept { post(detail::ready_entry(row)); }

  /// For what is nobody's turn: `e` steps here before what the same line posts later, perhaps even
  /// before what it has posted already, and at once if this line runs, or in simulation. It may be
  /// noted again before it has. False, and nothing done, if nobody runs this line: a note is not
  /// worth waking its thread.
  bool note(event& e) noexcept {
    if (current_ != this) return note_from_outside(e);
    e.step();
    return true;
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

  virtual void post_from_outside(detail::ready_entry what) noexcept = 0;
  virtual void post_conclusion_from_outside(event& e, const void*) noexcept {
    post_from_outside(detail::ready_entry(e));
  }
  virtual bool note_from_outside(event& e) noexcept {
    e.step();
    return true;
  }

  static inline constinit thread_local scheduler* current_ = nullptr;

  detail::ready_ring ready_;

 private:
  void post(detail::ready_entry what) noexcept {
    if (current_ == this) {
      ready_.push(what);
    } else {
      post_from_outside(what);
    }
  }

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
