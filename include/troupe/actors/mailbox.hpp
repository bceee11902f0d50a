// mailbox.hpp - the half of an actor that does not know its messages.
//
// A message in the mailbox is an event of the actor's line: the line's queue is the
// mailbox, live a concurrent queue, in simulation one link for each sender. What arrives
// while a handler is suspended is kept here, in order. An empty mailbox costs nothing.
//
// Letters may still be under way when the actor goes: the mailbox outlives it until the
// last one has come, and drops them.

#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/actors/reply.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/root_task.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe {

class mailbox;

/// One message, under way or waiting.
class envelope : public event {
 public:
  /// Frees the letter and takes its message: to the handler, whose coroutine it returns if
  /// there is one, or nowhere if `to` has no addressee.
  using opener = task<> (*)(envelope& self, mailbox& to);

 protected:
  envelope(mailbox& to, step_function arrives, opener open) noexcept;
  ~envelope() = default;

  static void arrive(event& self, turn how) noexcept;
  /// The order of such letters of one actor makes no difference.
  static void arrive_in_any_order(event& self, turn how) noexcept;

  mailbox& to_;
  bool own_;  ///< Sent on the line that opens it.

 private:
  friend class mailbox;
  opener open_;
  envelope* next_;  ///< If it is kept.
};

class mailbox final : private detail::enrollment, private routine, private root {
 public:
  static mailbox* make(std::shared_ptr<runtime_state> on, std::string_view name,
                       std::uint32_t index, std::size_t line, void* addressee) {
    return new mailbox(std::move(on), name, index, line, addressee);
  }

  const party& who() const noexcept { return enrollment::who; }

  /// The actor; null once it is gone, has failed or has been stopped.
  void* addressee() const noexcept { return is_open() ? addressee_ : nullptr; }

  /// Whether a letter that comes is read at once, with nobody looking on.
  bool is_free() const noexcept { return !handler_ && !state_ && !who().on->traced(); }

  /// Calls `handle` for a letter that has come; it frees the letter, which was `own` or not.
  /// \pre is_free().
  template <class F>
  void read(bool own, F&& handle) noexcept {
    try {
      impersonate(std::forward<F>(handle));
    } catch (...) {
      fail();
    }
    count_come(own);  // May destroy *this.
  }

  /// What letters that commute have left of the actor, as a number, for simulation.
  void keep_state(std::uint64_t now) noexcept { state_ = now; }

  /// Sends; from any thread. The letter is freed when it is opened.
  void post(envelope& e) noexcept { who().on->post(e); }

  /// Awaits the end of what was sent before; afterwards there is no addressee.
  task<> stop();

  /// The actor goes. \pre No handler of it is suspended, or nothing runs.
  void leave() noexcept;

 private:
  friend class envelope;
  struct last_letter;

  mailbox(std::shared_ptr<runtime_state> on, std::string_view name, std::uint32_t index,
          std::size_t line, void* addressee);
  ~mailbox() override;

  struct departure final : event {
    explicit departure(mailbox& of) noexcept : event(&departure::take, of.who()), from(of) {}
    static void take(event& self, turn) noexcept { static_cast<departure&>(self).from.depart(); }
    mailbox& from;
  };

  static void take_step(event& self, turn how) noexcept;
  void depart() noexcept;
  void drop(envelope& e) noexcept;
  void deliver(envelope& e) noexcept;
  void open(envelope& e) noexcept;
  void open_kept() noexcept;
  void fail() noexcept;
  void show_state() noexcept;
  /// A letter is under way. `own`: from its own line, where such letters are counted without
  /// atomics, and keep the mailbox together.
  void count_sent(bool own) noexcept {
    if (!own) {
      count_sent_from(scheduler::current());
    } else if (own_letters_++ == 0) {
      keep();
    }
  }
  void count_sent_from(const scheduler* line) noexcept {
    if (line && line == first_sender_.load(std::memory_order_relaxed)) [[likely]] {
      sent_by_first_.store(sent_by_first_.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
    } else {
      count_sent_by_another(line);
    }
  }
  void count_sent_by_another(const scheduler* line) noexcept;
  void count_come(bool own) noexcept {
    if (!own || --own_letters_ == 0) let_go();
  }
  /// As if one letter more had to come, until let_go().
  void keep() noexcept { add_come(-1); }
  void let_go() noexcept { add_come(1); }
  void add_come(std::int64_t letters) noexcept {
    // As long as it is open only its line counts, and the actor leaves there.
    if (is_open()) [[likely]] {
      come_.store(come_.load(std::memory_order_relaxed) + letters, std::memory_order_relaxed);
    } else if (come_.fetch_add(letters, std::memory_order_acq_rel) == -letters) {
      delete this;
    }
  }
  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }
  void shut() noexcept { open_.store(false, std::memory_order_relaxed); }
  void root_ended() noexcept override;
  void describe(std::vector<std::string>& lines) const override;
  void abandon() noexcept override;

  void* addressee_;
  std::atomic<bool> open_{true};
  bool draining_ = false;
  task<> handler_;  // Suspended, or empty.
  envelope* first_kept_ = nullptr;
  envelope* last_kept_ = nullptr;
  std::exception_ptr failure_;
  std::optional<std::uint64_t> state_;  // Nobody has seen it yet.

  // Letters from elsewhere are counted where they are sent and where they come, so that nobody
  // waits for the other one's line of cache; the actor compares when it goes. Those of the line
  // that was the first to send any, most often of all, are counted without an addition.
  static constexpr std::int64_t while_the_actor_lives = std::int64_t{1} << 62;
  alignas(64) std::atomic<const scheduler*> first_sender_{nullptr};
  std::atomic<std::int64_t> sent_by_first_{0};
  std::atomic<std::int64_t> sent_by_others_{0};
  /// And that much more while the actor lives. Once it has gone: less those that were to come, so
  /// that the last one makes it zero.
  alignas(64) std::atomic<std::int64_t> come_{while_the_actor_lives};
  std::uint32_t own_letters_ = 0;  // Touched by its line only.
  departure departs_{*this};
};

inline envelope::envelope(mailbox& to, step_function arrives, opener open) noexcept
    : event(arrives, to.who()), to_(to), own_(scheduler::current() == to.who().on), open_(open) {
  to.count_sent(own_);
}

}  // namespace troupe
