// sim_graph.cpp - a step graph in simulation: each step an event, every order a schedule.
//
// Orders of two steps are tried where one writes what the other reads or writes. What steps say
// of their memory is cut into pieces that each step touches whole or not at all; pieces that
// nobody writes, or one step alone touches, order nothing.

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/simulation/sim_engine.hpp"
#include "troupe/runtime/root_task.hpp"
#include "troupe/runtime/step_graph.hpp"

namespace troupe::detail {

namespace {

class simulated_graph final {
 public:
  simulated_graph(std::shared_ptr<runtime_state> on, step_graph& graph, activity& waiter)
      : graph_(graph), waiter_(waiter), left_(graph.size()) {
    footprint::made(this);
    footprint::made(&unknown_);
    for (step_graph::id i = 0; i < graph.size(); ++i) {
      steps_.push_back(std::make_unique<one_step>(on, *this, i));
      footprint::made(steps_.back().get());
    }
    if (footprint::wanted()) cut_memory();
  }

  void start() noexcept {
    for (auto& s : steps_) {
      if (s->waits_for == 0) s->post();
    }
  }

 private:
  struct shared_piece {
    const void* thing;
    touch how;
  };

  struct one_step final : enrollment, event {
    one_step(std::shared_ptr<runtime_state> on, simulated_graph& owner, step_graph::id which)
        : enrollment(std::move(on), "step", static_cast<std::uint32_t>(which), any_line),
          event(&one_step::run, enrollment::who),
          home(owner),
          number(which),
          waits_for(owner.graph_.steps()[which].predecessors.size()) {}

    void post() noexcept { enrollment::who.on->post(*this); }

    static void run(event& self, turn how) noexcept {
      auto& me = static_cast<one_step&>(self);
      if (how == turn::take) me.home.take(me);
    }

    simulated_graph& home;
    step_graph::id number;
    std::size_t waits_for;
    std::vector<shared_piece> pieces;
  };

  void cut_memory() {
    std::vector<const std::byte*> cuts;
    for (const auto& each : graph_.steps()) {
      for (const auto& range : each.memory.ranges()) {
        cuts.push_back(range.first);
        cuts.push_back(range.last);
      }
    }
    const std::less<const std::byte*> below;
    std::sort(cuts.begin(), cuts.end(), below);
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    const auto piece_at = [&](const std::byte* cut) {
      return static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), cut, below) -
                                      cuts.begin());
    };
    std::vector<std::vector<memory_user>> users(cuts.size());
    for (auto& each : steps_) {
      for (const auto& range : graph_.steps()[each->number].memory.ranges()) {
        const std::size_t last = piece_at(range.last);
        for (std::size_t i = piece_at(range.first); i < last; ++i) {
          users[i].push_back({each.get(), range.written ? touch::change : touch::look});
        }
      }
    }
    pieces_.resize(cuts.size());
    for (std::size_t i = 0; i < users.size(); ++i) share(pieces_[i], users[i]);
  }

  struct memory_user {
    one_step* step;
    touch how;
  };

  static void share(const char& piece, const std::vector<memory_user>& users) {
    const auto writes = [](const memory_user& u) { return u.how == touch::change; };
    const auto is_first = [&](const memory_user& u) { return u.step == users.front().step; };
    if (std::none_of(users.begin(), users.end(), writes)) return;
    if (std::all_of(users.begin(), users.end(), is_first)) return;
    footprint::made(&piece);
    for (const memory_user& each : users) each.step->pieces.push_back({&piece, each.how});
  }

  void take(const one_step& step) noexcept {
    // What steps without an order share and do not tell, is for all.
    const auto& mine = graph_.steps()[step.number];
    footprint::touches(&unknown_, mine.says_memory ? touch::look : touch::change);
    for (const shared_piece& each : step.pieces) footprint::touches(each.thing, each.how);
    if (!mine.predecessors.empty()) footprint::touches(&step, touch::conclude);
    graph_.take(step.number);
    for (const auto after : mine.successors) {
      footprint::touches(steps_[after].get(), touch::arrive);
      if (--steps_[after]->waits_for == 0) steps_[after]->post();
    }
    footprint::touches(this, touch::arrive);
    if (--left_ == 0) waiter_.wake();
  }

  step_graph& graph_;
  activity& waiter_;
  std::size_t left_;
  char unknown_ = 0;
  std::vector<char> pieces_;
  std::vector<std::unique_ptr<one_step>> steps_;
};

}  // namespace

std::shared_ptr<void> sim_engine::start(step_graph& graph, activity& waiter) {
  auto running = std::make_shared<simulated_graph>(shared_from_this(), graph, waiter);
  running->start();
  return running;
}

}  // namespace troupe::detail
