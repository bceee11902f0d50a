// root_task.hpp - a task that nobody awaits: the outermost of a logical task.
//
// block_on() and launch() end in one of these. It owns the task's frame, carries the
// runtime's party and tells the deadlock picture what the task waits for.

#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe::detail {

/// The line that is this one's turn: parties are dealt out.
inline constexpr std::size_t any_line = ~std::size_t{0};

/// A party with its name on a runtime's list for as long as this lives.
struct enrollment {
  enrollment(std::shared_ptr<runtime_state> on, std::string_view kind, std::uint32_t index,
             std::size_t line = 0)
      : state(std::move(on)), who(state->enroll(kind, index, line)) {}
  enrollment(const enrollment&) = delete;
  enrollment& operator=(const enrollment&) = delete;
  ~enrollment() { state->retire(who); }

  std::shared_ptr<runtime_state> state;
  party who;
};

/// "task/0  waits reply  at loop.cpp:40 (called at main.cpp:12)"; nothing if it runs.
void describe_wait(const party& who, const activity& self, std::vector<std::string>& lines);

/// The errors with which a runtime's end and an early end are reported.
std::exception_ptr runtime_gone();

template <class T>
class root_task : protected enrollment, public routine, public root {
 public:
  /// Who makes it puts it on the runtime's list, when all of it is there.
  root_task(std::shared_ptr<runtime_state> on, task<T> body)
      : enrollment(std::move(on), "task", 0), routine(enrollment::who), body_(std::move(body)) {
    begin();
  }

  void describe(std::vector<std::string>& lines) const override {
    describe_wait(enrollment::who, *this, lines);
  }

 protected:
  /// For one that does more at a step than going on.
  root_task(std::shared_ptr<runtime_state> on, task<T> body, event::step_function step_taken)
      : enrollment(std::move(on), "task", 0),
        routine(step_taken, enrollment::who),
        body_(std::move(body)) {
    begin();
  }
  ~root_task() { state->delist(*this); }

  void drop_body() noexcept {
    abandon_chain();
    body_ = task<T>();
  }

  task<T> body_;

 private:
  void begin() {
    body_.require_cold();
    body_.begin_on(*this);
  }
};

}  // namespace troupe::detail
