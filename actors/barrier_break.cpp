// barrier_break.cpp - how a run that cannot go on is ended, and what everybody is told.
//
// trouble -> halt on every line -> places of all replicas -> verdict -> fail on every line
// -> every replica finishes -> the run is over.

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "runtime/core/wording.hpp"
#include "troupe/actors/barrier_actor.hpp"

namespace troupe {

using detail::count_of;
using detail::list_of;

namespace {

using replica_ids = std::vector<std::uint32_t>;

const char* have(const replica_ids& who) { return who.size() == 1 ? " has " : " have "; }

std::string failure_headline(const replica_ids& failed, const replica_ids& finished,
                             const replica_ids& unfinished) {
  const std::string text = list_of(failed) + " failed";
  if (!unfinished.empty()) {
    const bool several = finished.empty() && unfinished.size() > 1;
    return text + "; " + (several ? "the others" : list_of(unfinished)) + " cannot merge without " +
           (failed.size() == 1 ? "it" : "them");
  }
  return finished.empty() ? text : text + "; " + list_of(finished) + have(finished) + "returned";
}

/// Merges that look alike in the picture, at one place, differ in their functions. Says whose is
/// not replica 0's, and from which call of the coroutine that merges it comes, if that is another
/// one. \pre Everybody waits at the barrier. \return whether nothing but functions of one type
/// differs.
bool tell_functions_apart(std::span<const replica_actor> members,
                          std::vector<replica_place>& picture) {
  merge_request& first = members.front().request();
  const std::vector<place> chain = members.front().await_chain();
  std::size_t outer = chain.size();  // Where the chains part; all have some of the first's.
  std::vector<std::size_t> alike;
  std::vector<std::vector<place>> chains;  // Theirs.
  bool one_type = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    one_type = one_type && members[i].request().same_kind(first);
    if (picture[i].doing != picture[0].doing || !same_place(picture[i].at, picture[0].at)) continue;
    alike.push_back(i);
    const auto& other = chains.emplace_back(members[i].await_chain());
    const auto parted =
        std::mismatch(chain.begin(), chain.end(), other.begin(), other.end(), same_place).first;
    outer = std::min(outer, static_cast<std::size_t>(parted - chain.begin()));
  }
  std::vector<place> calls;
  for (const auto& awaited : chains) {
    calls.push_back(outer < awaited.size() ? awaited[outer] : place{});
  }
  const std::vector<std::string> told = detail::told_apart(calls);
  for (std::size_t n = 0; n < alike.size(); ++n) {
    std::string& doing = picture[alike[n]].doing;
    merge_request& it = members[alike[n]].request();
    const bool same = it.same_kind(first) && first.kind().same_function(first, it);
    if (!same) doing += ", another function";
    if (calls[n].line() != 0) doing += ", awaited at " + told[n];
  }
  return one_type && alike.size() == members.size();
}

}  // namespace

void barrier_actor::report_trouble() noexcept {
  footprint::touches(this, touch::change);
  if (!trouble_reported_.exchange(true, std::memory_order_relaxed)) signal_home(trouble_);
}

void barrier_actor::break_up() noexcept {
  --signals_to_come_;
  // When all have finished, only a signal on its way holds the end back: nothing to break.
  if (phase_ == phase::gathering && !over_) begin_halt(errc::missing_replica);
  settle();
}

void barrier_actor::cancel() noexcept {
  if (over_) return;
  if (phase_ == phase::gathering) {
    begin_halt(errc::cancelled);
  } else if (phase_ == phase::merging) {
    cancel_seen_ = true;
    stop();  // What the merge function waits for; when it has ended, the run breaks.
  }
}

void barrier_actor::ask_to_cancel() noexcept {
  if (!std::exchange(cancel_asked_, true)) signal_home(asked_to_cancel_);
}

void barrier_actor::cancel_as_asked() noexcept {
  --signals_to_come_;
  cancel();
  settle();
}

void barrier_actor::begin_halt(errc reason) noexcept {
  phase_ = phase::halting;
  reason_ = reason;
  lines_left_.store(static_cast<std::uint32_t>(shares_.size()), std::memory_order_relaxed);
  try {
    places_.assign(site_.round.size(), replica_place{});
  } catch (...) {
    places_.clear();  // Out of memory for the picture: the verdict goes without it.
  }
  for (auto& s : shares_) s->who.on->post(s->halt_signal);
}

void barrier_share::halt() noexcept {
  footprint::touches(this, touch::change);
  footprint::touches(&barrier.lines_left_, touch::arrive);
  halted = true;
  be_careful();  // From now on an arrival is refused, also where there is one line.
  try {
    for (std::size_t i = 0; i < expected; ++i) {
      const replica_actor& r = member(i);
      footprint::touches(r.owner(), touch::look);
      if (!barrier.places_.empty()) barrier.places_[r.replica()] = barrier.place_of(r);
    }
  } catch (...) {
    // Out of memory for the picture: the verdict goes with what there is.
  }
  if (barrier.lines_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    barrier.conclude_home(barrier.all_halted_, &barrier.lines_left_);
  }
}

replica_place barrier_actor::place_of(const replica_actor& r) const {
  replica_place p;
  p.replica = r.replica();
  switch (r.is()) {
    case replica_actor::phase::finished:
      p.is = replica_place::state::finished;
      p.at = last_agreed_;
      p.doing = merges_ == 0 ? "returned without merging"
                             : "returned after " + count_of(merges_, "merge");
      return p;
    case replica_actor::phase::failed:
      p.is = replica_place::state::failed;
      p.at = last_agreed_;
      p.doing = merges_ == 0 ? "threw: " : "threw after " + count_of(merges_, "merge") + ": ";
      p.doing += describe(r.failure());
      p.doing = p.doing.substr(0, p.doing.find('\n'));  // Its first line will do.
      return p;
    case replica_actor::phase::starting: p.doing = "has not begun"; return p;
    default: break;
  }
  p.at = r.told_where();
  if (const wait* waiting = r.waiting()) {
    p.is = replica_place::state::waiting;
    p.doing = waiting->describe();
  }
  return p;
}

void barrier_actor::pass_verdict() noexcept {
  footprint::touches(&lines_left_, touch::conclude);
  --signals_to_come_;
  phase_ = phase::broken;
  try {
    report_.emplace(facts_of_break());
    verdict_ = std::make_exception_ptr(*report_);
  } catch (...) {
    verdict_ = std::current_exception();
  }
  who_.on->trace(trace_kind::verdict, who_, last_agreed_, static_cast<std::uint64_t>(reason_));
  if (rules_.order == replica_order::one_by_one) {
    share& with_turn = share_of(member(turn_));
    with_turn.who.on->post(with_turn.fail_signal);
  } else {
    lines_left_.store(static_cast<std::uint32_t>(shares_.size()), std::memory_order_relaxed);
    for (auto& s : shares_) s->who.on->post(s->fail_signal);
  }
  settle();
}

void barrier_share::fail() noexcept {
  footprint::touches(this, touch::change);
  footprint::touches(&barrier.lines_left_, touch::arrive);
  if (in_turns) {
    barrier.unwind();
    return;
  }
  failing = true;
  if (result != barrier.site_.result) begin_next();  // Nobody here has come for the next one.
  for (std::size_t i = 0; i < expected; ++i) {
    replica_actor& r = member(i);
    footprint::touches(r.owner(), touch::change);
    // A replica that was released but has not gone on yet waits no more.
    if (refuse(r)) {
      r.mark_interrupted();
      r.wake();
    }
    if (r.unfinished()) r.stop();
  }
  if (finished == expected) barrier.line_is_done();
}

bool barrier_share::refuse(replica_actor& replica) const noexcept {
  if (!waits(replica)) return false;
  replica.request().refuse();
  return true;
}

void barrier_actor::line_is_done() noexcept {
  if (lines_left_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    conclude_home(all_finished_, &lines_left_);
}

void barrier_actor::close_run() noexcept {
  footprint::touches(&lines_left_, touch::conclude);
  --signals_to_come_;
  over_ = true;
  settle();
}

error_facts barrier_actor::facts_of_break() {
  replica_ids unfinished, waiting, finished, failed;
  for (const auto& p : places_) {
    if (p.is == replica_place::state::waiting) waiting.push_back(p.replica);
    auto& group = p.is == replica_place::state::finished ? finished
                  : p.is == replica_place::state::failed ? failed
                                                         : unfinished;
    group.push_back(p.replica);
  }
  errc code = reason_;
  if (code == errc::missing_replica && !failed.empty()) code = errc::replica_failed;
  error_facts facts(code, "");
  switch (code) {
    case errc::merge_mismatch:
      facts.what =
          "replicas reached different merge points (merge #" + std::to_string(merges_ + 1) + ")";
      facts.note = "TensorFlow would have run replica 0's function for all of them.";
      if (!places_.empty() && tell_functions_apart({members_, places_.size()}, places_)) {
        facts.note =
            "They came to one merge with functions that differ; TensorFlow would have run replica "
            "0's for all of them.";
      }
      facts.fix = "make the condition the same on every replica (reduce it first), or merge on "
                  "both paths";
      break;
    case errc::replica_failed:
      facts.what = failure_headline(failed, finished, unfinished);
      facts.fix = failed.size() == 1
                      ? "see to its exception: it is what the run throws"
                      : "see to their exceptions: the run throws that of the lowest replica";
      break;
    case errc::cancelled:
      facts.what = "the run was cancelled by its caller";
      facts.fix = "none needed, if that was meant; a timeout may be too short";
      break;
    default:
      facts.what = list_of(finished) + " of " + std::to_string(places_.size()) + have(finished) +
                   "finished and can never arrive; " + list_of(waiting) + " would wait forever";
      facts.fix = "let every replica merge equally often: one data set may be shorter, one path "
                  "may skip the merge";
  }
  facts.replicas = std::move(places_);
  facts.merges_agreed = merges_;
  facts.last_agreed = last_agreed_;
  facts.replay = who_.on->replay_hint();
  return facts;
}

}  // namespace troupe
