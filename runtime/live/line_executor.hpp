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

/// Holds a line, and with it its runtime's state.
struct held_line {
  std::shared_ptr<line> on;
  line& get() const noexcept { return *on; }
};

/// Holds a line and the tracked executor under it: whoever runs that one does not run out of
/// work while an operation is under way that will complete here. Recycled memory.
struct busy_line {
  struct box {
    std::shared_ptr<line> on;
    asio::any_io_executor work;
  };
  std::shared_ptr<box> in;
  line& get() const noexcept { return *in->on; }
};

template <class Hold>
class line_executor_with {
 public:
  explicit line_executor_with(Hold hold) noexcept : hold_(std::move(hold)) {}

  template <class F>
  void execute(F&& f) const {
    line& on = hold_.get();
    on.post(*function_event<std::decay_t<F>>::make(std::forward<F>(f), on.asio_party()));
  }

  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return hold_.get().home().context();
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  line_executor_with require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

  line_executor_with<busy_line> require(asio::execution::outstanding_work_t::tracked_t) const
    requires std::is_same_v<Hold, held_line>
  {
    busy_line::box held{hold_.on, asio::prefer(hold_.get().home().executor(),
                                               asio::execution::outstanding_work.tracked)};
    return line_executor_with<busy_line>(busy_line{std::allocate_shared<busy_line::box>(
        recycling_allocator<busy_line::box>(), std::move(held))});
  }

  friend bool operator==(const line_executor_with& a, const line_executor_with& b) noexcept {
    return &a.hold_.get() == &b.hold_.get();
  }
  friend bool operator!=(const line_executor_with& a, const line_executor_with& b) noexcept {
    return &a.hold_.get() != &b.hold_.get();
  }

 private:
  Hold hold_;
};

using line_executor = line_executor_with<held_line>;

/// `on`, keeping its runtime's state.
inline line_executor executor_on(std::shared_ptr<const runtime_state> home, line& on) {
  return line_executor(held_line{std::shared_ptr<line>(std::move(home), &on)});
}

}  // namespace troupe::detail
