// root_task.cpp - how a waiting coroutine is named, and what its runtime's end looks like.

#include "troupe/runtime/root_task.hpp"

#include "troupe/core/error.hpp"
#include "troupe/runtime/use_task.hpp"

namespace troupe::detail {

void describe_wait(const party& who, const activity& self, std::vector<std::string>& lines) {
  if (!self.waiting()) return;
  std::string line = to_string(who) + "  waits for " + self.waiting()->describe();
  const auto chain = self.await_chain();
  for (std::size_t i = 0; i < chain.size(); ++i) {
    line += (i == 0 ? "  at " : ", awaited at ") + to_string(chain[i]);
  }
  lines.push_back(std::move(line));
}

std::exception_ptr runtime_gone() {
  return std::make_exception_ptr(
      error(errc::runtime_gone, "the runtime, or the executor under it, ended before the task",
            "keep both alive until what runs on them has completed, or cancel it first"));
}

void throw_operation_lost() { std::rethrow_exception(runtime_gone()); }

asio::any_io_executor completions_of(const activity& self) {
  scheduler& line = *static_cast<const routine&>(self).owner().on;
  return line.home().completions_on(line);
}

asio::any_io_executor executor_of(const activity& self) {
  // Every activity is a routine: there is no other way to run on a scheduler.
  return static_cast<const routine&>(self).owner().on->home().executor();
}

void touch_asio(const activity& self) noexcept {
  // Its functions run in the order in which they came, whoever posted them.
  const runtime_state& home = static_cast<const routine&>(self).owner().on->home();
  footprint::touches(&home, touch::change);
}

}  // namespace troupe::detail
