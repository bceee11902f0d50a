// barrier_turns.cpp - replica_order::one_by_one: replicas run in turn, by id.
//
// The turn is passed on by posting the next replica's event, from the line of the one before
// it. No other replica runs, so that whoever has the turn may touch what belongs to all. Who
// waits for its turn after a merge still counts as waiting until then: to a run that breaks it is
// one of those who wait.
//
// Halted lines neither pass the turn on nor take it. The verdict therefore goes to one replica,
// which had the turn last; it may be anywhere, and ends first. The others follow by id, one at a
// time again; those that were never entered are left out.

#include <utility>

#include "troupe/actors/barrier_actor.hpp"

namespace troupe {

replica_actor& barrier_actor::member(std::size_t i) noexcept {
  return shares_[i % shares_.size()]->member(i / shares_.size());
}

void barrier_actor::begin_turns() noexcept {
  for (auto& s : shares_) {
    s->be_careful();
    s->in_turns = true;
  }
  give_turn(0);
}

void barrier_actor::give_turn(std::size_t i) noexcept {
  turn_ = i;
  footprint::touches(member(i).owner(), touch::change);
  member(i).give_turn();  // It may run from here on: nothing is touched any more.
}

void barrier_actor::pass_turn(const replica_actor& from) noexcept {
  const std::size_t next = from.replica() + 1;
  if (next == site_.round.size()) {
    conclude_home(whole_, this);
  } else {
    give_turn(next);
  }
}

bool barrier_actor::take_turn(replica_actor& who) noexcept {
  const share& s = share_of(who);
  footprint::touches(&s, touch::change);
  if (!s.halted) {
    if (s.barrier.merge_failure_ && s.waits(who)) who.request().fail();
    return true;
  }
  if (s.failing) s.barrier.unwind_next();  // The verdict was here first.
  return false;
}

void barrier_actor::finish_in_turn(const share& s, const replica_actor& who) noexcept {
  if (s.failing) {
    unwind_next();
  } else if (s.halted) {
    return;  // The verdict will find it finished.
  } else if (who.is() == replica_actor::phase::failed) {
    report_trouble();
  } else {
    pass_turn(who);
  }
}

void barrier_actor::release_first() noexcept {
  for (auto& s : shares_) s->to_come = s->expected;
  give_turn(0);
}

void barrier_actor::unwind() noexcept {
  for (auto& s : shares_) {
    footprint::touches(s.get(), touch::change);
    s->failing = true;
  }
  unwound_ = 0;
  replica_actor& last = member(turn_);
  footprint::touches(last.owner(), touch::change);
  if (last.given_turn()) return;  // Its event is on its way, and take_turn() goes on.
  if (last.is() == replica_actor::phase::running && !share_of(last).waits(last)) {
    last.stop();  // When it has wound up, finish_in_turn() goes on.
    return;
  }
  unwind_next();
}

void barrier_actor::unwind_next() noexcept {
  for (; unwound_ < site_.round.size(); ++unwound_) {
    replica_actor& r = member(unwound_);
    footprint::touches(r.owner(), touch::change);
    if (!r.unfinished()) continue;
    r.mark_interrupted();
    if (share_of(r).refuse(r)) {
      r.stop();
      r.wake();  // It may run from here on.
      return;
    }
  }
  conclude_home(all_finished_, &lines_left_);
}

}  // namespace troupe
