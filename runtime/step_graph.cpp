// step_graph.cpp - which step has to come after which; a graph on one thread.

#include "troupe/runtime/step_graph.hpp"

#include <algorithm>
#include <string>

#include "troupe/core/error.hpp"

namespace troupe {

namespace {

[[noreturn]] void throw_no_such_order(std::size_t before, std::size_t after, std::size_t steps) {
  const std::size_t last = std::max(before, after);
  if (last >= steps) {
    throw error(errc::invalid_step,
                "there is no step " + std::to_string(last) + " in a graph of " +
                    std::to_string(steps) + (steps == 1 ? " step" : " steps"),
                "give precede() numbers that add() of the same graph has returned");
  }
  throw error(errc::invalid_step,
              "step " + std::to_string(before) + " cannot come before step " +
                  std::to_string(after) +
                  (before == after ? ", which is itself" : ", which was added earlier"),
              "add the step that comes first before the other one");
}

}  // namespace

memory_use& memory_use::add(const void* at, std::size_t bytes, bool written) {
  const auto* const first = static_cast<const std::byte*>(at);
  if (bytes != 0) ranges_.push_back({first, first + bytes, written});
  bytes_ += bytes;
  return *this;
}

bool memory_use::conflicts_with(const memory_use& other) const noexcept {
  // What is memory of two objects may be compared by std::less only.
  const std::less<const std::byte*> below;
  for (const range& mine : ranges_) {
    for (const range& its : other.ranges_) {
      const bool one_writes = mine.written || its.written;
      if (one_writes && below(mine.first, its.last) && below(its.first, mine.last)) return true;
    }
  }
  return false;
}

step_graph::id step_graph::add(std::function<void()> work) {
  steps_.push_back({std::move(work), {}, false, {}, {}, nullptr});
  lowered_.reset();
  return steps_.size() - 1;
}

step_graph::id step_graph::add(std::function<void()> work, memory_use memory) {
  const id added = add(std::move(work));
  // From the last to the first: what a step waits for is ordered before whoever waits for it.
  std::vector<bool> ordered(added);
  for (id before = added; before-- > 0;) {
    const step& earlier = steps_[before];
    if (!ordered[before]) {
      if (!memory.conflicts_with(earlier.memory)) continue;
      precede(before, added);
    }
    for (const id still_earlier : earlier.predecessors) ordered[still_earlier] = true;
  }
  steps_[added].memory = std::move(memory);
  steps_[added].says_memory = true;
  return added;
}

void step_graph::precede(id before, id after) {
  if (before >= after || after >= size()) throw_no_such_order(before, after, size());
  steps_[before].successors.push_back(after);
  steps_[after].predecessors.push_back(before);
  lowered_.reset();
}

void step_graph::begin() noexcept {
  for (step& each : steps_) each.failure = nullptr;
}

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
  // Whoever is waited for was added before.
  for (id i = 0; i < steps_.size(); ++i) take(i);
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
