// minimal_executor.hpp - the least that Asio accepts as an executor, written by a user.

#pragma once

#include <asio/execution_context.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "troupe/runtime/asio.hpp"

namespace troupe::test {

/// A queue of functions that the test runs by hand.
class hand_driven_context : public asio::execution_context {
 public:
  ~hand_driven_context() {
    shutdown();
    destroy();
  }

  /// Runs what is queued, and what that queues; returns how many functions ran.
  std::size_t run_all() {
    std::size_t ran = 0;
    for (; !queue_.empty(); ++ran) {
      const auto f = std::move(queue_.front());
      queue_.pop_front();
      (*f)();
    }
    return ran;
  }

  class executor {
   public:
    explicit executor(hand_driven_context& context) noexcept : context_(&context) {}

    template <class F>
    void execute(F f) const {
      // Functions that can only be moved must fit as well.
      auto shared = std::make_shared<F>(std::move(f));
      context_->queue_.push_back(
          std::make_unique<std::function<void()>>([shared] { std::move (*shared)(); }));
    }
    asio::execution_context& query(asio::execution::context_t) const noexcept { return *context_; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
      return asio::execution::blocking.never;
    }
    executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

    friend bool operator==(const executor&, const executor&) noexcept = default;

   private:
    hand_driven_context* context_;
  };

  executor get_executor() noexcept { return executor(*this); }

 private:
  std::deque<std::unique_ptr<std::function<void()>>> queue_;
};

}  // namespace troupe::test
