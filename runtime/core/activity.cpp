// activity.cpp - where an activity waits, for who reads it, and what a row of them seldom does.

#include "troupe/core/activity.hpp"

namespace troupe {

activity::row_step activity::leave_row(activity* outer) noexcept {
  if (!resume_chain(outer)) return row_step::ended;
  return parked_.is_in_row() ? row_step::waits_in_row : row_step::waits;
}

std::vector<place> activity::await_chain() const {
  std::vector<place> chain;
  if (!is_parked()) return chain;
  const auto tell = [&](const place& at) {
    if (at.line() != 0) chain.push_back(at);
  };
  tell(innermost_place());
  for (auto* outer = parked_.coroutine().promise().parent(); outer; outer = outer->parent())
    tell(outer->at);
  return chain;
}

place activity::told_where() const noexcept {
  if (!is_parked()) return {};
  place told = innermost_place();
  for (auto* outer = parked_.coroutine().promise().parent(); outer && told.line() == 0;
       outer = outer->parent()) {
    told = outer->at;
  }
  return told;
}

}  // namespace troupe
