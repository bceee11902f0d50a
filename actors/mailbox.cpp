// mailbox.cpp - one handler at a time, the rest in order.

#include "troupe/actors/mailbox.hpp"

#include <utility>

#include "troupe/runtime/footprint.hpp"

namespace troupe {

/// stop(): it is opened when everything before it has been.
struct mailbox::last_letter final : envelope {
  last_letter(mailbox& to, reply<> when_done)
      : envelope(to, &envelope::arrive, &last_letter::open), done(std::move(when_done)) {}

  static task<> open(envelope& self, mailbox& to) {
    const std::unique_ptr<last_letter> mine(static_cast<last_letter*>(&self));
    to.shut();
    if (to.failure_) {
      mine->done.fail(to.failure_);
    } else {
      mine->done.set();
    }
    return task<>();
  }

  reply<> done;
};

mailbox::mailbox(std::shared_ptr<runtime_state> on, std::string_view name, std::uint32_t index,
                 std::size_t line, void* addressee)
    : enrollment(std::move(on), name, index, line),
      routine(&mailbox::take_step, enrollment::who),
      addressee_(addressee) {
  state->enlist(*this);
}

mailbox::~mailbox() { state->delist(*this); }

task<> mailbox::stop() {
  detail::answer_in_passing<> stopped;
  post(*new last_letter(*this, stopped.to()));
  co_await stopped;
}

void mailbox::leave() noexcept {
  footprint::touches(who(), touch::change);
  show_state();
  // Where it was stopped, its line may still be dropping late mail, and reads what we leave alone.
  if (is_open()) {
    addressee_ = nullptr;
    state->delist(*this);  // Another thread may be about to end the runtime.
    abandon();
    // Its line may be about to count a letter that has let somebody destroy the actor.
    scheduler& home = *who().on;
    if (!home.note(departs_)) home.post(departs_);
    return;
  }
  depart();
}

void mailbox::depart() noexcept {
  // Nobody sends any more: to tell an actor something is to look at one that is there.
  const std::int64_t all = while_the_actor_lives + sent_by_first_.load(std::memory_order_relaxed) +
                           sent_by_others_.load(std::memory_order_relaxed);
  if (come_.fetch_sub(all, std::memory_order_acq_rel) == all) delete this;
}

void mailbox::count_sent_by_another(const scheduler* line) noexcept {
  const scheduler* nobody = nullptr;
  if (line && first_sender_.compare_exchange_strong(nobody, line, std::memory_order_relaxed)) {
    sent_by_first_.store(1, std::memory_order_relaxed);
  } else {
    sent_by_others_.fetch_add(1, std::memory_order_relaxed);
  }
}

void envelope::arrive(event& self, turn how) noexcept {
  auto& letter = static_cast<envelope&>(self);
  if (how == turn::drop) return letter.to_.drop(letter);
  letter.to_.show_state();
  letter.to_.deliver(letter);
}

void envelope::arrive_in_any_order(event& self, turn how) noexcept {
  auto& letter = static_cast<envelope&>(self);
  // What has to wait for a handler is opened after what came before it.
  if (how == turn::drop || letter.to_.handler_) return arrive(self, how);
  footprint::commutes();
  letter.to_.deliver(letter);
}

void mailbox::show_state() noexcept {
  if (state_) [[unlikely]] {
    footprint::shows(who(), *state_);
    state_.reset();
  }
}

void mailbox::take_step(event& self, turn how) noexcept {
  auto& me = static_cast<mailbox&>(self);
  if (how == turn::take && me.handler_) me.resume();
}

/// The runtime has ended: nobody reads. Whoever sends a letter now drops it, on any thread.
void mailbox::drop(envelope& e) noexcept {
  shut();
  open(e);
}

void mailbox::deliver(envelope& e) noexcept {
  if (handler_) {
    (first_kept_ ? last_kept_->next_ : first_kept_) = &e;
    last_kept_ = &e;
    e.next_ = nullptr;
    return;
  }
  open(e);
}

void mailbox::open(envelope& e) noexcept {
  who().on->trace(trace_kind::deliver, who());
  const bool own = e.own_;
  try {
    task<> handler;
    impersonate([&] { handler = e.open_(e, *this); });
    if (handler) {
      handler_ = std::move(handler);
      handler_.begin_on(*this);
      resume();  // Ends in root_ended(), now or later.
    }
  } catch (...) {
    fail();
  }
  count_come(own);  // May destroy *this.
}

void mailbox::root_ended() noexcept {
  try {
    handler_.take();
  } catch (...) {
    fail();
  }
  handler_ = task<>();
  if (!draining_) open_kept();
}

void mailbox::open_kept() noexcept {
  // One after the other, not one inside the other: handlers that do not wait end at once.
  draining_ = true;
  keep();
  while (first_kept_ && !handler_) {
    envelope& next = *std::exchange(first_kept_, first_kept_->next_);
    open(next);
  }
  draining_ = false;
  let_go();
}

void mailbox::fail() noexcept {
  footprint::touches(who(), touch::change);  // Later mail is dropped, whatever it commutes with.
  if (!failure_) failure_ = std::current_exception();
  shut();
}

void mailbox::describe(std::vector<std::string>& lines) const {
  detail::describe_wait(who(), *this, lines);
}

void mailbox::abandon() noexcept {
  shut();
  abandon_chain();
  handler_ = task<>();
  if (first_kept_ && !draining_) open_kept();
}

}  // namespace troupe
