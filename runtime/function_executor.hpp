// function_executor.hpp - an Asio executor over a line that is not Asio's own.
//
// A pool's and a simulated world's functions become events. The executor is what
// Asio's operations, channels, timers and coroutines need of one, and no more:
// execute(), its context, and the promise never to run anything inside the call.

#pragma once

#include <type_traits>
#include <utility>

#include "troupe/core/recycling.hpp"
#include "troupe/runtime/asio.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

/// Where such functions go.
class function_context : public asio::execution_context {
 public:
  virtual void submit(event& function) noexcept = 0;
  const party& owner() const noexcept { return owner_; }

 protected:
  ~function_context() = default;
  party owner_{.kind = "asio"};
};

template <class F>
class function_event final : public event {
 public:
  function_event(F f, const party& owner) : event(&function_event::run, owner), f_(std::move(f)) {}

  static function_event* make(F f, const party& owner) {
    return new (recycling_allocate(sizeof(function_event))) function_event(std::move(f), owner);
  }

 private:
  static void run(event& self, turn how) noexcept {
    auto& mine = static_cast<function_event&>(self);
    F f(std::move(mine.f_));
    // Freed before the call, so that what the function posts next finds the memory.
    mine.~function_event();
    recycling_free(&mine, sizeof(function_event));
    // An exception out of a handler has nobody to go to: as with a thread, it terminates.
    if (how == turn::take) std::move(f)();
  }

  F f_;
};

class function_executor {
 public:
  explicit function_executor(function_context& context) noexcept : context_(&context) {}

  template <class F>
  void execute(F&& f) const {
    using function = std::decay_t<F>;
    context_->submit(*function_event<function>::make(std::forward<F>(f), context_->owner()));
  }

  asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  function_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

  friend bool operator==(const function_executor&, const function_executor&) noexcept = default;

 private:
  function_context* context_;
};

}  // namespace troupe::detail
