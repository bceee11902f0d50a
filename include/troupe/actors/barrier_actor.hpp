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
//   complete   after a break every replica finishes, then the run ends, exactly once;
//   lean       a round posts one event to the barrier's line and one batch to each line.
//
// Threading: arrive() and finish() on the replica's line; everything else on the home
// line. Counts of a line are touched by that line only, until the round is whole.

#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "troupe/actors/merge_request.hpp"
#include "troupe/actors/replica_actor.hpp"
#include "troupe/core/error.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe {

/// How strictly the merges of a round must agree.
enum class merge_check : std::uint8_t {
  identity,  ///< Same place, same function, same types.
  count,     ///< The same number of merges, as in TensorFlow: replica 0's function runs.
};

class barrier_actor final : public routine {
 public:
  /// `homes` names the barrier on each line; the first is where it runs.
  explicit barrier_actor(std::span<const party> homes);

  /// The members of a run; fixed before the first one.
  void admit(std::span<replica_actor> members);

  /// Begins a run of the admitted replicas; `on_end` is woken when all have finished.
  /// `above` goes to the merge functions; `mode` is their ambient context.
  void begin_run(activity& on_end, void* above, const void* mode, merge_check check);

  void arrive(replica_actor& who, merge_request& request) noexcept {
    share& s = *static_cast<share*>(who.share());
    slots_[who.replica()] = &request;
    const bool last = ++s.arrived == s.expected;
    if (s.slow) [[unlikely]] {
      arrive_with_care(s, who, request);
    } else if (last) {
      signal_home(whole_);
    }
  }
  void finish(replica_actor& who) noexcept;

  /// Breaks the run; it still ends as always. A run that has ended is not affected.
  void cancel() noexcept;

  /// The error that broke the run, if one did. \pre The run has ended.
  const std::exception_ptr& verdict() const noexcept { return verdict_; }
  /// The same as an error of the catalogue, with a picture of all replicas.
  const std::optional<error>& report() const noexcept { return report_; }

  /// A replica of the latest run has thrown.
  bool anybody_threw() const noexcept { return trouble_reported_.load(std::memory_order_relaxed); }

  /// What begin_run() was given for the layer above.
  void* above() const noexcept { return above_; }

  bool running() const noexcept { return phase_ != phase::idle; }
  std::uint64_t merges() const noexcept { return merges_; }

  /// What the latest merge returned, until the next one.
  const merge_result& result() const noexcept { return result_; }

  /// Whether the latest merge function threw. A replica that was released keeps what its
  /// round gave it, also when the run breaks before it goes on.
  bool merge_failed() const noexcept { return merge_failure_ != nullptr; }
  [[noreturn]] void throw_failure(bool by_verdict) const;

  /// Destroys an unfinished merge function. \pre Nothing runs.
  void abandon() noexcept;

 private:
  enum class phase : std::uint8_t { idle, gathering, merging, halting, broken };

  /// An event that calls one member function.
  template <class Target, void (Target::*Action)() noexcept>
  struct signal final : event {
    signal(Target& t, const party& owner) noexcept : event(&signal::run, owner), target(t) {}
    static void run(event& self, turn how) noexcept {
      if (how == turn::take) (static_cast<signal&>(self).target.*Action)();
    }
    Target& target;
  };

  /// The part of the barrier that lives on one line.
  struct alignas(64) share {
    share(barrier_actor& b, const party& where) noexcept;

    void halt() noexcept;
    void fail() noexcept;

    barrier_actor& barrier;
    party who;
    std::uint32_t arrived = 0;
    std::uint32_t finished = 0;
    std::uint32_t expected = 0;
    bool slow = false;     ///< An arrival may mean more than one more.
    bool halted = false;   ///< Releases have stopped.
    bool failing = false;  ///< The verdict is known here.
    static replica_actor& as_replica(event& member) noexcept {
      return static_cast<replica_actor&>(member);
    }

    std::vector<event*> members;  ///< Replica actors, as they are posted.
    signal<share, &share::halt> halt_signal;
    signal<share, &share::fail> fail_signal;
  };

  void arrive_with_care(share& s, replica_actor& who, merge_request& request) noexcept;
  void note_progress(share& s, bool first, std::uint64_t first_of_line) noexcept;
  void report_trouble() noexcept;
  void line_is_done() noexcept;
  void signal_home(event& e) noexcept;

  // What the home line does when signalled.
  void judge() noexcept;
  void break_up() noexcept;
  void pass_verdict() noexcept;
  void close_run() noexcept;
  void signal_taken() noexcept;
  void settle() noexcept;

  void start_merge() noexcept;
  void root_ended() noexcept override;
  void merged(std::exception_ptr failure) noexcept;
  void release() noexcept;
  void begin_halt(errc reason) noexcept;
  replica_place place_of(const replica_actor& r) const;
  error_facts facts_of_break();

  party who_;
  std::vector<std::unique_ptr<share>> shares_;
  std::vector<merge_request*> slots_;  // Index = replica; null while it does not wait here.
  std::vector<replica_place> places_;  // Filled by the lines while halting.

  activity* on_end_ = nullptr;
  void* above_ = nullptr;
  merge_check check_ = merge_check::identity;
  phase phase_ = phase::idle;
  bool cancel_seen_ = false;
  bool over_ = false;
  errc reason_ = errc::missing_replica;
  std::uint64_t merges_ = 0;
  place last_agreed_;
  task<> merge_body_;
  merge_result result_;
  std::exception_ptr merge_failure_;
  std::exception_ptr verdict_;
  std::optional<error> report_;

  signal<barrier_actor, &barrier_actor::judge> whole_;
  signal<barrier_actor, &barrier_actor::break_up> trouble_;
  signal<barrier_actor, &barrier_actor::pass_verdict> all_halted_;
  signal<barrier_actor, &barrier_actor::close_run> all_finished_;

  // What the lines tell each other; see note_progress().
  alignas(64) std::atomic<std::uint64_t> progress_{0};
  std::atomic<std::uint32_t> lines_left_{0};
  std::atomic<std::uint32_t> signals_in_flight_{0};
  std::atomic<bool> trouble_reported_{false};
};

}  // namespace troupe
