// replica_actor.cpp - enter, run, finish.

#include "troupe/actors/replica_actor.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "troupe/actors/barrier_actor.hpp"
#include "troupe/core/error.hpp"

namespace troupe {

namespace {

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

/// So that who has kept a number of a replica that is gone can be told so, those of all replicas of
/// the process differ: for 2^34 runs of each of 2^28. Odd, and the next bit is clear: see
/// merge_request.
std::uintptr_t first_run_id() noexcept {
  constexpr int bits_of_runs = std::numeric_limits<std::uintptr_t>::digits / 16 * 9;
  static constinit std::atomic<std::uintptr_t> replicas{0};
  return (replicas.fetch_add(1, std::memory_order_relaxed) << bits_of_runs) + 1;
}

}  // namespace

replica_actor::replica_actor(const party& who, std::uint32_t replica) noexcept
    : routine(&replica_actor::take_step, who), replica_(replica) {
  run_id_ = first_run_id();
}

std::size_t replica_actor::take_steps(detail::ready_ring& from, std::size_t most) noexcept {
  activity* const outer = begin_row();
  event_row part = from.take_row(most);
  do {
    auto& who = static_cast<replica_actor&>(part.take_front());
    if (who.phase_ == phase::starting) {
      who.enter(outer);
    } else {
      who.step();
    }
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
    enter(begin_row());
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

void replica_actor::enter(activity* outer) noexcept {
  phase_ = phase::running;
  step_with_care_ = owner().on->traced();
  owner().on->trace(trace_kind::start, owner());
  try {
    impersonate(outer, [&] { frame_ = program_->enter(*this); });
  } catch (...) {
    failure_ = std::current_exception();
    finish(phase::failed);
    return;
  }
  if (frame_) {
    resume(outer);
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
