// event.hpp - what can happen next, and the queue of a line that holds it.
//
// An event is intrusive: posting it is pushing a pointer. Many of one kind, the replicas of a
// line, are posted as a row, which is one pointer, too, and are still taken one by one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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

namespace detail {
class ready_ring;
}

/// Events at equal distances in memory, which are posted in one go and taken one by one:
/// the replicas of a line. Whatever their number, a queue holds one pointer.
class event_row {
 public:
  /// Takes at most `most` steps, at least one, from the front of `from.row()`, which is not empty:
  /// takes so many off it, and stops when `from` has ended. Returns how many it might have taken
  /// besides; a row may count as long as it was when it was made.
  using step_function = std::size_t (*)(detail::ready_ring& from, std::size_t most) noexcept;

  event_row() noexcept = default;
  /// `steps`: for events of one type, which can do better than one call each.
  event_row(event& first, std::size_t distance, std::size_t count, step_function steps) noexcept
      : first_(&first),
        end_(later(&first, count * distance)),
        distance_(distance),
        size_(count),
        steps_(steps) {}

  bool empty() const noexcept { return first_ == end_; }
  bool longer_than(std::size_t count) const noexcept {
    return static_cast<std::size_t>(as_bytes(end_) - as_bytes(first_)) > count * distance_;
  }
  event& operator[](std::size_t i) const noexcept { return *later(first_, i * distance_); }

  /// How many it had when it was made.
  std::size_t size() const noexcept { return size_; }
  std::size_t distance() const noexcept { return distance_; }

  event* end() const noexcept { return end_; }
  event* behind(event& one) const noexcept { return later(&one, distance_); }
  std::size_t count(const event* from, const event* to) const noexcept {
    return static_cast<std::size_t>(as_bytes(to) - as_bytes(from)) / distance_;
  }

  event& take_front() noexcept { return take_front(distance_); }
  /// \pre They are so far apart.
  event& take_front(std::size_t distance) noexcept {
    return *std::exchange(first_, later(first_, distance));
  }
  /// The first `most` of them, or all.
  event_row take(std::size_t most) noexcept {
    event_row part = *this;
    if (most < size_ && longer_than(most)) part.end_ = later(first_, most * distance_);
    first_ = part.end_;
    return part;
  }
  template <class F>
  void for_each(F&& f) const {
    for (event* e = first_; e != end_; e = later(e, distance_)) f(*e);
  }

  std::size_t take_steps(detail::ready_ring& from, std::size_t most) const noexcept {
    return steps_(from, most);
  }

 private:
  static std::byte* as_bytes(event* e) noexcept { return reinterpret_cast<std::byte*>(e); }
  static const std::byte* as_bytes(const event* e) noexcept {
    return reinterpret_cast<const std::byte*>(e);
  }
  static event* later(event* e, std::size_t bytes) noexcept {
    return reinterpret_cast<event*>(as_bytes(e) + bytes);
  }

  event* first_ = nullptr;
  event* end_ = nullptr;
  std::size_t distance_ = 0;
  std::size_t size_ = 0;
  step_function steps_ = nullptr;
};

namespace detail {

/// What a queue of events holds: an event, a row of them, or on its way between two lines a note,
/// told apart by the lowest bits.
class ready_entry {
 public:
  ready_entry() noexcept = default;
  explicit ready_entry(event& e) noexcept : bits_(reinterpret_cast<std::uintptr_t>(&e)) {}
  explicit ready_entry(const event_row& row) noexcept
      : bits_(reinterpret_cast<std::uintptr_t>(&row) | 1) {}
  static ready_entry note(event& e) noexcept {
    ready_entry made(e);
    made.bits_ |= note_bit;
    return made;
  }

  explicit operator bool() const noexcept { return bits_ != 0; }
  bool is_row() const noexcept { return (bits_ & 1) != 0; }
  bool is_note() const noexcept { return (bits_ & note_bit) != 0; }
  event& noted() const noexcept { return *reinterpret_cast<event*>(bits_ - note_bit); }
  event& one() const noexcept { return *reinterpret_cast<event*>(bits_); }
  const event_row& row() const noexcept { return *reinterpret_cast<const event_row*>(bits_ - 1); }

  template <class F>
  void for_each(F&& f) const {
    if (is_row()) return row().for_each(f);
    f(is_note() ? noted() : one());
  }

 private:
  static_assert(alignof(event) >= 8 && alignof(event_row) >= 8);
  static constexpr std::uintptr_t note_bit = 4;
  std::uintptr_t bits_ = 0;
};

/// A growing ring of what is ready; touched by its line only. What comes when there is nothing
/// else waits beside it.
class ready_ring {
 public:
  bool empty() const noexcept { return head_ == tail_ && row_.empty() && !only_; }
  void push(ready_entry e) noexcept {
    if (empty()) {
      only_ = e;
      return;
    }
    if (tail_ - head_ == capacity_) grow();
    slots_[tail_++ & (capacity_ - 1)] = e;
  }
  /// The next event, or null.
  event* pop() noexcept {
    if (row_.empty()) {
      if (empty()) return nullptr;
      const ready_entry next = pop_entry();
      if (!next.is_row()) return &next.one();
      row_ = next.row();
    }
    return &row_.take_front();
  }
  /// Takes steps, at most `most`; returns how many it might have taken besides.
  std::size_t take_steps(std::size_t most) noexcept {
    while (most > 0) {
      if (!row_.empty()) {
        most = row_.take_steps(*this, most);
        continue;
      }
      if (empty()) break;
      // As long as single events come, nothing but what is beside the slots can come before them.
      for (ready_entry next = pop_entry();; next = pop_slot()) {
        if (next.is_row()) {
          row_ = next.row();
          break;
        }
        next.one().step();
        if (--most == 0 || only_ || head_ == tail_) break;
      }
    }
    return most;
  }

  /// The rest of the row that is being taken.
  event_row& row() noexcept { return row_; }

  /// For the steps of a row: takes the next `most` off it, or all, and counts the row.
  event_row take_row(std::size_t& most) noexcept {
    const event_row part = row_.take(most);
    most -= most < part.size() ? most : part.size();
    return part;
  }

  /// Whether anything waits but that row …
  bool anything_else() const noexcept { return only_ || head_ != tail_; }
  /// … and whether something does where nothing has.
  bool has_first() const noexcept { return static_cast<bool>(only_); }

  /// No step is taken any more: a row's function that is under way drops what it has taken off.
  void end() noexcept { ended_ = true; }
  bool ended() const noexcept { return ended_; }

 private:
  void grow() noexcept;

  ready_entry pop_entry() noexcept {
    return only_ ? std::exchange(only_, ready_entry()) : pop_slot();
  }
  ready_entry pop_slot() noexcept { return slots_[head_++ & (capacity_ - 1)]; }

  event_row row_;
  ready_entry only_;  // Comes before all that is in the slots.
  bool ended_ = false;
  std::unique_ptr<ready_entry[]> slots_;
  std::size_t capacity_ = 0;  // A power of two, or zero.
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

}  // namespace detail

}  // namespace troupe
