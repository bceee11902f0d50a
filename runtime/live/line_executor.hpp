// line_executor.hpp - a live line as an Asio executor.
//
// What is executed becomes an event of the line. It keeps the runtime's state, because an
// operation may complete on another thread after the runtime has ended; one pointer in
// size, shared, so that a polymorphic executor holds it without memory of its own.

#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "runtime/function_executor.hpp"
#include "runtime/live/line.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe::detail {

class line_executor {
 public:
  line_executor(std::shared_ptr<const runtime_state> home, line& on) noexcept
      : line_(std::move(home), &on) {}

  template <class F>
  void execute(F&& f) const {
    line_->post(*function_event<std::decay_t<F>>::make(std::forward<F>(f), line_->asio_party()));
  }

  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return line_->home().context();
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  line_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

  friend bool operator==(const line_executor&, const line_executor&) noexcept = default;

 private:
  std::shared_ptr<line> line_;
};

}  // namespace troupe::detail
