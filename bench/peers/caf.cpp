// caf.cpp - a barrier actor in CAF 0.17: participants request, the barrier answers when
// the last of them has asked.

#include <caf/all.hpp>
#include <utility>
#include <vector>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

struct barrier_state {
  std::uint64_t sum = 0;
  std::vector<caf::response_promise> waiting;
};

caf::behavior barrier(caf::stateful_actor<barrier_state>* self, std::size_t participants) {
  return {[self, participants](std::uint64_t value) -> caf::result<std::uint64_t> {
    barrier_state& state = self->state;
    state.sum += value;
    state.waiting.push_back(self->make_response_promise());
    if (state.waiting.size() == participants) {
      std::vector<caf::response_promise> waiting = std::exchange(state.waiting, {});
      const std::uint64_t sum = std::exchange(state.sum, 0);
      for (caf::response_promise& promise : waiting) {
        promise.deliver(sum);
      }
    }
    return caf::delegated<std::uint64_t>{};
  }};
}

struct participant_state {
  std::uint64_t round = 0;
  std::uint64_t met = 0;
};

struct participant_plan {
  caf::actor barrier;
  std::uint64_t value = 0;
  std::uint64_t rounds = 0;
  std::uint64_t* met = nullptr;  // Written once, before the actor ends.
  stopwatch* watch = nullptr;    // For participant 0.
};

using participant_actor = caf::stateful_actor<participant_state>;

void ask(participant_actor* self, const participant_plan& plan) {
  participant_state& state = self->state;
  if (plan.watch != nullptr && state.round == warm_up_rounds) {
    plan.watch->start();
  }
  if (state.round == plan.rounds) {
    if (plan.watch != nullptr) {
      plan.watch->stop();
    }
    *plan.met = state.met;
    self->quit();
    return;
  }
  self->request(plan.barrier, caf::infinite, plan.value).then([self, &plan](std::uint64_t sum) {
    self->state.met += sum;
    ++self->state.round;
    ask(self, plan);
  });
}

caf::behavior participant(participant_actor* self, const participant_plan* plan) {
  return {[self, plan](bool) { ask(self, *plan); }};
}

// Starts `plans` and returns when all participants, and then the barrier, have ended.
void run_actors(caf::actor_system& system, std::vector<participant_plan>& plans) {
  const caf::actor meeting = system.spawn(barrier, plans.size());
  std::vector<caf::actor> actors;
  for (participant_plan& plan : plans) {
    plan.barrier = meeting;
    actors.push_back(system.spawn(participant, &plan));
  }
  caf::scoped_actor self(system);
  for (const caf::actor& actor : actors) {
    self->send(actor, true);
  }
  for (const caf::actor& actor : actors) {
    self->wait_for(actor);
  }
  self->send_exit(meeting, caf::exit_reason::user_shutdown);
  self->wait_for(meeting);
}

double run_barrier_actor(std::size_t participants, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  // A system of its own per sample: idle CAF workers poll, which would disturb everybody else.
  caf::actor_system_config config;
  config.set("scheduler.max-threads", std::size_t{1});
  caf::actor_system system(config);

  stopwatch watch;
  std::vector<std::uint64_t> met(participants);
  std::vector<participant_plan> plans(participants);
  for (std::size_t id = 0; id < participants; ++id) {
    plans[id].value = replica_value(id);
    plans[id].rounds = rounds;
    plans[id].met = &met[id];
    plans[id].watch = id == 0 ? &watch : nullptr;
  }
  run_actors(system, plans);
  plans.clear();  // The system outlives every handle to one of its actors.
  for (const std::uint64_t each : met) {
    expect_equal("sum of sums", each, rounds * sum_of_values(participants));
  }
  return watch.nanoseconds();
}

}  // namespace

void add_caf_barrier(table& contest, std::size_t participants) {
  contest.contenders.push_back({"caf_barrier_actor", [participants](std::uint64_t rounds) {
                                  return run_barrier_actor(participants, rounds);
                                }});
}

}  // namespace troupe::bench
