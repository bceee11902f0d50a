// event.hpp - what can happen next, and the queue of a line that holds it.
//
// An event is intrusive: posting it is pushing a pointer. Many of one kind, the replicas of a
// line, are posted as a row, which is one pointer, too, and are still taken one by one.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace troupe {

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
  /// Takes at most `most` steps from the front of `rest`, which is not empty; each is off the row
  /// before it is taken.
  using step_function = void (*)(event_row& rest, std::size_t most) noexcept;

  event_row() noexcept = default;
  /// `steps`: for events of one type, which can do better than one call each.
  event_row(event& first, std::size_t distance, std::size_t count, step_function steps) noexcept
      : first_(&first), distance_(distance), count_(count), steps_(steps) {}

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
  void take_steps(std::size_t most) noexcept { steps_(*this, most); }

 private:
  event* later(std::size_t i) const noexcept {
    return reinterpret_cast<event*>(reinterpret_cast<std::byte*>(first_) + i * distance_);
  }

  event* first_ = nullptr;
  std::size_t distance_ = 0;
  std::size_t count_ = 0;
  step_function steps_ = nullptr;
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
  /// Takes steps, at most `most`; returns how many it might have taken besides.
  std::size_t take_steps(std::size_t most) noexcept {
    while (most > 0) {
      if (!row_.empty()) {
        const std::size_t now = std::min(most, row_.size());
        row_.take_steps(now);
        most -= now;
        continue;
      }
      if (head_ == tail_) break;
      const ready_entry next = slots_[head_++ & (capacity_ - 1)];
      if (next.is_row()) {
        row_ = next.row();
      } else {
        next.one().step();
        --most;
      }
    }
    return most;
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

}  // namespace troupe
