// ensemble.cpp - making, running, blaming and ending one set of replicas.

#include "troupe/actors/ensemble.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "troupe/runtime/root_task.hpp"

namespace troupe {

namespace {

/// The names of the replicas, then of the barrier on each line that has replicas.
recycled_vector<party> enroll_all(runtime_state& on, std::size_t replicas, std::size_t lines) {
  recycled_vector<party> parties;
  parties.reserve(replicas + lines);
  for (std::size_t i = 0; i < replicas; ++i) {
    parties.push_back(on.enroll("replica", static_cast<std::uint32_t>(i), i % lines));
  }
  for (std::size_t i = 0; i < lines; ++i) {
    parties.push_back(on.enroll("barrier", static_cast<std::uint32_t>(i), i));
  }
  return parties;
}

constexpr std::size_t bytes_of(std::size_t replicas) {
  return replica_actor::bytes_before + replicas * sizeof(replica_actor);
}

}  // namespace

ensemble::ensemble(std::shared_ptr<runtime_state> on, std::size_t replicas, std::size_t lines,
                   void* keeper)
    : on_(std::move(on)),
      keeper_(keeper),
      size_(replicas),
      parties_(enroll_all(*on_, replicas, lines)),
      barrier_(std::span(parties_).subspan(replicas)),
      cancel_event_(*this, parties_[replicas]) {
  memory_ = detail::recycling_allocate(bytes_of(size_));
  replicas_ = reinterpret_cast<replica_actor*>(static_cast<std::byte*>(memory_) +
                                               replica_actor::bytes_before);
  for (std::size_t i = 0; i < size_; ++i) {
    new (replicas_ + i) replica_actor(parties_[i], static_cast<std::uint32_t>(i));
  }
  barrier_.admit(std::span(replicas_, size_));
  on_->enlist(*this);
}

ensemble::~ensemble() {
  on_->delist(*this);
  for (std::size_t i = size_; i > 0; --i) replicas_[i - 1].~replica_actor();
  detail::recycling_free(memory_, bytes_of(size_));
  for (const party& who : parties_) on_->retire(who);
}

void ensemble::begin(activity& caller, const order& what) {
  holders_.store(1, std::memory_order_relaxed);
  cancel_sent_ = false;
  for (std::size_t i = 0; i < size_; ++i) replicas_[i].prepare(*what.program, what.replica_mode);
  barrier_.begin_run(caller, what.above, what.merge_mode, what.rules);
}

void ensemble::cancel(std::shared_ptr<void> owner) noexcept {
  if (std::exchange(cancel_sent_, true)) return;
  cancel_event_.keeps = std::move(owner);
  holders_.fetch_add(1, std::memory_order_relaxed);
  cancel_event_.owner().on->post(cancel_event_);
}

void ensemble::cancel_event::run(event& self, turn how) noexcept {
  auto& mine = static_cast<cancel_event&>(self);
  const std::shared_ptr<void> until_the_end = std::move(mine.keeps);
  ensemble& target = mine.target;
  if (how == turn::take) target.barrier_.cancel();
  target.let_go();
}

std::exception_ptr ensemble::outcome() const {
  const auto& verdict = barrier_.verdict();
  if (!verdict && !barrier_.anybody_threw()) return nullptr;
  bool anybody_interrupted = false;
  std::exception_ptr consequence;
  for (std::size_t i = 0; i < size_; ++i) {
    const replica_actor& r = replicas_[i];
    anybody_interrupted |= r.interrupted();
    if (!r.failure()) continue;
    if (!r.interrupted()) return r.failure();
    if (!consequence) consequence = r.failure();
  }
  if (verdict) {
    // A cancellation that found everybody finished has changed nothing.
    const auto& report = barrier_.report();
    const bool cancelled = report && report->code() == errc::cancelled;
    return cancelled && !anybody_interrupted ? nullptr : verdict;
  }
  return consequence;
}

void ensemble::release(void (*idle)(ensemble&) noexcept) noexcept {
  idle_ = idle;
  let_go();
}

void ensemble::let_go() noexcept {
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1 && idle_) {
    std::exchange(idle_, nullptr)(*this);
  }
}

void ensemble::describe(std::vector<std::string>& lines) const {
  if (!barrier_.running()) return;
  for (std::size_t i = 0; i < size_; ++i) {
    detail::describe_wait(parties_[i], replicas_[i], lines);
  }
  detail::describe_wait(parties_[size_], barrier_, lines);
}

void ensemble::abandon() noexcept {
  // Inside out: a merge function refers to its replicas' frames.
  barrier_.abandon();
  for (std::size_t i = 0; i < size_; ++i) replicas_[i].abandon();
}

}  // namespace troupe
