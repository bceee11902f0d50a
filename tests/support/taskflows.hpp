// taskflows.hpp - taskflows that a test can stop in the middle, and how their runs ended.

#pragma once

#include <asio/bind_executor.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <exception>
#include <optional>
#include <system_error>

#include "tests/support/outcome.hpp"
#include "troupe/runtime/adaptors/taskflow.hpp"

namespace troupe::test {

/// A task that tells when it has begun, and does not end before the test lets it.
class bolt {
 public:
  void operator()() {
    begun_ = true;
    begun_.notify_all();
    drawn_.wait(false);
  }

  void wait_until_begun() const { begun_.wait(false); }
  void draw() {
    drawn_ = true;
    drawn_.notify_all();
  }

 private:
  std::atomic<bool> begun_{false};
  std::atomic<bool> drawn_{false};
};

/// first() and then second(), one behind the other.
template <class First, class Second>
void one_after_the_other(tf::Taskflow& flow, First first, Second second) {
  tf::Task before = flow.emplace(first);
  before.precede(flow.emplace(second));
}

/// How an operation ended: not at all, well (null), or with an exception.
using ending = std::optional<std::exception_ptr>;

inline bool good(const ending& e) { return e && !*e; }

inline bool aborted(const std::exception_ptr& e) {
  const auto told = as<std::system_error>(e);
  return told && told->code() == asio::error::operation_aborted;
}
inline bool aborted(const ending& e) { return e && aborted(*e); }

/// A handler on `io` that notes how its operation ended.
inline auto noting(asio::io_context& io, ending& e) {
  return asio::bind_executor(io, [&e](std::exception_ptr how) { e = how; });
}

}  // namespace troupe::test
