// barrier_actor.cpp - who has come. barrier_rounds.cpp has what happens when all have,
// barrier_break.cpp how rounds end, barrier_turns.cpp how replicas take turns.

#include "troupe/actors/barrier_actor.hpp"

#include <algorithm>
#include <utility>

#include "troupe/core/contract.hpp"

namespace troupe {

namespace {

// The fields of progress_: how many lines are whole, have somebody waiting, have
// somebody finished. All lines add; whoever completes the picture acts on it.
constexpr std::uint64_t line_whole = 1;
constexpr std::uint64_t line_waits = std::uint64_t{1} << 20;
constexpr std::uint64_t line_finishes = std::uint64_t{1} << 40;
constexpr std::uint64_t field = line_waits - 1;

}  // namespace

barrier_share::barrier_share(barrier_actor& b, const party& where) noexcept
    : barrier(b), who(where), halt_signal(*this, who), fail_signal(*this, who) {
  TROUPE_ASSERT(reinterpret_cast<std::uintptr_t>(&intake.columns) % 64 == 0);  // See there.
}

barrier_actor::barrier_actor(std::span<const party> homes)
    : routine(who_),
      who_(homes.front()),
      gathered_(*this, who_),
      whole_(*this, who_),
      trouble_(*this, who_),
      all_halted_(*this, who_),
      all_finished_(*this, who_),
      asked_to_cancel_(*this, who_),
      all_have_come_(*this, who_, line_whole),
      all_wait_(*this, who_, line_whole + line_waits),
      all_finish_(*this, who_, line_whole + line_finishes) {
  footprint::made(this);
  footprint::made(&lines_left_);
  shares_.reserve(homes.size());
  for (const party& home : homes) {
    shares_.push_back(std::make_unique<share>(*this, home));
    footprint::made(shares_.back().get());
  }
}

void barrier_actor::admit(std::span<replica_actor> members) {
  members_ = members.data();
  const std::size_t lines = shares_.size();
  site_.round = merge_round(*members_, sizeof(replica_actor), members.size());
  site_.taken = &shares_.front()->intake;
  if (lines > 1) site_.taken_elsewhere = &intakes_elsewhere_;
  for (std::size_t i = 0; i < lines; ++i) {
    share& s = *shares_[i];
    s.alone = lines == 1;
    if (i != 0) intakes_elsewhere_.push_back(&s.intake);
    const std::size_t here = (members.size() - i + lines - 1) / lines;
    s.expected = static_cast<std::uint32_t>(here);
    // The first line's columns have room for what the others' are joined into; those are as
    // short as they can be, because they travel.
    const bool first = i == 0;
    s.rows = static_cast<std::uint32_t>(first ? members.size() : here);
    s.others_read = !first;
    const std::size_t apart = lines * sizeof(replica_actor);
    s.members = event_row(members[i], apart, here, &replica_actor::take_steps);
    s.released = event_row(members[i], apart, here, &barrier_actor::go_on);
    for (std::size_t m = 0; m < here; ++m) {
      replica_actor& r = s.member(m);
      r.admitted_to(&s, first ? r.replica() : static_cast<std::uint32_t>(m));
    }
  }
}

void barrier_actor::begin_run(activity& on_end, void* above, const void* mode, run_rules rules) {
  TROUPE_ASSERT(phase_ == phase::idle);
  on_end_ = &on_end;
  site_.above = above;
  site_.by_identity = rules.check == merge_check::identity;
  set_ambient(mode);
  rules_ = rules;
  phase_ = phase::gathering;
  cancel_asked_ = false;
  cancel_seen_ = over_ = false;
  merges_ = 0;
  last_agreed_ = place{};
  if (merge_failure_) merge_failure_ = nullptr;
  if (verdict_) {
    verdict_ = nullptr;
    report_.reset();
  }
  trouble_reported_.store(false, std::memory_order_relaxed);
  progress_.store(0, std::memory_order_relaxed);
  site_.result = &results_[0];
  if (stop_requested()) reset_stop();
  for (auto& s : shares_) {
    s->begin_round(*site_.result);
    s->finished = 0;
    s->halted = s->failing = s->in_turns = false;
    s->careful = s->who.on->traced() || footprint::wanted();
  }
  if (rules.order == replica_order::one_by_one) [[unlikely]] {
    begin_turns();
    return;
  }
  for (auto& s : shares_) s->who.on->post(s->members);
}

void barrier_actor::arrive_with_care(share& s, replica_actor& who, const place& here) noexcept {
  if (!s.failing) --s.to_come;  // Who is refused may come again and again.
  if (!s.careful) [[likely]] {
    count_arrival(s);
    return;
  }
  s.who.on->trace(trace_kind::arrive, who.owner(), here, merges_ + 1);
  touched(s, touch::arrive);
  if (s.halted) {
    if (s.failing) {
      who.request().refuse();
      who.mark_interrupted();
      who.wake();
    }
    return;
  }
  if (s.in_turns) {
    pass_turn(who);
    return;
  }
  count_arrival(s);
}

void barrier_actor::count_arrival(share& s) noexcept {
  count_progress(s, s.arrived() == 1, line_waits);
}

void barrier_actor::finish(replica_actor& who) noexcept {
  share& s = share_of(who);
  s.walk_past(who);
  s.end_walk();
  ++s.finished;
  if (s.careful && footprint::wanted()) [[unlikely]]
    touched(s, touch::finish);
  s.be_careful();  // From now on an arrival is a divergence.
  if (s.in_turns) [[unlikely]] {
    finish_in_turn(s, who);
    return;
  }
  if (s.halted) [[unlikely]] {
    if (s.failing && s.finished == s.expected) line_is_done();
    return;
  }
  if (who.is() == replica_actor::phase::failed) report_trouble();
  if (s.alone && s.finished == s.expected && phase_ == phase::gathering && !anybody_threw() &&
      scheduler::current() == who_.on) {
    // As judge() would find; in a simulation, where no line is current, it is somebody's turn.
    over_ = true;
    settle();
    return;
  }
  if (s.to_come == 0) s.begin_next();
  count_progress(s, s.finished == 1, line_finishes);
}

void barrier_actor::count_progress(share& s, bool first, std::uint64_t first_of_line) noexcept {
  const bool whole = s.to_come == s.finished;
  if (s.alone) {
    if (whole) {
      conclude_home(whole_, this);
    } else if (s.arrived() != 0 && s.finished != 0) {
      report_trouble();
    }
    return;
  }
  if (whole) s.expect(nullptr);  // Whoever comes next is the first of the next round.
  const std::uint64_t more = (first ? first_of_line : 0) + (whole ? line_whole : 0);
  if (more != 0) tell_progress(s, more);
}

void barrier_actor::tell_progress(share& s, std::uint64_t more) noexcept {
  if ((more & line_whole) != 0) {
    // Home, if it is awake, does the sum, which stays there then: nobody waits for it.
    note& all = more == line_whole     ? all_have_come_
                : more < line_finishes ? all_wait_
                                       : all_finish_;
    ++s.notes_sent;
    if (who_.on->note(all)) return;
    --s.notes_sent;
  }
  add_progress(more);
}

void barrier_actor::hear(std::uint64_t progress) noexcept {
  --signals_to_come_;
  add_progress(progress);
  if (over_) settle();
}

void barrier_actor::add_progress(std::uint64_t more) noexcept {
  // Two that add at the same time are ordered by the addition: the later one sees both, so
  // that neither a whole round nor a waiter beside a finisher goes unnoticed.
  // Unless there is something to signal, another line may end the run from here on, and its
  // owner the barrier: nothing of it is touched then.
  const std::size_t lines = shares_.size();
  const std::uint64_t now = progress_.fetch_add(more, std::memory_order_acq_rel) + more;
  if ((more & field) != 0 && (now & field) == lines) {
    // Nobody adds before the next round, for which home need not come here then.
    progress_.store(0, std::memory_order_relaxed);
    rounds_sent_.store(rounds_sent_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    who_.on->post_conclusion(whole_, this);
  } else if ((now & (field * line_waits)) != 0 && now >= line_finishes) {
    report_trouble();
  }
}

void barrier_actor::count_signal() noexcept {
  if (shares_.size() == 1) {
    // Counted all the same, because a simulation orders even the senders of one line.
    ++signals_to_come_;
  } else {
    signals_sent_.fetch_add(1, std::memory_order_relaxed);
  }
}

void barrier_actor::signal_home(event& e) noexcept {
  count_signal();
  who_.on->post(e);
}

void barrier_actor::conclude_home(event& e, const void* done) noexcept {
  count_signal();
  who_.on->post_conclusion(e, done);
}

void barrier_actor::touched(const share& s, touch how) const noexcept {
  if (s.in_turns) how = touch::change;
  footprint::touches(&s, how);
  if (!s.halted) footprint::touches(this, how);
  if (s.failing) footprint::touches(&lines_left_, touch::arrive);
}

void barrier_actor::settle() noexcept {
  // A signal that is still on its way must not reach the next run.
  if (!over_) return;
  std::uint32_t to_come = signals_to_come_ + signals_sent_.load(std::memory_order_relaxed) +
                          rounds_sent_.load(std::memory_order_relaxed);
  for (auto& s : shares_) to_come += s->notes_sent;
  if (to_come != 0) return;
  over_ = false;
  phase_ = phase::idle;
  for (auto& s : shares_) s->intake.drop();
  for (merge_result& each : results_) each.clear();
  on_end_->wake();
}

void barrier_actor::throw_failure(const replica_actor& who, bool broken) {
  const barrier_actor& barrier = of(who);
  std::rethrow_exception(broken ? barrier.verdict_ : barrier.merge_failure_);
}

void barrier_actor::abandon() noexcept {
  abandon_chain();
  for (merge_result& each : results_) each.clear();
  merge_body_ = task<>();
  phase_ = phase::idle;
}

}  // namespace troupe
