// wait.hpp - what a suspended activity waits for, as pictures, errors and cancellation see it.

#pragma once

#include <string>

#include "troupe/core/place.hpp"

namespace troupe {

class wait;

/// What all waits of one type share.
struct wait_kind {
  /// Ends the wait early: the activity resumes soon, with an error. It may have been too
  /// late, in which case the activity resumes with what it waited for. Called on the
  /// activity's line, at most once.
  void (*cancel)(wait&) noexcept;

  /// "merge_call(int)", "a reply".
  std::string (*describe)(const wait&);

  /// It is a merge_request, a placed_wait.
  bool at_barrier = false;
};

/// What a suspended activity waits for. Lives in the awaiter, in the frame; one pointer,
/// because a replica makes one at every merge.
class wait {
 public:
  void cancel() noexcept { kind_->cancel(*this); }
  std::string describe() const { return kind_->describe(*this); }
  bool at_barrier() const noexcept { return kind_->at_barrier; }

 protected:
  explicit wait(const wait_kind& kind) noexcept : kind_(&kind) {}
  const wait_kind* kind_;
};

/// A wait that says itself where it is awaited. A replica makes one at every merge: so the barrier
/// needs not look for the place in the promise of a coroutine.
class placed_wait : public wait {
 public:
  place where() const noexcept { return at_; }
  /// \pre Before it is awaited.
  void stand_at(place_pointer here) noexcept { at_ = place_of(here); }

 protected:
  using wait::wait;

 private:
  place at_;
};

/// A wait whose type has members `cancel_wait()` and `describe_wait()`.
template <class Derived>
class wait_as : public wait {
 protected:
  wait_as() noexcept : wait(kind_of) {}

 private:
  static void cancel_it(wait& w) noexcept { static_cast<Derived&>(w).cancel_wait(); }
  static std::string describe_it(const wait& w) {
    return static_cast<const Derived&>(w).describe_wait();
  }
  static constexpr wait_kind kind_of{&cancel_it, &describe_it};
};

}  // namespace troupe
