// step_graph.cpp - a graph on one thread: any order that respects the edges will do.

#include "troupe/runtime/step_graph.hpp"

namespace troupe {

void step_graph::take(id which) noexcept {
  step& mine = steps_[which];
  for (const id before : mine.predecessors) {
    if (steps_[before].failure) mine.failure = steps_[before].failure;
  }
  try {
    if (!mine.failure) mine.work();
  } catch (...) {
    mine.failure = std::current_exception();
  }
}

void step_graph::take_all() noexcept {
  std::vector<std::size_t> left;
  std::vector<id> ready;
  for (id i = 0; i < steps_.size(); ++i) {
    left.push_back(steps_[i].predecessors.size());
    if (left.back() == 0) ready.push_back(i);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    take(ready[next]);
    for (const id after : steps_[ready[next]].successors) {
      if (--left[after] == 0) ready.push_back(after);
    }
  }
}

void step_graph::throw_first_failure() const {
  for (const step& s : steps_) {
    if (s.failure) std::rethrow_exception(s.failure);
  }
}

std::shared_ptr<void> runtime_state::start(step_graph& graph, activity&) {
  graph.take_all();
  return nullptr;
}

}  // namespace troupe
