// sim_graph.cpp - a step graph in simulation: each step an event, every order a schedule.

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
    for (step_graph::id i = 0; i < graph.size(); ++i) {
      steps_.push_back(std::make_unique<one_step>(on, *this, i));
    }
  }

  void start() noexcept {
    for (auto& s : steps_) {
      if (s->waits_for == 0) s->post();
    }
  }

 private:
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
      if (how == turn::take) me.home.take(me.number);
    }

    simulated_graph& home;
    step_graph::id number;
    std::size_t waits_for;
  };

  void take(step_graph::id which) noexcept {
    footprint::touches(this, touch::change);  // What steps without an order share, is for all.
    graph_.take(which);
    for (const auto after : graph_.steps()[which].successors) {
      if (--steps_[after]->waits_for == 0) steps_[after]->post();
    }
    if (--left_ == 0) waiter_.wake();
  }

  step_graph& graph_;
  activity& waiter_;
  std::size_t left_;
  std::vector<std::unique_ptr<one_step>> steps_;
};

}  // namespace

std::shared_ptr<void> sim_engine::start(step_graph& graph, activity& waiter) {
  auto running = std::make_shared<simulated_graph>(shared_from_this(), graph, waiter);
  running->start();
  return running;
}

}  // namespace troupe::detail
