// stand_in.cpp - whose turn it is on borrowed lines, and when they are given back.

#include "runtime/live/stand_in.hpp"

#include <algorithm>

#include "troupe/core/contract.hpp"

namespace troupe::detail {

thread_local constinit stand_in* stand_in::here_ = nullptr;

stand_in::stand_in(const runtime_state& home) noexcept : home_(home) {
  TROUPE_ASSERT(!here_);  // Nobody waits inside of a step.
  here_ = this;
}

stand_in::~stand_in() {
  here_ = nullptr;
  // One whose worker has taken it back, and which somebody else has borrowed by now, we may give
  // back as well: nobody but its worker relies on having it.
  for (std::size_t i = 0; i < count_; ++i) lines_[i]->give_back();
}

bool stand_in::takes(pool_line& line) noexcept {
  if (!here_ || &here_->home_ != &line.home()) return false;
  const auto end = here_->lines_.begin() + static_cast<std::ptrdiff_t>(here_->count_);
  if (std::find(here_->lines_.begin(), end, &line) != end) return true;  // Once more.
  if (here_->count_ == here_->lines_.size()) return false;
  here_->lines_[here_->count_++] = &line;
  here_->most_ = std::max(here_->most_, here_->count_);
  return true;
}

void stand_in::work(const std::atomic<bool>& done) noexcept {
  using clock = std::chrono::steady_clock;
  const auto began = clock::now();
  auto idle_from = began;
  bool idle = false;
  while (count_ != 0 && !done.load(std::memory_order_acquire)) {
    if (turn_on_each(done)) {
      idle = false;
      continue;
    }
    const auto now = clock::now();
    if (!idle) idle_from = now;
    idle = true;
    if (now - idle_from >= patience) break;
  }
  busy_ = (idle ? idle_from : clock::now()) - began;
}

bool stand_in::turn_on_each(const std::atomic<bool>& done) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < count_ && !done.load(std::memory_order_acquire);) {
    switch (lines_[i]->take_turn(done)) {
      case pool_line::turn::took_steps: any = true; break;
      case pool_line::turn::found_none: break;
      case pool_line::turn::over: lines_[i] = lines_[--count_]; continue;
    }
    ++i;
  }
  return any;
}

}  // namespace troupe::detail
