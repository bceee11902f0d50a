// step_graph.hpp - pure steps with an order between some of them, run where it pays.
//
//     step_graph graph;
//     auto left  = graph.add([&] { kernel(0, half); });
//     auto right = graph.add([&] { kernel(half, end); });
//     auto join  = graph.add([&] { finish(); });
//     graph.precede(left, join);
//     graph.precede(right, join);
//     co_await run(graph);
//
// A step reads and writes memory that the graph's maker keeps alive; two steps without an
// order between them touch nothing in common. On a pool the graph becomes a Taskflow graph
// on the pool's own threads; on an executor the steps run one after the other where the
// awaiting task runs; in simulation each step is an event, and every order is tried.
//
// Guarantees
//   complete   the await ends when every step has ended;
//   first      of several exceptions the one of the step added first is thrown; steps after
//              a failed one are not run.

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe {

class step_graph {
 public:
  using id = std::size_t;

  id add(std::function<void()> work) {
    steps_.push_back({std::move(work), {}, {}, nullptr});
    return steps_.size() - 1;
  }

  /// `after` starts when `before` has ended. \pre No cycle: it would never start.
  void precede(id before, id after) {
    steps_[before].successors.push_back(after);
    steps_[after].predecessors.push_back(before);
  }

  std::size_t size() const noexcept { return steps_.size(); }

  // For the runtimes that run it.
  struct step {
    std::function<void()> work;
    std::vector<id> successors;
    std::vector<id> predecessors;
    std::exception_ptr failure;
  };
  std::vector<step>& steps() noexcept { return steps_; }

  /// Runs one step, unless one before it has failed.
  void take(id which) noexcept;
  /// Runs all of them here and now.
  void take_all() noexcept;
  void throw_first_failure() const;

 private:
  std::vector<step> steps_;
};

namespace detail {

class graph_run final : public wait_as<graph_run> {
 public:
  using awaitable_in_task = void;
  using value_type = void;

  explicit graph_run(step_graph& graph) noexcept : graph_(graph) {}

  bool await_ready() const noexcept { return graph_.size() == 0; }
  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    activity& self = *waiting.promise().self;
    keep_ = static_cast<routine&>(self).owner().on->home().start(graph_, self);
    if (keep_) self.park(waiting, *this);
    return keep_ != nullptr;
  }
  void await_resume() const { graph_.throw_first_failure(); }

  /// Steps are short and have no way to stop: the wait ends when they do.
  void cancel_wait() noexcept {}
  std::string describe_wait() const {
    return "a graph of " + std::to_string(graph_.size()) + " steps";
  }

 private:
  step_graph& graph_;
  std::shared_ptr<void> keep_;
};

}  // namespace detail

/// Awaits all steps of `graph`, which must live until then.
[[nodiscard("co_await it: nothing runs before")]] inline detail::graph_run run(step_graph& graph) {
  return detail::graph_run(graph);
}

}  // namespace troupe
