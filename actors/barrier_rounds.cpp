// barrier_rounds.cpp - merge, release, resume: what every round pays.
//
// Built so that its loop over the replicas lies in one line of the processor's cache.

#include <utility>

#include "runtime/core/fetch.hpp"
#include "troupe/actors/barrier_actor.hpp"

namespace troupe {

namespace {

/// How far ahead of the step its frame is fetched, in rows that do not lie in the nearest cache.
constexpr std::size_t steps_ahead = 24;
constexpr std::size_t near_replicas = 2048;

}  // namespace

std::size_t barrier_actor::go_on(detail::ready_ring& from, std::size_t most) noexcept {
  share& s = share_of(static_cast<replica_actor&>(from.row()[0]));
  detail::fetch_to_write(&s);  // The barrier's line has read what the next arrival writes to.
  const auto resumes = from.row().longer_than(near_replicas)
                           ? (s.alone ? take_rounds<true> : resume_row<true>)
                           : (s.alone ? take_rounds<false> : resume_row<false>);
  return resumes(s, from, most);
}

/// Resumes those of `part`, while it fetches those of `soon`. False if one has ended the runtime.
template <bool ahead>
[[gnu::always_inline]] inline bool barrier_actor::resume_all(event_row part, event_row soon,
                                                             const detail::ready_ring& from,
                                                             activity* outer) noexcept {
  if constexpr (ahead) soon.take(steps_ahead);
  do {
    if constexpr (ahead) {
      if (!soon.empty()) static_cast<replica_actor&>(soon.take_front()).fetch_frame();
    }
    // What a frame that ends destroys may do anything.
    if (static_cast<replica_actor&>(part.take_front()).resume_in_row(outer) && from.ended())
      return false;
  } while (!part.empty());
  return true;
}

/// Resumes the replicas of one line of several. Once they have arrived another line may end the
/// run, and its owner the barrier.
template <bool ahead>
std::size_t barrier_actor::resume_row(share&, detail::ready_ring& from, std::size_t most) noexcept {
  activity* const outer = replica_actor::begin_row();
  const event_row soon = from.row();
  resume_all<ahead>(from.take_row(most), soon, from, outer);
  replica_actor::end_row(outer);
  return most;
}

/// Resumes those of the only line, and where nobody else has anything to do takes the round that
/// they make whole, and resumes them again: what every round pays, in one piece.
template <bool ahead>
std::size_t barrier_actor::take_rounds(share& alone, detail::ready_ring& from,
                                       std::size_t most) noexcept {
  activity* const outer = replica_actor::begin_row();
  event_row soon = from.row();
  event_row part = from.take_row(most);
  alone.rows_walk = share::walk::under_way;
  for (;;) {
    if (!resume_all<ahead>(part, soon, from, outer)) return most;
    if (alone.rows_walk != share::walk::made_round_whole) break;
    barrier_actor& barrier = alone.barrier;
    const std::size_t steps = 1 + alone.released.size();
    if (most < steps || from.anything_else() || barrier.phase_ != phase::gathering) [[unlikely]] {
      barrier.signal_home(barrier.gathered_);
      break;
    }
    most -= steps;
    if (!barrier.merge_and_begin_round(alone, outer)) {
      if (from.ended()) return most;
      break;
    }
    if (from.has_first()) [[unlikely]] {  // The function has made it ready: it comes first.
      barrier.who_.on->post(alone.released);
      break;
    }
    alone.rows_walk = share::walk::under_way;
    soon = part = alone.released;
  }
  alone.rows_walk = share::walk::none;
  replica_actor::end_row(outer);
  return most;
}

void barrier_actor::merge_gathered() noexcept {
  --signals_to_come_;
  if (phase_ != phase::gathering) [[unlikely]] {  // It was cancelled meanwhile.
    settle();
    return;
  }
  share& alone = *shares_.front();
  if (merge_and_begin_round(alone, begin_row())) {
    who_.on->post(alone.released);  // Who comes with care comes to judge().
  }
}

[[gnu::always_inline]] inline bool barrier_actor::merge_and_begin_round(share& alone,
                                                                        activity* outer) noexcept {
  const merge_end end = merge(alone.intake, outer);
  if (end != merge_end::returned || phase_ != phase::gathering) [[unlikely]] {
    // Abandoned, if the function has ended its own runtime.
    if (end != merge_end::arranged && phase_ == phase::gathering) merged(end == merge_end::threw);
    return false;
  }
  agreed(alone.intake);
  alone.begin_round(begin_round());
  return true;
}

inline void barrier_actor::agreed(const merge_intake& first) noexcept {
  ++merges_;
  last_agreed_ = first.kind ? first.at : members_->where();
}

/// What the last round gave has been seen by all who have come to this one.
inline merge_result& barrier_actor::begin_round() noexcept {
  merge_result& next = other_than(site_.result);
  site_.result = &next;
  next.clear();
  return next;
}

void barrier_actor::judge() noexcept {
  footprint::touches(this, touch::conclude);
  --signals_to_come_;
  if (phase_ == phase::gathering) {
    for (const merge_intake* each : intakes_elsewhere_) each->fetch();
    detail::fetch_to_write(site_.result);  // Which all lines have read.
    std::size_t finished = 0;
    for (const auto& s : shares_) finished += s->finished;
    if (finished == 0) {
      who_.on->trace(trace_kind::merge_begin, who_, members_->where(), merges_ + 1);
      if (rules_.order == replica_order::one_by_one) site_.result->clear();  // Rounds have but one.
      const merge_end end = merge(*site_.taken, begin_row());
      if (end != merge_end::arranged && phase_ == phase::gathering) {
        merged(end == merge_end::threw);
      }
      return;
    }
    if (finished == site_.round.size()) {
      over_ = true;
    } else {
      begin_halt(errc::missing_replica);
    }
  }
  settle();
}

[[gnu::always_inline]] inline barrier_actor::merge_end barrier_actor::merge(
    const merge_intake& first, activity* outer) noexcept {
  if (merge_failure_) {
    end_row(outer);
    merge_failure_ = nullptr;
  }
  try {
    auto how = merge_progress::disagreed;
    // Whom all agree with is nearer than replica 0, if there is somebody.
    const merge_kind& kind = first.kind ? *first.kind : members_->request().kind();
    impersonate(outer, [&] { how = kind.merge(site_, merge_body_); });
    if (how == merge_progress::returned) [[likely]]
      return merge_end::returned;
    if (how == merge_progress::disagreed) {
      begin_halt(errc::merge_mismatch);
    } else {
      phase_ = phase::merging;  // Others have their turn meanwhile, and may cancel.
      merge_body_.begin_on(*this);
      resume();  // Ends in root_ended(), now or later.
    }
    return merge_end::arranged;
  } catch (...) {
    merge_failure_ = std::current_exception();
  }
  return merge_end::threw;
}

void barrier_actor::root_ended() noexcept {
  bool failed = false;
  try {
    merge_body_.take();
  } catch (...) {
    merge_failure_ = std::current_exception();
    failed = true;
  }
  merge_body_ = task<>();
  merged(failed);
}

void barrier_actor::merged(bool failed) noexcept {
  who_.on->trace(trace_kind::merge_end, who_, members_->where(), failed ? 1 : 0);
  if (!failed) agreed(*site_.taken);
  if (cancel_seen_) {
    begin_halt(errc::cancelled);
  } else {
    release();
  }
}

void barrier_actor::release() noexcept {
  // Everybody waits. What other lines write to stays as it is: it would have to come here.
  phase_ = phase::gathering;
  if (rules_.order == replica_order::one_by_one) [[unlikely]] {
    release_first();
    return;
  }
  if (merge_failure_) {
    for (std::size_t i = 0; i < site_.round.size(); ++i) site_.round[i].fail();
  }
  merge_result& next = begin_round();
  share& first = *shares_.front();
  if (first.alone) first.begin_round(next);
  const bool careful = first.careful;  // All are or none: nobody has finished.
  for (auto& s : shares_) s->who.on->post(careful ? s->members : s->released);
}

}  // namespace troupe
