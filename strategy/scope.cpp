// scope.cpp - entering and leaving a strategy.

#include "troupe/strategy/scope.hpp"

#include <utility>

#include "troupe/strategy/strategy.hpp"

namespace troupe {

strategy_scope::strategy_scope(std::shared_ptr<const strategy_state> owner)
    : owner_(std::move(owner)) {
  const auto* const mode = detail::current_mode();
  owner_->require_can_enter("scope()");
  // The default strategy is in force where no other is: nothing to enter.
  if (owner_->is_default() || (mode && mode->owner == owner_.get())) return;
  outermost_ = true;
  where_ = activity::current();
  outer_ = activity::ambient_here();
  if (where_) {
    where_->set_ambient(&owner_->cross_replica_mode());
  } else {
    thread_ = &activity::ambient_outside();
    *thread_ = &owner_->cross_replica_mode();
  }
}

strategy_scope::~strategy_scope() {
  if (!outermost_) return;
  if (where_) {
    where_->set_ambient(outer_);
  } else if (thread_ == &activity::ambient_outside()) {
    *thread_ = outer_;
  } else {
    // The first thread goes on looking at the strategy, wherever it is: it must never end.
    static_cast<void>(new std::shared_ptr<const strategy_state>(std::move(owner_)));
  }
}

void experimental_set_strategy(const strategy* which) {
  activity* const here = activity::current();
  const detail::mode* mode = detail::current_mode();
  const auto enter = [&](const detail::mode* now) {
    if (here) {
      here->set_ambient(now);
    } else {
      activity::ambient_outside() = now;
    }
  };
  // What was set before ends first, as in the model.
  if (mode && mode == &mode->owner->set_mode()) {
    enter(nullptr);
    mode = nullptr;
  }
  if (mode) {
    throw error(errc::inside_scope, "experimental_set_strategy() inside a strategy's scope or run",
                "call it before any scope; inside one the strategy is in force already");
  }
  if (which && !which->state()->is_default()) enter(&which->state()->set_mode());
}

}  // namespace troupe
