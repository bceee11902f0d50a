// outcome.hpp - how something ended, as a value that a test can look at.

#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "troupe/core/error.hpp"
#include "troupe/core/task.hpp"

namespace troupe::test {

/// The exception as E, if it is one.
template <class E>
std::optional<E> as(const std::exception_ptr& thrown) {
  if (!thrown) return std::nullopt;
  try {
    std::rethrow_exception(thrown);
  } catch (const E& e) {
    return e;
  } catch (...) {
    return std::nullopt;
  }
}

/// True if it is a troupe::error with this code.
inline bool is(const std::exception_ptr& thrown, errc code) {
  const auto e = as<error>(thrown);
  return e && e->code() == code;
}

/// True if it is of this very type.
template <class E>
bool is_a(const std::exception_ptr& thrown) {
  return as<E>(thrown).has_value();
}

/// What calling `f` throws; null if it returns.
template <class F>
std::exception_ptr thrown_by(F&& f) {
  try {
    static_cast<void>(std::forward<F>(f)());
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

/// What awaiting `operation` throws; null if it returns.
template <class Operation>
task<std::exception_ptr> outcome_of(Operation operation) {
  std::exception_ptr thrown;
  try {
    static_cast<void>(co_await std::move(operation));
  } catch (...) {
    thrown = std::current_exception();
  }
  co_return thrown;
}

}  // namespace troupe::test
