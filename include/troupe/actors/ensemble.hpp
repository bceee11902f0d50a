// ensemble.hpp - the replicas of one run and the barrier they meet at.
//
// A strategy keeps its ensembles and uses them again: a run of a size that was run
// before makes nothing new. Runs that overlap, and runs inside a merge function, have
// an ensemble each.
//
// Guarantees
//   dealt    replica i lives on line i of those it was given, modulo their number;
//   blame    outcome() is decided by replica id, never by the order of events;
//   safe     a cancellation that comes late does not reach the next run.

#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "troupe/actors/barrier_actor.hpp"
#include "troupe/actors/replica_actor.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe {

class ensemble final : public root, public detail::recycled {
 public:
  /// The replicas are dealt out to the first `lines` lines. `keeper` is whoever owns it.
  ensemble(std::shared_ptr<runtime_state> on, std::size_t replicas, std::size_t lines,
           void* keeper);
  ~ensemble() override;

  void* keeper() const noexcept { return keeper_; }
  bool lives_on(const runtime_state& where) const noexcept { return on_.get() == &where; }

  std::size_t size() const noexcept { return size_; }
  replica_actor& replica(std::size_t i) noexcept { return replicas_[i]; }

  /// What a run hands down from the layer above.
  struct order {
    replica_program* program;
    void* above;               ///< For merge functions.
    const void* replica_mode;  ///< Ambient context of the replicas …
    const void* merge_mode;    ///< … and of the merge functions.
    run_rules rules;
  };

  /// Starts a run on all lines; `caller` is woken when every replica has finished.
  void begin(activity& caller, const order& what);

  /// Breaks the present run, from the line of its caller. It may come too late, when all else
  /// has ended: `owner` keeps this alive until then.
  void cancel(std::shared_ptr<void> owner) noexcept;
  bool cancel_sent() const noexcept { return cancel_sent_; }

  /// The run's failure, or null: the exception of the lowest replica that failed by
  /// itself, or else the error that broke the run. \pre The run has ended.
  std::exception_ptr outcome() const;

  /// The picture of the failed run, if it had to be broken.
  const std::optional<error>& report() const noexcept { return barrier_.report(); }

  /// Ends the caller's use; `idle` may be called now, or once a late cancel() is back.
  void release(void (*idle)(ensemble&) noexcept) noexcept;

  void describe(std::vector<std::string>& lines) const override;
  void abandon() noexcept override;

 private:
  struct cancel_event final : event {
    cancel_event(ensemble& e, const party& owner) noexcept
        : event(&cancel_event::run, owner), target(e) {}
    static void run(event& self, turn how) noexcept;
    ensemble& target;
    std::shared_ptr<void> keeps;
  };

  void let_go() noexcept;

  std::shared_ptr<runtime_state> on_;
  void* keeper_;
  std::size_t size_;
  recycled_vector<party> parties_;
  barrier_actor barrier_;
  // Contiguous: a round walks them in order. They do not move.
  void* memory_ = nullptr;
  replica_actor* replicas_ = nullptr;
  cancel_event cancel_event_;
  bool cancel_sent_ = false;
  std::atomic<int> holders_{0};
  void (*idle_)(ensemble&) noexcept = nullptr;
};

}  // namespace troupe
