// activity.hpp - a logical task: a chain of coroutines that await each other.
//
// At any time one coroutine of the chain runs, or the innermost one waits for
// something outside. Contexts, cancellation and blame belong to the activity, not
// to the thread that happens to run it, and stay right across every suspension.
//
// A coroutine that starts or finishes another names it as the next to run and
// returns; the loop in resume() runs it. Nothing is ever resumed from inside a
// coroutine, so that the stack never grows with the number or the depth of awaits:
// at no optimisation level, with no compiler, under no sanitizer.
//
// Threading: an activity runs on one serial line of execution (its scheduler's).
// All members are for code on that line, except wake(), which is for everybody.

#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "troupe/core/chain_link.hpp"
#include "troupe/core/place.hpp"
#include "troupe/core/wait.hpp"

namespace troupe {

class activity {
 public:
  activity(const activity&) = delete;
  activity& operator=(const activity&) = delete;

  /// The activity this thread runs right now, or null.
  static activity* current() noexcept { return current_; }

  /// Runs the chain until it waits or ends.
  /// \pre A root was set by begin(), or park() was called since.
  void resume() noexcept { resume(leave_current()); }

  /// Makes the activity runnable. From any thread; never runs anything itself.
  virtual void wake() noexcept = 0;

  /// Sets the coroutine that the first resume() enters.
  template <class Promise>
  void begin(std::coroutine_handle<Promise> root) noexcept {
    parked_ = detail::parking::told(detail::to_link(root));
    waiting_ = nullptr;
  }

  /// Called from await_suspend: `coroutine` waits for `what` until wake().
  template <class Promise>
  void park(std::coroutine_handle<Promise> coroutine, wait& what) noexcept {
    parked_ = detail::parking::told(detail::to_link(coroutine));
    waiting_ = &what;
  }
  /// The same for who is resumed in a row: then nothing is written, and that it runs is told by its
  /// being current. Until await_suspend has returned, nobody may ask, nor another activity run.
  template <class Promise>
  void park_in_row(std::coroutine_handle<Promise> coroutine, wait& what) noexcept {
    parked_ = detail::parking::in_row(detail::to_link(coroutine));
    waiting_ = &what;
  }

  /// Called from its await_suspend: runs `coroutine` as soon as the caller has returned.
  void continue_with(std::coroutine_handle<> coroutine) noexcept {
    parked_ = {};
    next_ = coroutine;
  }
  /// The same from one that has finished, to who has awaited it; null: that was the root.
  void return_to(std::coroutine_handle<> coroutine) noexcept {
    continue_with(coroutine ? coroutine : no_more());
  }

  /// Asks the activity to wind up: the present wait is cancelled, later ones fail.
  void stop() noexcept {
    if (stop_requested_) return;
    stop_requested_ = true;
    if (waiting()) waiting_->cancel();
  }
  bool stop_requested() const noexcept { return stop_requested_; }

  /// True once stop() cut a wait short: what the activity throws then is a consequence.
  bool interrupted() const noexcept { return interrupted_; }
  void mark_interrupted() noexcept { interrupted_ = true; }

  const wait* waiting() const noexcept { return is_parked() ? waiting_ : nullptr; }
  wait* const& waits_for() const noexcept { return waiting_; }  ///< While it is parked.

  /// Where the innermost coroutine awaits; line 0 if it never did, or runs. As the next two.
  place where() const noexcept { return is_parked() ? innermost_place() : place{}; }

  /// The awaits from the innermost coroutine outwards, without those of the library's own …
  std::vector<place> await_chain() const;
  /// … and the first of them.
  place told_where() const noexcept;

  /// Which run of which replica this is; for all else a number that no context has.
  std::uintptr_t run_id() const noexcept { return run_id_; }

  /// What the layers above keep for the ambient queries; troupe::detail::mode there.
  const void* ambient() const noexcept { return ambient_; }
  void set_ambient(const void* mode) noexcept { ambient_ = mode; }

  /// The same of the code that runs now: of its activity or, outside of all, of the thread.
  static const void* ambient_here() noexcept {
    return current_ ? current_->ambient_ : outside_ambient_;
  }
  /// For the code of this thread that is outside of all activities.
  static const void*& ambient_outside() noexcept { return outside_ambient_; }

  /// Calls `f` with `mode` in force.
  template <class F>
  static void call_in(const void* mode, F&& f) {
    const void*& in_force = current_ ? current_->ambient_ : outside_ambient_;
    struct restore {
      const void*& in_force;
      const void* outer;
      ~restore() { in_force = outer; }
    } const at_end{in_force, std::exchange(in_force, mode)};
    std::forward<F>(f)();
  }

  /// The logical task this one is a branch of; itself, if it is none.
  activity* origin() noexcept { return origin_; }

  /// Makes this a branch of `trunk`: it inherits the contexts.
  void branch_from(activity& trunk) noexcept {
    origin_ = trunk.origin_;
    ambient_ = trunk.ambient_;
  }

  /// Calls `f` as this activity, outside any of its coroutines.
  template <class F>
  void impersonate(F&& f) {
    impersonate(leave_current(), std::forward<F>(f));
  }

 protected:
  activity() = default;
  ~activity() = default;

  /// resume() for a loop over many: who ran before, `outer`, is current again only once the loop
  /// calls end_row(), and while a root's end is dealt with.
  static activity* begin_row() noexcept { return leave_current(); }
  void resume(activity* outer) noexcept {
    current_ = this;
    std::exchange(parked_, {}).coroutine().resume();
    resume_chain(outer);
    current_ = outer;
  }
  enum class row_step : std::uint8_t {
    waits_in_row,  ///< At the barrier.
    waits,         ///< For something else.
    ended,         ///< *this may be gone, and more.
  };
  row_step resume_in_row(activity* outer) noexcept {
    current_ = this;
    parked_.coroutine_in_row().resume();
    return parked_.is_in_row() ? row_step::waits_in_row : leave_row(outer);
  }
  /// Calls `f` as this activity, in between.
  template <class F>
  void impersonate(activity* outer, F&& f) {
    struct restore {
      activity* outer;
      ~restore() { current_ = outer; }
    } const at_end{outer};
    current_ = this;
    std::forward<F>(f)();
  }
  static void end_row(activity* outer) noexcept { current_ = outer; }

  /// Has the memory that the next resume() needs first brought into the cache. To GCC a function
  /// that only does so does nothing, and a call of it that is not inlined at once is left out.
  [[gnu::always_inline]] void fetch_frame() const noexcept {
    const void* const frame = parked_.coroutine().address();
    __builtin_prefetch(frame, 1);
    __builtin_prefetch(static_cast<const std::byte*>(frame) + 64, 1);
    __builtin_prefetch(waiting_, 1);
  }

  /// The root coroutine has finished; its result is in its promise.
  virtual void root_ended() noexcept = 0;

  void reset_stop() noexcept { stop_requested_ = interrupted_ = false; }

  /// Forgets a chain whose frames are about to be destroyed unfinished.
  void abandon_chain() noexcept {
    parked_ = {};
    waiting_ = nullptr;
  }

 private:
  bool is_parked() const noexcept { return parked_ && (!parked_.is_in_row() || current_ != this); }

  /// \pre It is parked.
  place innermost_place() const noexcept {
    if (waiting_ && waiting_->at_barrier()) return static_cast<placed_wait*>(waiting_)->where();
    return parked_.coroutine().promise().at;
  }

  /// Returns who was current. In a row, being so was all that told that it runs.
  static activity* leave_current() noexcept {
    activity* const outer = current_;
    if (outer && outer->parked_.is_in_row()) [[unlikely]]
      outer->parked_ = {};
    return outer;
  }

  /// False if the root has ended.
  bool resume_chain(activity* outer) noexcept {
    while (next_) {
      const std::coroutine_handle<> next = std::exchange(next_, nullptr);
      if (next == no_more()) {
        current_ = outer;
        root_ended();  // May destroy *this.
        return false;
      }
      next.resume();
    }
    return true;
  }
  /// Apart, so that a loop over those that wait again has nothing else in it, nor in mind.
  row_step leave_row(activity* outer) noexcept;

  static std::coroutine_handle<> no_more() noexcept {
    return std::coroutine_handle<>::from_address(&no_coroutine_);
  }

  static inline constinit std::byte no_coroutine_{};  // In next_: that was the root.
  static inline constinit thread_local activity* current_ = nullptr;
  // On its way from an await_suspend to the loop in which that ends: one at a time on a thread.
  static inline constinit thread_local std::coroutine_handle<> next_;
  static inline constinit thread_local const void* outside_ambient_ = nullptr;

  // What a step touches comes last: replica_actor.hpp goes on with more of it.
  activity* origin_ = this;
  const void* ambient_ = nullptr;
  bool stop_requested_ = false;
  bool interrupted_ = false;
  wait* waiting_ = nullptr;  ///< Says something while the activity is parked.
  detail::parking parked_;

 protected:
  std::uintptr_t run_id_ = ~std::uintptr_t{1};
};

}  // namespace troupe
