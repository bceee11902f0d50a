// step_graph.hpp - pure steps and the memory they read and write, run where it pays.
//
//     step_graph graph;
//     graph.add([&] { sum(ab, a, b); }, memory_use().reads(a).reads(b).writes(ab));
//     graph.add([&] { sum(cd, c, d); }, memory_use().reads(c).reads(d).writes(cd));
//     graph.add([&] { sum(all, ab, cd); }, memory_use().reads(ab).reads(cd).writes(all));
//     co_await run(graph);     // as often as wanted: nothing is made anew
//
// A step works on memory that the graph's maker keeps alive. On a pool its lines take the steps
// together, as a Taskflow graph where there is an order; on an executor the steps run one after
// the other where the awaiting task runs; in simulation each step is an event, and steps that
// touch the same memory without an order between them are tried in both.
//
// Guarantees
//   complete   the await ends when every step has ended;
//   ordered    what steps with a memory_use leave behind is what they leave when each is run
//              after those added before it: a step waits for those that write what it reads or
//              writes, and for those that read what it writes. Steps that say nothing of
//              memory are ordered by precede() alone;
//   first      of several exceptions the one of the step added first is thrown; steps after
//              a failed one are not run;
//   steady     on a pool and on an executor the second run of a graph asks the heap for nothing.
//
// A graph is run by one task at a time, and not added to meanwhile.

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe {

/// What a step reads and writes; what it writes it may read, too.
class memory_use {
 public:
  struct range {
    const std::byte* first;
    const std::byte* last;
    bool written;
  };

  memory_use& reads(const void* at, std::size_t bytes) { return add(at, bytes, false); }
  memory_use& writes(const void* at, std::size_t bytes) { return add(at, bytes, true); }
  template <std::ranges::contiguous_range R>
  memory_use& reads(const R& all) {
    return add(std::ranges::data(all), bytes_of(all), false);
  }
  template <std::ranges::contiguous_range R>
  memory_use& writes(const R& all) {
    return add(std::ranges::data(all), bytes_of(all), true);
  }

  const std::vector<range>& ranges() const noexcept { return ranges_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Whether one of them writes what the other reads or writes.
  bool conflicts_with(const memory_use& other) const noexcept;

 private:
  template <class R>
  static std::size_t bytes_of(const R& all) {
    return std::ranges::size(all) * sizeof(std::ranges::range_value_t<R>);
  }
  memory_use& add(const void* at, std::size_t bytes, bool written);

  std::vector<range> ranges_;
  std::size_t bytes_ = 0;
};

class step_graph {
 public:
  using id = std::size_t;

  step_graph() = default;
  step_graph(const step_graph&) = delete;
  step_graph& operator=(const step_graph&) = delete;

  /// A step that says nothing of its memory.
  id add(std::function<void()> work);
  /// A step that comes after all it has to come after. Looks at every step there is.
  id add(std::function<void()> work, memory_use memory);

  /// `after` starts when `before` has ended. Both are numbers that add() has returned.
  /// \throws errc::invalid_step unless `before` was added before `after`: nothing has changed.
  void precede(id before, id after);

  std::size_t size() const noexcept { return steps_.size(); }

  // For the runtimes that run it.
  struct step {
    std::function<void()> work;
    memory_use memory;
    bool says_memory;
    std::vector<id> successors;
    std::vector<id> predecessors;
    std::exception_ptr failure;
  };
  const std::vector<step>& steps() const noexcept { return steps_; }

  /// Before a run: no step has failed.
  void begin() noexcept;
  /// Runs one step, unless one before it has failed.
  void take(id which) noexcept;
  /// Runs all of them here and now.
  void take_all() noexcept;
  void throw_first_failure() const;

  /// What a runtime has made of the graph; kept until a step or an edge is added.
  std::shared_ptr<void>& lowered() noexcept { return lowered_; }

 private:
  std::vector<step> steps_;
  std::shared_ptr<void> lowered_;
};

namespace detail {

class graph_run final : public wait_as<graph_run> {
 public:
  using awaitable_in_task = void;
  using value_type = void;

  explicit graph_run(step_graph& graph) noexcept : graph_(graph) {}

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    first_await_.take("a run() of a graph", waiting);
    if (graph_.size() == 0) return false;
    activity& self = *activity::current();
    graph_.begin();
    keep_ = static_cast<routine&>(self).owner().on->home().start(graph_, self);
    if (keep_) self.park(waiting, *this);
    return keep_ != nullptr;
  }
  void await_resume() const {
    footprint::touches(keep_.get(), touch::conclude);
    graph_.throw_first_failure();
  }

  /// Steps are short and have no way to stop: the wait ends when they do.
  void cancel_wait() noexcept {}
  std::string describe_wait() const {
    return "a graph of " + std::to_string(graph_.size()) + " steps";
  }

 private:
  first_await first_await_;
  step_graph& graph_;
  std::shared_ptr<void> keep_;
};

}  // namespace detail

/// Awaits all steps of `graph`, which must live until then.
[[nodiscard("co_await it: nothing runs before")]] inline detail::graph_run run(step_graph& graph) {
  return detail::graph_run(graph);
}

}  // namespace troupe
