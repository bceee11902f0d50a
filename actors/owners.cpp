// owners.cpp - the list of sweeps, and each line's way along it.

#include "troupe/actors/owners.hpp"

#include <utility>

#include "troupe/actors/actor.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/runtime/footprint.hpp"

namespace troupe {

namespace {

struct take_up_to {
  std::uint64_t number;
  // Who sent the sweep may drop everything as soon as the last line has taken it.
  std::shared_ptr<owners> keep;
};

}  // namespace

class owners::owner final : public actor<owner, take_up_to> {
 public:
  owner(const std::shared_ptr<runtime_state>& on, owners& all, std::size_t line)
      : actor(on, "owner", static_cast<std::uint32_t>(line), line), all_(all), line_(line) {}

  void on(take_up_to message) noexcept { all_.catch_up_line(line_, message.number); }

 private:
  owners& all_;
  std::size_t line_;
};

struct owners::entry {
  entry(sweep* what, std::unique_ptr<sweep> ours, std::uint64_t n, std::size_t lines) noexcept
      : work(what),
        owned(std::move(ours)),
        number(n),
        to_visit(static_cast<std::uint32_t>(lines)),
        holders(static_cast<std::uint32_t>(lines)) {}

  static void* operator new(std::size_t bytes) { return detail::recycling_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    detail::recycling_free(memory, bytes);
  }

  sweep* const work;
  std::unique_ptr<sweep> owned;
  const std::uint64_t number;
  std::atomic<std::uint32_t> to_visit;
  std::atomic<std::uint32_t> holders;
  // Written before anybody is told the next number, read by who was told.
  entry* next = nullptr;
};

owners::owners(const std::shared_ptr<runtime_state>& on, std::size_t replicas, std::size_t lines)
    : replicas_(replicas) {
  footprint::made(this);
  if (!on || on->lines() == 1) return;
  places_ = std::vector<line_place>(lines);
  for (std::size_t line = 0; line < places_.size(); ++line) {
    places_[line].actor = std::make_unique<owner>(on, *this, line);
  }
  last_ = new entry(nullptr, nullptr, 0, places_.size());
  for (auto& each : places_) each.at = last_;
}

owners::~owners() {
  // Sweeps that a line has not taken are dropped: the runtime has ended.
  for (auto& each : places_) {
    for (entry* at = each.at; at;) leave(*std::exchange(at, at->next));
  }
}

std::uint64_t owners::append(sweep& work, std::unique_ptr<sweep> owned) {
  footprint::touches(this, touch::change);
  const std::lock_guard lock(mutex_);
  last_->next = new entry(&work, std::move(owned), last_->number + 1, places_.size());
  last_ = last_->next;
  return last_->number;
}

std::uint64_t owners::begun() {
  if (on_one_line()) return 0;
  footprint::touches(this, touch::look);
  const std::lock_guard lock(mutex_);
  return last_->number;
}

std::uint64_t owners::begin(std::unique_ptr<sweep> work) {
  sweep& all = *work;
  if (!on_one_line()) return append(all, std::move(work));
  footprint::changes_line();
  for (std::size_t i = 0; i < replicas_; ++i) all.visit(i);
  return 0;
}

void owners::send(sweep& work, const scheduler& line) {
  footprint::made(&work);
  if (on_one_line()) {
    footprint::changes_line();
    for (std::size_t i = 0; i < replicas_; ++i) work.visit(i);
    work.done();
    return;
  }
  const std::uint64_t number = append(work, nullptr);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (i != line.index()) places_[i].actor->tell(take_up_to{number, shared_from_this()});
  }
  if (line.index() < places_.size()) catch_up_line(line.index(), number);
}

void owners::catch_up_line(std::size_t line, std::uint64_t number) noexcept {
  line_place& here = places_[line];
  while (here.at->number < number) {
    entry& next = *here.at->next;
    leave(*std::exchange(here.at, &next));
    footprint::changes_line();
    if (!next.owned) footprint::touches(next.work, touch::arrive);
    for (std::size_t i = line; i < replicas_; i += places_.size()) next.work->visit(i);
    if (next.to_visit.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (next.owned) {
      next.owned.reset();
    } else {
      next.work->done();
    }
  }
}

void owners::leave(entry& passed) noexcept {
  if (passed.holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &passed;
}

}  // namespace troupe
