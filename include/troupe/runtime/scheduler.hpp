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

#include <cstddef>
#include <cstdint>
#include <memory>
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
  enum class turn : std::uint8_t {
    take,
    drop,    ///< The runtime has ended: release what the event owns.
    crash,   ///< Simulation only: a replica ends here instead.
    cancel,  ///< Simulation only: a replica's run is cancelled, and the step taken.
  };

  event(const event&) = delete;
  event& operator=(const event&) = delete;

  /// Takes the step, or does what else its turn is for.
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

/// Events at equal distances in memory, which are posted in one go and taken one by one:
/// the replicas of a line. Whatever their number, a queue holds one pointer.
class event_row {
 public:
  event_row() noexcept = default;
  event_row(event& first, std::size_t distance, std::size_t count) noexcept
      : first_(&first), distance_(distance), count_(count) {}

  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  event& front() const noexcept { return *first_; }
  event& operator[](std::size_t i) const noexcept { return *later(i); }

  event& take_front() noexcept {
    event& e = *first_;
    first_ = later(1);
    --count_;
    return e;
  }

 private:
  event* later(std::size_t i) const noexcept {
    return reinterpret_cast<event*>(reinterpret_cast<std::byte*>(first_) + i * distance_);
  }

  event* first_ = nullptr;
  std::size_t distance_ = 0;
  std::size_t count_ = 0;
};

namespace detail {

/// What a queue of events holds: an event, or a row of them, told apart by the lowest bit.
class ready_entry {
 public:
  ready_entry() noexcept = default;
  explicit ready_entry(event& e) noexcept : bits_(reinterpret_cast<std::uintptr_t>(&e)) {}
  explicit ready_entry(const event_row& row) noexcept
      : bits_(reinterpret_cast<std::uintptr_t>(&row) | 1) {}

  bool is_row() const noexcept { return (bits_ & 1) != 0; }
  event& one() const noexcept { return *reinterpret_cast<event*>(bits_); }
  const event_row& row() const noexcept { return *reinterpret_cast<const event_row*>(bits_ - 1); }

  template <class F>
  void for_each(F&& f) const {
    if (!is_row()) return f(one());
    for (std::size_t i = 0; i < row().size(); ++i) f(row()[i]);
  }

 private:
  std::uintptr_t bits_ = 0;
};

/// A growing ring of what is ready; touched by its line only.
class ready_ring {
 public:
  bool empty() const noexcept { return head_ == tail_ && row_.empty(); }
  void push(ready_entry e) noexcept {
    if (tail_ - head_ == capacity_) grow();
    slots_[tail_++ & (capacity_ - 1)] = e;
  }
  /// The next event, or null.
  event* pop() noexcept {
    if (row_.empty()) {
      if (head_ == tail_) return nullptr;
      const ready_entry next = slots_[head_++ & (capacity_ - 1)];
      if (!next.is_row()) return &next.one();
      row_ = next.row();
    }
    return &row_.take_front();
  }

 private:
  void grow() noexcept;

  event_row row_;  // The rest of the row that is being taken.
  std::unique_ptr<ready_entry[]> slots_;
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
  void post(event& e) noexcept { post(detail::ready_entry(e)); }

  /// The same for many, with at most one wake-up.
  /// \pre `row` is not empty, and stays as it is until the last of it was taken.
  void post(const event_row& row) noexcept { post(detail::ready_entry(row)); }

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
