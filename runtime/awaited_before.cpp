// awaited_before.cpp - what is said of an await of what has been awaited before.

#include <string>
#include <utility>

#include "troupe/core/awaitable.hpp"
#include "troupe/core/error.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

namespace {

/// "awaited by replica/1 at train.cpp:88".
std::string by_whom(const place& at) {
  activity* const self = activity::current();
  if (!self || at.line() == 0) return {};
  // Of a branch, whose it is.
  const party& who = static_cast<const routine&>(*self->origin()).owner();
  return "awaited by " + to_string(who) + " at " + to_string(at);
}

}  // namespace

void throw_nothing_to_await(std::string what, std::string fix, const place& at) {
  error_facts facts(errc::empty_task, std::move(what));
  facts.note = by_whom(at);
  facts.fix = std::move(fix);
  throw error(std::move(facts));
}

void throw_empty_task(const place& at) {
  throw_nothing_to_await(
      "a task was awaited that is empty",
      "await a task once; one that was moved from or awaited before has nothing left", at);
}

void throw_awaited_before(const char* what, const place& at) {
  throw_nothing_to_await(std::string(what) + " was awaited that has been awaited before",
                         "make it anew for each co_await: what it was given went with the first",
                         at);
}

}  // namespace troupe::detail
