// activity.cpp - where an activity waits, for who reads it, and what a row of them seldom does.

#include "troupe/core/activity.hpp"

namespace troupe {

void activity::resume_chain_of_current(activity* outer) noexcept { current_->resume_chain(outer); }

std::vector<place> activity::await_chain() const {
  std::vector<place> chain;
  for (auto* link = innermost(); link; link = link->parent) {
    if (link->at.line() != 0) chain.push_back(link->at);
  }
  return chain;
}

place activity::told_where() const noexcept {
  const detail::chain_link* link = innermost();
  while (link && link->at.line() == 0) link = link->parent;
  return link ? link->at : place{};
}

}  // namespace troupe
