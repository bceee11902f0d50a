// sim_engine.cpp - the loop: choose, step, drain the hops, let time pass when idle.

#include "runtime/simulation/sim_engine.hpp"

#include <algorithm>

#include "troupe/core/error.hpp"
#include "troupe/runtime/root_task.hpp"

namespace troupe::detail {

namespace {

/// Current while a world runs. Nothing is ever posted to it: its one purpose is that no
/// world's line is current, so that every post passes through the engine.
class inside_simulation final : public scheduler {
 public:
  explicit inside_simulation(runtime_state& home) : scheduler(0, home) {}

  static scheduler* enter(scheduler* with) noexcept { return std::exchange(current_, with); }

 private:
  void post_from_outside(ready_entry) noexcept override {}
};

class program_root final : public root_task<void> {
 public:
  using root_task::root_task;
  ~program_root() { drop_body(); }

  bool ended() const noexcept { return ended_; }
  using root_task::body_;
  void abandon() noexcept override { drop_body(); }

 private:
  void root_ended() noexcept override { ended_ = true; }
  bool ended_ = false;
};

}  // namespace

schedule::deviation choice_point::place() const { return engine.told(engine.place(is_value)); }
schedule::deviation choice_point::told(std::size_t i) const {
  return engine.told(engine.turn_of(is_value, i));
}

sim_line::sim_line(std::size_t index, sim_engine& home) : scheduler(index, home), engine_(home) {}
std::string sim_line::replay_hint() const {
  schedule so_far = engine_.taken();
  so_far.program = 0;  // Others may come yet.
  return to_string(so_far);
}

void sim_line::post_from_outside(ready_entry what) noexcept {
  what.for_each([&](event& e) { engine_.post(e); });
}

void sim_line::post_conclusion_from_outside(event& e, const void* done) noexcept {
  engine_.post_conclusion(e, done);
}

sim_engine::sim_engine(const simulation_options& options, choice_policy& policy, step_log* log)
    : runtime_state(false),
      options_(options),
      policy_(policy),
      sim_lines_(std::max<std::size_t>(options.lines, 1)),
      step_limit_(options.max_steps),
      most_unseen_(std::max<std::uint64_t>(options.max_steps, 10'000)),
      early_timeouts_(options.early_timeouts),
      log_(log) {
  if (log_) log_->clear();
  reserve_lines(sim_lines_.size());
  for (std::size_t i = 0; i < sim_lines_.size(); ++i) add_line(sim_lines_[i].emplace(i, *this));
}

sim_engine::~sim_engine() { close(); }

void sim_engine::run(const simulation::program& body) {
  inside_simulation guard(*this);
  scheduler* const outer = inside_simulation::enter(&guard);
  struct leave {
    scheduler* outer;
    step_log* log;
    ~leave() {
      if (log) log->stop_listening();
      inside_simulation::enter(outer);
    }
  } const on_exit{outer, log_};
  if (log_) {
    log_->listen();
    footprint::made(static_cast<const runtime_state*>(this));
    footprint::made(&faults_);
  }

  if (early_timeouts_ > 0) {
    clock_id_ = enroll("time", 0, 0).id;
    if (log_) log_->note_clock(clock_id_);
  }
  world w(std::static_pointer_cast<sim_engine>(shared_from_this()));
  program_root root(shared_from_this(), body(w));
  enlist(root);
  struct close_first {
    sim_engine& engine;
    ~close_first() { engine.close(); }  // Frames end while their world is whole.
  } const at_end{*this};
  root.wake();
  while (step()) {
    if (!root.ended()) look_at_claims();
    if (steps_ > step_limit_) fail_as_too_long();
  }
  if (root.ended()) root.body_.take();
  if (root.ended()) claims_.require_what_was_to_happen();
  if (!root.ended() || !waiting().empty()) fail_as_deadlock();
}

bool sim_engine::step() {
  run_hops();
  if (ready_.empty()) return advance_time();
  take(pick());
  return true;
}

void sim_engine::take(std::size_t chosen) {
  if (chosen == ready_.size()) {
    --early_timeouts_;
    let_time_pass();
    return;
  }
  auto& from = ready_[chosen];
  event& next = *from.what;
  if (log_) log_->begin(from.owner, from.key, from.cause);
  begin_step(from.owner, from.sender, ready_.size());
  const fault suffered = faults_.in_play() ? decide_fault(next.owner()) : fault::none;
  if (suffered == fault::stall || suffered == fault::delay) {
    hold(chosen);
  } else {
    if (!take_first(from)) ready_.erase(chosen);
    acting_ = last_;
    next.step(suffered == fault::crash          ? event::turn::crash
              : suffered == fault::cancellation ? event::turn::cancel
                                                : event::turn::take);
    run_hops();
    acting_ = 0;
  }
  if (log_) log_->end();
}

void sim_engine::note_in_journal(std::uint32_t owner, std::uint32_t sender, std::size_t options) {
  const auto count = static_cast<std::uint32_t>(options);
  journal_->push_back({owner, sender, count, picture_ ? picture_->recorded() : 0});
}

void sim_engine::look_at_claims() {
  if (log_ && claims_.any() && steps_ > 0) log_->watched();
  claims_.look();
}

bool sim_engine::advance_time() {
  if (timers_.empty()) return false;
  if (early_timeouts_ > 0) {
    // It could have passed as soon as there was a timer, before those who have stepped since.
    let_time_pass();
    return true;
  }
  if (++unseen_ > most_unseen_) fail_as_endless();
  if (log_) log_->time_moves();
  end_timers();
  return true;
}

void sim_engine::end_timers() {
  const auto earlier = [](const auto& a, const auto& b) {
    return a.deadline != b.deadline ? a.deadline < b.deadline : a.ticket < b.ticket;
  };
  now_ = std::min_element(timers_.begin(), timers_.end(), earlier)->deadline;
  // Equal deadlines fire together: what they make runnable is then chosen among.
  std::vector<pending_timer> due;
  std::erase_if(timers_, [&](auto& t) {
    if (t.deadline > now_) return false;
    due.push_back(std::move(t));
    return true;
  });
  std::sort(due.begin(), due.end(), earlier);
  for (auto& t : due) t.fire();
}

std::size_t sim_engine::pick() {
  const std::size_t options = ready_.size() + (early_timeouts_ > 0 && !timers_.empty() ? 1 : 0);
  if (options == 1) return 0;
  // The default order: who stepped last goes on, else who was made first, oldest link first.
  std::size_t usual = 0;
  std::uint32_t oldest = party_names::nobody;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    if (ready_[i].owner + 1 == last_) {
      usual = i;
      break;
    }
    const std::uint32_t birth = given_names_.birth_of(ready_[i].owner);
    if (birth < oldest) usual = i;
    oldest = std::min(oldest, birth);
  }
  return decide(options, usual, false);
}

std::uint32_t sim_engine::choose(std::uint32_t n) {
  if (n == 0) throw error(errc::invalid_device, "world::choose(0) has nothing to choose from");
  const std::uint32_t value = pick_value(n);
  if (log_) log_->chose(value);
  return value;
}

std::uint32_t sim_engine::pick_value(std::uint32_t n, bool of_fault) {
  ++chooses_;
  const auto value = n == 1 ? 0 : static_cast<std::uint32_t>(decide(n, 0, true, of_fault));
  if (journal_) journal_->push_back({step_record::no_owner, value, n});
  return value;
}

std::size_t sim_engine::decide(std::size_t count, std::size_t usual, bool is_value, bool of_fault) {
  const choice_point point{*this, count, usual, is_value, of_fault};
  const std::size_t chosen = policy_.choose(point);
  choices_ = mixed(choices_, chosen);
  if (chosen != usual) deviations_.push_back(turn_of(is_value, chosen));
  return chosen;
}

sim_engine::turn sim_engine::place(bool of_value) const noexcept {
  if (of_value) return {party_names::nobody, chooses_, 0, 0};
  if (last_ == 0) return {party_names::nobody, 0, party_names::nobody, 0};
  const std::uint32_t birth = given_names_.birth_of(last_ - 1);
  return {birth, given_names_.steps_of(birth), party_names::nobody, 0};
}

sim_engine::turn sim_engine::turn_of(bool of_value, std::size_t chosen) const noexcept {
  turn t = place(of_value);
  if (of_value) {
    t.then = static_cast<std::uint32_t>(chosen);
    return t;
  }
  const std::uint32_t owner = owner_of(chosen);
  t.then = given_names_.birth_of(owner);
  if (is_early_timeout(chosen)) return t;
  for (std::size_t i = 0; i < chosen; ++i) t.link += ready_[i].owner == owner ? 1u : 0u;
  return t;
}

schedule::deviation sim_engine::told(const turn& what) const {
  schedule::deviation d;
  d.after = given_names_.name_of(what.after);
  d.own_step = what.own_step;
  d.link = what.link;
  const bool is_value = what.after == party_names::nobody && what.own_step > 0;
  if (is_value) {
    d.then.index = what.then;
  } else {
    d.then = given_names_.name_of(what.then);
  }
  return d;
}

std::string sim_engine::text_of(const schedule::party_name& name) const {
  const auto texts = participants();
  for (std::uint32_t id = 0; id < texts.size(); ++id) {
    const std::uint32_t birth = given_names_.birth_of(id);
    if (birth != party_names::nobody && given_names_.name_of(birth) == name) return texts[id];
  }
  return {};
}

schedule sim_engine::taken() const {
  schedule s;
  s.deviations.reserve(deviations_.size());
  for (const turn& each : deviations_) s.deviations.push_back(told(each));
  std::uint32_t hash = 2166136261u;
  for (const auto& name : participants()) {
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  s.program = (hash ^ (hash >> 8)) & 0xffffffu;
  return s;
}

sim_context& sim_engine::world_context() const {
  // Who asks may promise to change nothing; no engine is a constant.
  if (!context_) context_.emplace(const_cast<sim_engine&>(*this), line(0));
  return *context_;
}

void sim_engine::post_hop(event& function) noexcept {
  if (log_) footprint::touches(static_cast<const runtime_state*>(this), touch::change);
  hops_.push(ready_entry(function));
}

void sim_engine::post(event& e) noexcept {
  if (closed()) {
    e.step(event::turn::drop);
    return;
  }
  const std::uint32_t owner = e.owner().id;
  if (log_) log_->posted(owner);
  const auto same = [&](const link& l) { return l.owner == owner && l.sender == acting_; };
  for (auto& late : held_) {
    if (same(late.what)) return append(late.what, e);
  }
  for (auto& already : ready_) {
    if (same(already)) return append(already, e);
  }
  if (log_) {
    ready_.push_back({owner, acting_, &e, log_->now(), none, log_->link_of(owner, acting_)});
  } else {
    ready_.push_back({owner, acting_, &e, none, none, 0});
  }
}

void sim_engine::post_conclusion(event& e, const void* done) noexcept {
  if (closed()) {
    e.step(event::turn::drop);
    return;
  }
  const std::uint32_t owner = e.owner().id;
  if (log_) {
    log_->posted(owner);
    const step_key key = log_->link_of_conclusion(owner, done);
    ready_.push_back({owner, everybody, &e, log_->now(), none, key});
  } else {
    ready_.push_back({owner, everybody, &e, none, none, 0});
  }
}

void sim_engine::append(link& to, event& e) {
  std::uint32_t place = free_places_;
  if (place == none) {
    place = static_cast<std::uint32_t>(behind_.size());
    behind_.emplace_back();
  } else {
    free_places_ = behind_[place].next;
  }
  std::uint32_t first = place;
  if (to.last != none) first = std::exchange(behind_[to.last].next, place);
  behind_[place] = {&e, log_ ? log_->now() : none, first};
  to.last = place;
}

bool sim_engine::take_first(link& from) noexcept {
  if (from.last == none) return false;
  queued& last = behind_[from.last];
  const std::uint32_t place = last.next;
  queued& next = behind_[place];
  from.what = next.what;
  from.cause = next.cause;
  if (place == from.last) {
    from.last = none;
  } else {
    last.next = next.next;
  }
  next.next = std::exchange(free_places_, place);
  return true;
}

void sim_engine::enrolled(const party& who) {
  given_names_.enroll(who);
  if (log_) log_->enroll(who.id, static_cast<std::uint32_t>(who.on->index()));
}

std::uint64_t sim_engine::add_timer(std::chrono::nanoseconds deadline, std::function<void()> fire) {
  timers_.push_back({deadline, ++tickets_, std::move(fire)});
  return tickets_;
}

void sim_engine::remove_timer(std::uint64_t ticket) {
  std::erase_if(timers_, [&](const auto& t) { return t.ticket == ticket; });
}

void sim_engine::run_until(event&, const std::atomic<bool>&) {
  throw error(errc::would_block, "block_on() inside a simulation",
              "the program of explore() is a task: await the operation instead");
}

void sim_engine::close() noexcept {
  if (!mark_closed()) return;
  // What is queued goes first, while those it belongs to are whole.
  drop_queued();
  abandon_roots();
  drop_queued();
}

void sim_engine::drop_queued() noexcept {
  for (auto& late : std::exchange(held_, {})) ready_.push_back(late.what);
  for (auto& l : ready_) {  // Nobody joins them: what is posted now is dropped at once.
    for (bool more = true; more;) {
      event& dropped = *l.what;
      more = take_first(l);
      dropped.step(event::turn::drop);
    }
  }
  ready_.clear();
  timers_.clear();
  while (event* const hop = hops_.pop()) hop->step(event::turn::drop);
}

}  // namespace troupe::detail
