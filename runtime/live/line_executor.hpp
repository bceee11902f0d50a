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

/// Of `Work` it has none, or the tracked executor under the line: whoever runs that one
/// does not run out of work while an operation is under way that will complete here.
template <class Work>
class line_executor_with {
 public:
  line_executor_with(std::shared_ptr<line> on, Work work) noexcept
      : line_(std::move(on)), work_(std::move(work)) {}

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
  line_executor_with require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

  line_executor_with<asio::any_io_executor> require(
      asio::execution::outstanding_work_t::tracked_t) const {
    return {line_,
            asio::prefer(line_->home().executor(), asio::execution::outstanding_work.tracked)};
  }

  friend bool operator==(const line_executor_with& a, const line_executor_with& b) noexcept {
    return a.line_ == b.line_;
  }
  friend bool operator!=(const line_executor_with& a, const line_executor_with& b) noexcept {
    return a.line_ != b.line_;
  }

 private:
  std::shared_ptr<line> line_;
  [[no_unique_address]] Work work_;
};

struct no_work {};
using line_executor = line_executor_with<no_work>;

/// `on`, keeping its runtime's state.
inline line_executor executor_on(std::shared_ptr<const runtime_state> home, line& on) {
  return {std::shared_ptr<line>(std::move(home), &on), no_work()};
}

}  // namespace troupe::detail
