// sweep_operation.hpp - something awaited of the owners of variables.
//
// The operation lives in the frame of who awaits it. Where there is one line, or nothing to
// ask of another one, the await ends at once; otherwise it sends one message to each other
// line (owners.hpp).

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "troupe/actors/owners.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/scheduler.hpp"
#include "troupe/strategy/strategy_state.hpp"

namespace troupe::detail {

/// Derived has `void work(std::size_t replica)`, called on that replica's line, which may
/// throw; `static std::string call()`; and for a short cut `bool take_at_hand(replica)`, which
/// gets what it wants from the components of one replica that is at home here.
template <class Derived>
class sweep_operation : public wait_as<Derived>, private sweep {
 public:
  using awaitable_in_task = void;

  bool await_ready() const noexcept { return false; }

  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> caller) {
    first_await_.require("an operation on variables", caller);
    activity& self = *activity::current();
    const scheduler& line = *static_cast<routine&>(self).owner().on;
    owner_->require_cross_replica(derived().call().c_str());
    owner_->require_home_of(line, "an operation on variables");
    first_await_.end();
    owners& all = owner_->owners();
    if constexpr (requires { derived().take_at_hand(std::size_t{}); }) {
      const std::size_t near = all.neighbour(line);
      if (near != all.replicas()) {
        // What was decided before is seen here, too, though nobody may have gone on yet.
        all.catch_up(near, all.begun());
        footprint::changes_line();
        if (derived().take_at_hand(near)) return false;
      }
    }
    if (all.on_one_line()) {
      footprint::changes_line();
      for (std::size_t i = 0; i < all.replicas(); ++i) visit(i);
      return false;
    }
    caller_ = &self;
    self.park(caller, *this);
    all.send(*this, line);
    return true;
  }

  /// The owners' work is short and has no way to stop: the wait ends when it does.
  void cancel_wait() noexcept {}
  std::string describe_wait() const { return derived().call(); }

 protected:
  explicit sweep_operation(std::shared_ptr<strategy_state> owner) noexcept
      : owner_(std::move(owner)) {}
  /// \pre Not awaited yet, or ended.
  sweep_operation(sweep_operation&& other) noexcept
      : first_await_(std::move(other.first_await_)), owner_(std::move(other.owner_)) {}

  strategy_state& owner() const noexcept { return *owner_; }

  /// Throws what the work for the lowest replica threw, if any did.
  void rethrow() const {
    footprint::touches(static_cast<const sweep*>(this), touch::conclude);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  const Derived& derived() const noexcept { return static_cast<const Derived&>(*this); }

  void visit(std::size_t replica) noexcept final {
    try {
      derived().work(replica);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (failure_ && failed_ < replica) return;
      failure_ = std::current_exception();
      failed_ = replica;
    }
  }
  void done() noexcept final { caller_->wake(); }

  first_await first_await_;
  std::shared_ptr<strategy_state> owner_;
  activity* caller_ = nullptr;
  std::mutex mutex_;  // Guards the rest: the lines work at the same time.
  std::exception_ptr failure_;
  std::size_t failed_ = 0;
};

}  // namespace troupe::detail
