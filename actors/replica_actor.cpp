// replica_actor.cpp - enter, run, finish.

#include "troupe/actors/replica_actor.hpp"

#include <string>
#include <utility>

#include "runtime/core/fetch.hpp"
#include "troupe/actors/barrier_actor.hpp"
#include "troupe/core/error.hpp"

namespace troupe {

namespace {

/// How far ahead of the step its frame is fetched, in rows that do not lie in the nearest cache.
constexpr std::size_t steps_ahead = 24;
constexpr std::size_t near_replicas = 128;

std::exception_ptr injected_crash(const place& at) noexcept {
  try {
    const std::string where = at.line() == 0 ? "before it began" : "at " + to_string(at);
    return std::make_exception_ptr(
        error(errc::injected_fault, "the replica crashed " + where + ", as the world allowed",
              "let the program live with it: see fault_budget::crashes()"));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

/// Resumes each, and the same again as long as nobody but their barrier steps in between: what
/// every round pays, in one piece.
template <bool ahead>
std::size_t replica_actor::resume_all(detail::ready_ring& from, std::size_t most) noexcept {
  activity* const outer = current();
  do {
    event_row soon = from.row();
    soon.take(steps_ahead);
    event_row part = from.take_row(most);
    do {
      if constexpr (ahead) {
        if (!soon.empty()) static_cast<replica_actor&>(soon.take_front()).fetch_frame();
      }
      static_cast<replica_actor&>(part.take_front()).resume_in_row(outer);
    } while (!part.empty() && !from.ended());  // With its runtime, in one of these steps.
    end_row(outer);
  } while (from.next_row(most) && ahead == from.row().longer_than(near_replicas));
  return most;
}

std::size_t replica_actor::go_on(detail::ready_ring& from, std::size_t most) noexcept {
  // The barrier's line has read what the next arrival writes to.
  detail::fetch_to_write(static_cast<replica_actor&>(from.row()[0]).share());
  return from.row().longer_than(near_replicas) ? resume_all<true>(from, most)
                                               : resume_all<false>(from, most);
}

std::size_t replica_actor::take_steps(detail::ready_ring& from, std::size_t most) noexcept {
  event_row part = from.take_row(most);
  do {
    part.take_front().step();
  } while (!part.empty() && !from.ended());
  return most;
}

void replica_actor::step_slowly(turn how) noexcept {
  if (how == turn::drop) return;
  if (given_turn_) [[unlikely]] {
    step_in_turn(how);
    return;
  }
  if (how == turn::crash) {
    crash();
    return;
  }
  if (how == turn::cancel) barrier_actor::of(*this).ask_to_cancel();
  if (phase_ == phase::starting) {
    step_with_care_ = owner().on->traced();
    enter();
  } else {
    if (owner().on->traced()) owner().on->trace(trace_kind::resume, owner(), told_where());
    resume();
  }
}

void replica_actor::step_in_turn(turn how) noexcept {
  given_turn_ = false;
  step_with_care_ = owner().on->traced();
  if (barrier_actor::take_turn(*this)) step_slowly(how);
}

void replica_actor::crash() noexcept {
  const place at = told_where();
  abandon_chain();
  if (auto frame = std::exchange(frame_, nullptr)) frame.destroy();
  failure_ = injected_crash(at);
  finish(phase::failed);
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
