// replica_actor.cpp - enter, run, finish.

#include "troupe/actors/replica_actor.hpp"

#include <utility>

#include "troupe/actors/barrier_actor.hpp"

namespace troupe {

void replica_actor::step_slowly(turn how) noexcept {
  if (how == turn::drop) return;
  if (given_turn_) [[unlikely]] {
    step_in_turn();
    return;
  }
  if (phase_ == phase::starting) {
    step_with_care_ = owner().on->traced();
    enter();
  } else {
    owner().on->trace(trace_kind::resume, owner(), where());
    resume();
  }
}

void replica_actor::step_in_turn() noexcept {
  given_turn_ = false;
  step_with_care_ = owner().on->traced();
  if (barrier_actor::take_turn(*this)) step_slowly(turn::take);
}

void replica_actor::enter() noexcept {
  phase_ = phase::running;
  owner().on->trace(trace_kind::start, owner());
  try {
    impersonate([&] { frame_ = program_->enter(*this); });
  } catch (...) {
    failure_ = std::current_exception();
    finish(phase::failed);
    return;
  }
  if (frame_) {
    resume();
  } else {
    finish(phase::finished);
  }
}

void replica_actor::root_ended() noexcept {
  phase how = phase::finished;
  try {
    program_->collect(*this, frame_);
  } catch (...) {
    failure_ = std::current_exception();
    how = phase::failed;
  }
  std::exchange(frame_, nullptr).destroy();
  finish(how);
}

void replica_actor::finish(phase how) noexcept {
  phase_ = how;
  if (step_with_care_) {
    owner().on->trace(how == phase::failed ? trace_kind::fail : trace_kind::finish, owner(),
                      where());
  }
  // The next run may begin as soon as the last one finishes.
  barrier_actor::of(*this).finish(*this);
}

void replica_actor::abandon() noexcept {
  phase_ = phase::idle;
  abandon_chain();
  if (auto frame = std::exchange(frame_, nullptr)) frame.destroy();
}

}  // namespace troupe
