// barrier_rounds.cpp - merge, release, resume: what every round pays.
//
// Built so that its loop over the replicas lies in one line of the processor's cache.

#include <utility>

#include "runtime/core/fetch.hpp"
#include "troupe/actors/barrier_actor.hpp"

namespace troupe {

namespace {

/// How far ahead of the step its frame is fetched, in rows that do not lie in the nearest cache.
constexpr std::size_t steps_ahead = 48;
constexpr std::size_t near_replicas = 2048;

}  // namespace

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
      merged_at_once(merge(*site_.taken, begin_row()));
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

void barrier_actor::merged_at_once(merge_end how) noexcept {
  // Abandoned, if the function has ended its own runtime.
  if (how == merge_end::arranged || phase_ != phase::gathering) return;
  merged(how == merge_end::threw);
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

inline void barrier_actor::agreed(const merge_intake& first) noexcept {
  ++merges_;
  last_agreed_ = first.kind ? first.at : members_->request().where();
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

/// What the last round gave has been seen by all who have come to this one.
inline merge_result& barrier_actor::begin_round() noexcept {
  merge_result& next = other_than(site_.result);
  site_.result = &next;
  next.clear();
  return next;
}

// Like take_round() above its first use: GCC does not inline what it has instantiated before.
template <bool alike>
[[gnu::always_inline]] inline bool barrier_actor::merge_and_begin_round(share& alone,
                                                                        activity* outer) noexcept {
  const merge_end end = merge(alone.intake, outer);
  if (end != merge_end::returned || phase_ != phase::gathering) [[unlikely]] {
    merged_at_once(end);
    return false;
  }
  if constexpr (alike) {
    ++merges_;
    alone.result = &begin_round();
  } else {
    agreed(alone.intake);
    alone.begin_round(begin_round());
  }
  return true;
}

void barrier_actor::merge_gathered() noexcept {
  --signals_to_come_;
  if (phase_ != phase::gathering) [[unlikely]] {  // It was cancelled meanwhile.
    settle();
    return;
  }
  share& alone = *shares_.front();
  if (merge_and_begin_round<false>(alone, begin_row())) {
    who_.on->post(alone.released);  // Who comes with care comes to judge().
  }
}

std::size_t barrier_actor::go_on(detail::ready_ring& from, std::size_t most) noexcept {
  share& s = share_of(static_cast<replica_actor&>(from.row()[0]));
  detail::fetch_to_write(&s);  // The barrier's line has read what the next arrival writes to.
  const auto resumes = from.row().longer_than(near_replicas)
                           ? (s.alone ? take_rounds<true> : resume_row<true>)
                           : (s.alone ? take_rounds<false> : resume_row<false>);
  return resumes(s, from, most);
}

/// False if not all go on at once. A round that is `alike` follows one that was taken here, and all
/// have arrived as they did then: it stands at the same place, what has been posted since would be
/// first in the queue, and nobody has cancelled, because only events do.
template <bool alike>
[[gnu::always_inline]] inline bool barrier_actor::take_round(share& alone, detail::ready_ring& from,
                                                             std::size_t& most,
                                                             activity* outer) noexcept {
  const bool others_wait =
      alike ? from.has_first() : from.anything_else() || phase_ != phase::gathering;
  const std::size_t steps = 1 + alone.expected;
  if (others_wait || most < steps) [[unlikely]] {
    alone.to_come = 0;
    signal_home(gathered_);
    return false;
  }
  most -= steps;
  if (!merge_and_begin_round<alike>(alone, outer)) return false;
  if (!from.has_first()) [[likely]]
    return true;
  who_.on->post(alone.released);  // What the function has made ready comes first.
  return false;
}

/// Resumes those of the only line, and where nobody else has anything to do takes the round that
/// they make whole, and resumes them again: what every round pays, in one piece.
template <bool ahead>
std::size_t barrier_actor::take_rounds(share& alone, detail::ready_ring& from,
                                       std::size_t most) noexcept {
  activity* const outer = replica_actor::begin_row();
  event_row soon = from.row();
  event_row part = from.take_row(most);
  alone.begin_walk(part[0]);
  barrier_actor& barrier = alone.barrier;
  const event* const nobody = &barrier.gathered_;
  const event* all_alike = nobody;  // Where a walk stays in which all arrive as in the one before.
  for (;;) {
    if (!resume_all<ahead>(alone, part, sizeof(replica_actor), soon, from, outer)) return most;
    const bool alike = alone.walked_from == all_alike;
    if (alike) [[likely]] {
      if (!barrier.take_round<true>(alone, from, most, outer)) break;
    } else {
      if (!alone.count_walked(part.end())) break;
      if (!barrier.take_round<false>(alone, from, most, outer)) break;
    }
    soon = part = alone.released;
    const bool taken = alone.intake.kind != nullptr;  // Unless the function has kept them.
    if (alike && taken) [[likely]]
      continue;
    alone.begin_walk(part[0]);
    all_alike = taken ? &part[0] : nobody;
  }
  if (from.ended()) return most;
  alone.end_walk();
  replica_actor::end_row(outer);
  return most;
}

/// Resumes the replicas of one line of several. As long as one of them has not ended, nor does the
/// run; after that its owner may end the barrier.
template <bool ahead>
std::size_t barrier_actor::resume_row(share& s, detail::ready_ring& from,
                                      std::size_t most) noexcept {
  activity* const outer = replica_actor::begin_row();
  const event_row soon = from.row();
  const event_row part = from.take_row(most);
  s.begin_walk(part[0]);
  if (!resume_all<ahead>(s, part, s.members.distance(), soon, from, outer)) return most;
  replica_actor::end_row(outer);
  const bool whole = s.count_walked(part.end());
  s.end_walk();
  if (whole) s.barrier.count_arrival(s);
  return most;
}

/// Resumes those of `part`, while it fetches those of `soon`. False if there is nothing left to do,
/// and perhaps nobody left: the last one has ended, or somebody has ended the runtime.
template <bool ahead>
[[gnu::always_inline]] inline bool barrier_actor::resume_all(share& s, event_row part,
                                                             std::size_t apart, event_row soon,
                                                             const detail::ready_ring& from,
                                                             activity* outer) noexcept {
  if constexpr (ahead) soon.take(steps_ahead);
  do {
    if constexpr (ahead) {
      if (!soon.empty()) static_cast<replica_actor&>(soon.take_front(apart)).fetch_frame();
    }
    auto& who = static_cast<replica_actor&>(part.take_front(apart));
    const auto then = who.resume_in_row(outer);
    if (then == row_step::waits_in_row) [[likely]]
      continue;
    // What a frame that ends destroys may do anything.
    if (then == row_step::ended && (part.empty() || from.ended())) return false;
    if (then == row_step::waits) s.walk_past(who);
  } while (!part.empty());
  return true;
}

}  // namespace troupe
