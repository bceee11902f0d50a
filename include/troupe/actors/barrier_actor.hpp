// barrier_actor.hpp - where replicas meet.
//
// Each replica of a run brings one thing to every round: a merge request, or its end.
// When the last one is in, the barrier runs the merge function once, on the arguments
// in replica order, and everybody goes on with a share of the result.
//
// A round that can no longer become whole is broken at once, not when a clock runs out:
// a replica that finished or failed while others wait, requests for different merges, a
// cancelled run. Breaking takes two passes over the lines of execution: first every
// line stops releasing and tells where its replicas stand; then the error that names all
// of them goes to everybody who waits, and replicas that wait elsewhere are stopped.
//
// Guarantees
//   once       the merge function of a round runs once, in the barrier's own activity;
//   ordered    arrival order leaves no mark on the arguments or on the results;
//   in turns   with replica_order::one_by_one, one replica at most is between two merges;
//   complete   after a break every replica finishes, then the run ends, exactly once;
//   lean       a round posts one event to the barrier's line and one row to each line, in turns
//              one event for each replica, and where nobody else is ready on one line nothing.
//
// Threading: arrive(), finish() and take_turn() on the replica's line; everything else on the
// home line. Counts of a line are touched by that line only, until the round is whole. In turns
// no two replicas run at once, and the one that does acts for all.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "troupe/actors/barrier_share.hpp"
#include "troupe/actors/merge_request.hpp"
#include "troupe/actors/replica_actor.hpp"
#include "troupe/actors/run_rules.hpp"
#include "troupe/core/error.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe {

class barrier_actor final : public routine {
 public:
  /// `homes` names the barrier on each line; the first is where it runs.
  explicit barrier_actor(std::span<const party> homes);

  /// The members of a run; fixed before the first one.
  void admit(std::span<replica_actor> members);

  /// Begins a run of the admitted replicas; `on_end` is woken when all have finished.
  /// `above` goes to the merge functions; `mode` is their ambient context.
  void begin_run(activity& on_end, void* above, const void* mode, run_rules rules);

  /// The barrier at which this replica meets the others.
  static barrier_actor& of(const replica_actor& who) noexcept { return share_of(who).barrier; }

  /// `replica` waits from now on. On its line.
  template <class Request, class Promise>
  static void arrive(Request& request, std::coroutine_handle<Promise> replica) noexcept {
    auto& who = static_cast<replica_actor&>(*activity::current());
    share& s = share_of(who);
    if (request.is_expected(s.walked_kind, s.intake)) [[likely]] {
      request.look_at(*s.result);
      who.park_in_row(replica, request);
      request.put_into(s.intake, who.row());
    } else {
      who.park_in_row(replica, request);
      arrive_slowly(s, request, who);
    }
  }
  void finish(replica_actor& who) noexcept;

  /// False if the run broke before `who`, which was given the turn, could take it.
  static bool take_turn(replica_actor& who) noexcept;

  /// Throws what the merge threw or, when `who` waited for a round that will not happen, the
  /// run's verdict.
  [[noreturn]] static void throw_failure(const replica_actor& who, bool broken);

  /// Breaks the run; it still ends as always. A run that has ended is not affected.
  void cancel() noexcept;

  /// The same from one of its replicas, on that one's line: a simulated fault.
  void ask_to_cancel() noexcept;

  /// The error that broke the run, if one did. \pre The run has ended.
  const std::exception_ptr& verdict() const noexcept { return verdict_; }
  /// The same as an error of the catalogue, with a picture of all replicas.
  const std::optional<error>& report() const noexcept { return report_; }

  /// A replica of the latest run has thrown.
  bool anybody_threw() const noexcept { return trouble_reported_.load(std::memory_order_relaxed); }

  /// What begin_run() was given for the layer above.
  void* above() const noexcept { return site_.above; }
  bool running() const noexcept { return phase_ != phase::idle; }
  std::uint64_t merges() const noexcept { return merges_; }

  /// Destroys an unfinished merge function. \pre Nothing runs.
  void abandon() noexcept;

 private:
  friend struct barrier_share;
  using share = barrier_share;
  enum class phase : std::uint8_t { idle, gathering, merging, halting, broken };

  static share& share_of(const replica_actor& who) noexcept {
    return *static_cast<share*>(who.share());
  }

  /// When it may mean more than one more, or is not what was expected. Apart, so that others need
  /// no stack.
  template <class Request>
  [[gnu::noinline]] static void arrive_slowly(share& s, Request& request,
                                              replica_actor& who) noexcept {
    s.walk_past(who);
    if (s.to_come == 0 && !s.failing) s.begin_next();
    request.look_at(*s.result);
    if (!s.careful) request.arrive_in(s, who.row());
    s.barrier.arrive_with_care(s, who, request.where());
  }
  void arrive_with_care(share& s, replica_actor& who, const place& here) noexcept;
  void count_arrival(share& s) noexcept;
  void count_progress(share& s, bool first, std::uint64_t first_of_line) noexcept;
  void tell_progress(share& s, std::uint64_t more) noexcept;
  void hear(std::uint64_t progress) noexcept;
  void add_progress(std::uint64_t more) noexcept;
  void report_trouble() noexcept;
  void line_is_done() noexcept;
  void count_signal() noexcept;
  void signal_home(event& e) noexcept;
  /// The same of what comes of all lines. \param done What they have touched for it.
  void conclude_home(event& e, const void* done) noexcept;
  void touched(const share& s, touch how) const noexcept;

  // replica_order::one_by_one; see barrier_turns.cpp.
  replica_actor& member(std::size_t i) noexcept;
  void begin_turns() noexcept;
  void give_turn(std::size_t i) noexcept;
  void pass_turn(const replica_actor& from) noexcept;
  void finish_in_turn(const share& s, const replica_actor& who) noexcept;
  void release_first() noexcept;
  void unwind() noexcept;
  void unwind_next() noexcept;

  // What the home line does when signalled.
  void merge_gathered() noexcept;
  void judge() noexcept;
  void break_up() noexcept;
  void pass_verdict() noexcept;
  void close_run() noexcept;
  void cancel_as_asked() noexcept;
  [[gnu::noinline]] void settle() noexcept;

  /// For rows of who was released, needs no care and is not in turns.
  static std::size_t go_on(detail::ready_ring& from, std::size_t most) noexcept;
  template <bool ahead>
  static bool resume_all(share& s, event_row part, std::size_t apart, event_row soon,
                         const detail::ready_ring& from, activity* outer) noexcept;
  template <bool ahead>
  static std::size_t resume_row(share&, detail::ready_ring& from, std::size_t most) noexcept;
  template <bool ahead>
  static std::size_t take_rounds(share& alone, detail::ready_ring& from, std::size_t most) noexcept;

  template <bool alike>
  bool take_round(share& alone, detail::ready_ring& from, std::size_t& most,
                  activity* outer) noexcept;

  enum class merge_end : std::uint8_t { arranged, returned, threw };
  /// Calls the merge function. If it goes on, or has not been called, all is arranged.
  merge_end merge(const merge_intake& first, activity* outer) noexcept;
  /// The same, and if nothing is amiss all may go on: false if they go on otherwise, or later.
  template <bool alike>
  bool merge_and_begin_round(share& alone, activity* outer) noexcept;
  void agreed(const merge_intake& first) noexcept;
  merge_result& begin_round() noexcept;
  merge_result& other_than(const merge_result* one) noexcept {
    return results_[one == &results_[0] ? 1 : 0];
  }
  void root_ended() noexcept override;
  [[gnu::noinline]] void merged_at_once(merge_end how) noexcept;
  void merged(bool failed) noexcept;
  void release() noexcept;
  [[gnu::noinline]] void begin_halt(errc reason) noexcept;
  replica_place place_of(const replica_actor& r) const;
  error_facts facts_of_break();

  party who_;
  recycled_vector<std::unique_ptr<share>> shares_;
  replica_actor* members_ = nullptr;
  merge_site site_;                                   // What stays the same from round to round.
  recycled_vector<merge_intake*> intakes_elsewhere_;  // Of the lines.
  std::vector<replica_place> places_;                 // Filled by the lines while halting.

  activity* on_end_ = nullptr;
  run_rules rules_;
  std::uint32_t signals_to_come_ = 0;  // Less those that others have counted; see settle().
  phase phase_ = phase::idle;
  bool cancel_asked_ = false;
  bool cancel_seen_ = false;
  bool over_ = false;
  errc reason_ = errc::missing_replica;
  std::uint64_t merges_ = 0;
  place last_agreed_;
  task<> merge_body_;
  std::exception_ptr merge_failure_;
  std::exception_ptr verdict_;
  std::optional<error> report_;

  detail::signal<barrier_actor, &barrier_actor::merge_gathered> gathered_;
  detail::signal<barrier_actor, &barrier_actor::judge> whole_;
  detail::signal<barrier_actor, &barrier_actor::break_up> trouble_;
  detail::signal<barrier_actor, &barrier_actor::pass_verdict> all_halted_;
  detail::signal<barrier_actor, &barrier_actor::close_run> all_finished_;
  detail::signal<barrier_actor, &barrier_actor::cancel_as_asked> asked_to_cancel_;

  // What a line that is whole says to home.
  using note = detail::note<barrier_actor, &barrier_actor::hear>;
  note all_have_come_, all_wait_, all_finish_;

  // In turns only, and touched by whoever has the turn.
  std::size_t turn_ = 0;     // The replica that has it, or had it last.
  std::size_t unwound_ = 0;  // After a break: the replicas before this one have ended.

  // What released replicas look at, and nothing else. Rounds take turns: which one a request looks
  // at tells whether it is of this round or of the one before, and who was released keeps what its
  // round gave it, also when the run breaks before it goes on.
  alignas(64) std::array<merge_result, 2> results_;

  // What the lines tell each other; see count_progress().
  alignas(64) std::atomic<std::uint64_t> progress_{0};
  std::atomic<std::uint32_t> lines_left_{0};
  std::atomic<std::uint32_t> signals_sent_{0};  // By lines of several.
  /// Of rounds that are whole on several lines, by one line after the other: without an addition.
  std::atomic<std::uint32_t> rounds_sent_{0};
  std::atomic<bool> trouble_reported_{false};
};

inline void barrier_share::begin_next() noexcept { begin_round(barrier.other_than(result)); }

}  // namespace troupe
