// replica_actor.hpp - one replica: a coroutine with an identity and a place to be.
//
// It runs one replica's share of a run, one run at a time, and is reused by the next.
// Whatever is posted in its name, its own steps and messages to it, is taken one after
// the other on its line; while its coroutine waits at the barrier, messages are served.
//
// Guarantees
//   serial  its steps never overlap;
//   once    every replica that was entered finishes exactly once and tells its barrier.

#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "troupe/actors/merge_request.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe {

class barrier_actor;
class replica_actor;

/// What a run asks of each replica. The strategy implements it for the user's types.
class replica_program {
 public:
  /// Calls the user's function. Returns its coroutine, already begun on `self`, or null
  /// when it was a plain function and its result is stored. May throw what that throws.
  virtual std::coroutine_handle<> enter(replica_actor& self) = 0;

  /// Stores the finished coroutine's result, or throws its exception.
  virtual void collect(replica_actor& self, std::coroutine_handle<> finished) = 0;

 protected:
  ~replica_program() = default;
};

/// A round walks all replicas of a run, and touches one line of cache of each: that in the middle,
/// if it lies in the right place.
class alignas(32) replica_actor final : public routine {
 public:
  /// How far behind the beginning of a line a replica, or an array of them, has to lie for that.
  static constexpr std::size_t bytes_before = 32;

  enum class phase : std::uint8_t { idle, starting, running, finished, failed };

  /// `who` outlives the actor.
  replica_actor(const party& who, std::uint32_t replica) noexcept;

  std::uint32_t replica() const noexcept { return replica_; }

  /// The barrier's part on this replica's line.
  void* share() const noexcept { return share_; }
  /// Where its values stand among those that are taken on its line.
  std::uint32_t row() const noexcept { return row_; }
  void admitted_to(void* share, std::uint32_t row) noexcept {
    share_ = share;
    row_ = row;
  }
  phase is() const noexcept { return phase_; }

  /// Waits at its barrier, or has been released and has not gone on.
  bool is_at_barrier() const noexcept { return waiting() && waiting()->at_barrier(); }
  /// What it brings. \pre It waits there.
  merge_request& request() const noexcept { return static_cast<merge_request&>(*waits_for()); }
  bool unfinished() const noexcept { return phase_ == phase::starting || phase_ == phase::running; }

  /// What the function threw; null if it returned or has not finished.
  const std::exception_ptr& failure() const noexcept { return failure_; }

  /// Prepares for a run; the next step enters the function. \pre Idle, nothing posted.
  void prepare(replica_program& program, const void* mode) noexcept {
    program_ = &program;
    set_ambient(mode);
    phase_ = phase::starting;
    step_with_care_ = true;
    if (failure_) failure_ = nullptr;
    run_id_ += 4;  // Contexts of earlier ones are stale.
    reset_stop();
  }

  /// Its next step asks the barrier first: the run may have been broken by then.
  /// \pre It waits for its turn. From the line of whoever has that.
  void give_turn() noexcept {
    given_turn_ = step_with_care_ = true;
    wake();
  }
  /// It has not taken that step yet.
  bool given_turn() const noexcept { return given_turn_; }

  /// Destroys an unfinished coroutine. \pre Nothing runs.
  void abandon() noexcept;

 private:
  friend class barrier_actor;  // Posts rows of us, and resumes them.

  static void take_step(event& self, turn how) noexcept {
    auto& me = static_cast<replica_actor&>(self);
    if (me.step_with_care_ || how != turn::take) [[unlikely]] {
      me.step_slowly(how);
    } else {
      me.resume();
    }
  }
  /// For rows: take_step() for each.
  static std::size_t take_steps(detail::ready_ring& from, std::size_t most) noexcept;
  void step_slowly(turn how) noexcept;
  void step_in_turn(turn how) noexcept;
  void crash() noexcept;

  void enter(activity* outer) noexcept;
  void root_ended() noexcept override;
  void finish(phase how) noexcept;

  // What a merge touches comes first: with the end of the activity, 64 bytes.
  bool step_with_care_ = false;  ///< The next step enters or takes a turn, or all are traced.
  bool given_turn_ = false;
  phase phase_ = phase::idle;
  std::uint32_t replica_;
  void* share_ = nullptr;
  std::uint32_t row_ = 0;
  replica_program* program_ = nullptr;
  std::coroutine_handle<> frame_;
  std::exception_ptr failure_;
};

}  // namespace troupe
