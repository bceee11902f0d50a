// step_team.hpp - the lines of a pool take the steps of a graph together, one step at a time.
//
// For graphs without an order between steps, which is what large reductions are. The line that
// starts a graph begins at once. Lines that are awake are asked to help; one that sleeps is woken
// only when the first step has shown that the rest takes longer than waking somebody.
//
// Each line begins at a part of the steps that is its own, and goes on with what others have left
// of theirs. Who reduces the same tensors again and again then finds most of them where it has left
// them: in the cache of its processor, which may share none with another's.
//
// Guarantees
//   once       each step is taken once; all have ended when the waiter goes on;
//   no wait    a line that is busy with something else holds nobody up: it comes late and finds
//              the graph done, or helps with the next one;
//   steady     a graph asks the heap for nothing here.
//
// Threading: run() on a line, by one at a time. Helping lines come and go by themselves.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/live/line.hpp"
#include "troupe/core/activity.hpp"
#include "troupe/runtime/step_graph.hpp"

namespace troupe::detail {

class step_team {
 public:
  /// `wake_up`: how long it takes to wake a line that sleeps.
  explicit step_team(std::chrono::nanoseconds wake_up) noexcept : wake_up_(wake_up) {}

  /// In the order of the lines' indices, before there is a graph.
  void add(line& helping) { helpers_.push_back(std::make_unique<helper>(*this, helping)); }

  /// Whether nobody runs a graph; if so, the caller may, and must.
  bool claim() noexcept { return !claimed_.exchange(true); }
  void let_go() noexcept { claimed_.store(false, std::memory_order_release); }

  /// Takes steps of `graph` until there are none. True when all have ended; otherwise others are
  /// at the last ones and will wake `waiter`. \pre Claimed; lets go by itself.
  bool run(step_graph& graph, activity& waiter) noexcept {
    graph_ = &graph;
    waiter_ = &waiter;
    divide();
    place_in_steps mine(scheduler::current()->index());
    present_.store(1, std::memory_order_release);  // Pairs with enter().
    ask_for_help(false);
    using clock = std::chrono::steady_clock;
    const auto began = clock::now();
    if (take_one(mine) && (clock::now() - began) * (graph.size() - 1) > wake_up_) {
      ask_for_help(true);
    }
    while (take_one(mine)) {
    }
    const auto until = clock::now() + wake_up_;
    while (present_.load(std::memory_order_acquire) != 1 && clock::now() < until) {
    }
    if (present_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    let_go();
    return true;
  }

 private:
  /// Of the steps of a graph.
  struct alignas(64) part {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };

  class helper final : public event {
   public:
    part own;

    helper(step_team& team, line& helping) noexcept
        : event(&helper::help, who_), team_(team), helping_(helping) {
      who_.on = &helping;
    }

    void ask(bool also_asleep) noexcept {
      if (&helping_ == scheduler::current() || !(also_asleep || helping_.awake())) return;
      // One that was asked for an earlier graph and has not come yet will find this one.
      if (!asked_.exchange(true, std::memory_order_acq_rel)) helping_.post(*this);
      if (also_asleep) helping_.hurry();
    }

   private:
    static void help(event& self, turn how) noexcept {
      auto& me = static_cast<helper&>(self);
      // Pairs with ask(): whoever found us asked has made its graph known before.
      me.asked_.exchange(false, std::memory_order_acq_rel);
      if (how != turn::take || !me.team_.enter()) return;
      place_in_steps mine(me.helping_.index());
      while (me.team_.take_one(mine)) {
      }
      me.team_.leave();
    }

    party who_{.kind = "graph"};
    step_team& team_;
    line& helping_;
    std::atomic<bool> asked_{false};
  };

  void ask_for_help(bool also_asleep) noexcept {
    for (const auto& each : helpers_) each->ask(also_asleep);
  }

  /// Somebody is there as long as there are steps; where nobody is, the graph is over.
  bool enter() noexcept {
    std::size_t there = present_.load(std::memory_order_relaxed);
    while (there != 0) {
      if (present_.compare_exchange_weak(there, there + 1, std::memory_order_acquire,
                                         std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void leave() noexcept {
    if (present_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    activity& waiter = *waiter_;
    let_go();
    waiter.wake();
  }

  void divide() noexcept {
    const std::size_t steps = graph_->size();
    parts_in_use_ = std::min(helpers_.size(), steps);
    for (std::size_t i = 0; i < parts_in_use_; ++i) {
      part& each = helpers_[i]->own;
      each.next.store(steps * i / parts_in_use_, std::memory_order_relaxed);
      each.end = steps * (i + 1) / parts_in_use_;
    }
  }

  /// Which part a line takes steps of: its own, or one of those behind it.
  struct place_in_steps {
    explicit place_in_steps(std::size_t own) noexcept : at(own) {}
    std::size_t at;
    std::size_t parts_done = 0;
  };

  bool take_one(place_in_steps& place) noexcept {
    for (; place.parts_done < parts_in_use_; ++place.parts_done, ++place.at) {
      part& here = helpers_[place.at % parts_in_use_]->own;
      // Most that come to another's part find it done: they leave it where it is.
      if (here.next.load(std::memory_order_relaxed) >= here.end) continue;
      const std::size_t mine = here.next.fetch_add(1, std::memory_order_relaxed);
      if (mine >= here.end) continue;
      graph_->take(mine);
      return true;
    }
    return false;
  }

  const std::chrono::nanoseconds wake_up_;
  std::vector<std::unique_ptr<helper>> helpers_;
  std::atomic<bool> claimed_{false};

  // The graph. Written before present_ is, read by those who are present.
  step_graph* graph_ = nullptr;
  activity* waiter_ = nullptr;
  std::size_t parts_in_use_ = 0;

  alignas(64) std::atomic<std::size_t> present_{0};
};

}  // namespace troupe::detail
