// barrier_share.hpp - the part of a barrier that lives on one line of execution.
//
// It counts who of the line's replicas has arrived, and in which round, and keeps their arguments.
// While a run goes on, only its line writes to it, or in turns whoever has the turn; the barrier's
// reads it, once the round is whole.

#pragma once

#include <cstdint>

#include "troupe/actors/merge_request.hpp"
#include "troupe/actors/replica_actor.hpp"
#include "troupe/core/event.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe {

class barrier_actor;

namespace detail {

/// An event that calls one member function.
template <class Target, void (Target::*Action)() noexcept>
struct signal final : event {
  signal(Target& t, const party& owner) noexcept : event(&signal::run, owner), target(t) {}
  static void run(event& self, turn how) noexcept {
    if (how == turn::take) (static_cast<signal&>(self).target.*Action)();
  }
  Target& target;
};

/// A note that says a number to one member function.
template <class Target, void (Target::*Hears)(std::uint64_t) noexcept>
struct note final : event {
  note(Target& t, const party& owner, std::uint64_t n) noexcept
      : event(&note::run, owner), target(t), number(n) {}
  static void run(event& self, turn how) noexcept {
    const note& mine = static_cast<note&>(self);
    if (how == turn::take) (mine.target.*Hears)(mine.number);
  }
  Target& target;
  const std::uint64_t number;
};

}  // namespace detail

/// The part of the barrier that lives on one line.
struct alignas(64) barrier_share : detail::recycled {
  barrier_share(barrier_actor& b, const party& where) noexcept;

  /// The last round is over. Where there are other lines, who arrives first for the next one says
  /// so, and not the barrier: nobody else writes here.
  void begin_next() noexcept;
  void begin_round(merge_result& look_at) noexcept {
    to_come = expected;
    result = &look_at;
  }
  void be_careful() noexcept {
    careful = true;
    expect(nullptr);
  }
  void forget() noexcept {
    intake.forget();
    walked_kind = nullptr;
  }
  void expect(const merge_kind* kind) noexcept {
    intake.expected_kind = kind;
    if (walked_from) walked_kind = kind;
  }
  /// \pre All who have come before are counted.
  std::uint32_t arrived() const noexcept { return expected - to_come; }

  // A loop that resumes members counts those that arrive as is expected, all from `walked_from` on
  // that it has come by: whoever does anything else sees to it that it is not among them. Nobody
  // arrives while the merge function runs, nor before what that leaves has been looked at.
  void begin_walk(event& first) noexcept {
    walked_from = &first;
    walked_kind = intake.expected_kind;
  }
  /// Counts those before it, if that is on a walk, which goes on behind it.
  void walk_past(event& member) noexcept {
    if (!walked_from) return;
    count_walked(&member);
    walked_from = members.behind(member);
  }
  /// True if that has made the round whole.
  bool count_walked(const event* end) noexcept {
    if (!walked_from || walked_from == end) return false;
    to_come -= static_cast<std::uint32_t>(members.count(walked_from, end));
    return to_come == 0;
  }
  void end_walk() noexcept {
    walked_from = nullptr;
    walked_kind = nullptr;
  }
  void halt() noexcept;
  void fail() noexcept;

  replica_actor& member(std::size_t i) noexcept { return static_cast<replica_actor&>(members[i]); }
  /// It waits here and was not released, or, in turns, has not gone on. Nobody who still runs is
  /// further behind than one round.
  bool waits(const replica_actor& replica) const noexcept {
    return replica.is_at_barrier() && replica.request().looks_at(result);
  }
  /// If it waits, it waits for nothing: the verdict is the answer.
  bool refuse(replica_actor& replica) const noexcept;

  // What a round writes for the barrier's line is one line of cache, which ends where the columns
  // of the intake begin: if these lie in it, nothing else travels there.
  std::uint32_t to_come = 0;  ///< So many of its members have not arrived, or not been counted.
  std::uint32_t finished = 0;
  bool careful = false;   ///< Every arrival may mean more than one more.
  bool halted = false;    ///< Releases have stopped.
  bool failing = false;   ///< The verdict is known here.
  bool in_turns = false;  ///< replica_order::one_by_one.
  merge_intake intake;

  // What stays the same in a run, the last two apart.
  barrier_actor& barrier;
  std::uint32_t expected = 0;
  std::uint32_t rows = 0;    ///< So many values make a column of the intake.
  bool alone = false;        ///< This is the only line.
  bool others_read = false;  ///< Another line, the barrier's, reads the intake.
  event_row members;         ///< The replica actors, and …
  event_row released;        ///< … the same, who only go on.
  party who;
  detail::signal<barrier_share, &barrier_share::halt> halt_signal;
  detail::signal<barrier_share, &barrier_share::fail> fail_signal;

  /// What its members look at when they go on; another one than in the round before. Far from what
  /// the barrier's line reads.
  merge_result* result = nullptr;
  event* walked_from = nullptr;             ///< Null where no loop resumes its members.
  const merge_kind* walked_kind = nullptr;  ///< What is expected then, and not counted one by one.
  std::uint32_t notes_sent = 0;             ///< To the barrier's line, by this one.
};

}  // namespace troupe
