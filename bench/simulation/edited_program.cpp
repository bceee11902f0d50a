// edited_program.cpp - plans: what is drawn, what is edited.

#include "bench/simulation/edited_program.hpp"

#include <algorithm>
#include <utility>

namespace troupe::bench {

namespace {

int between(drawn& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
}

bystander_plan draw_bystander(drawn& random) {
  bystander_plan one;
  one.steps = between(random, 2, 6);
  one.letters = between(random, 0, 2);
  one.yields = between(random, 0, 1);
  return one;
}

/// One actor has come so far, then the other, then the first again: each deed but the last needs a
/// preemption, because culprit 0 would take all its steps first.
std::vector<wrong_order> draw_alternation(drawn& random, plan_size size) {
  std::vector<wrong_order> bug;
  int reached[2] = {0, 0};
  deed before;
  for (std::size_t i = 0; i <= size.preemptions; ++i) {
    deed now;
    now.who = i % 2 == 0 ? 1 : 0;
    reached[now.who] += between(random, 1, size.pace);
    now.step = reached[now.who];
    if (i > 0) bug.push_back({before, now});
    before = now;
  }
  return bug;
}

/// In some of the first steps, between merges, the replicas come in one order or the other.
std::vector<wrong_order> draw_arrivals(drawn& random, plan_size size) {
  std::vector<wrong_order> bug;
  int step = 0;
  for (std::size_t i = 0; i < size.preemptions; ++i) {
    step += between(random, 1, size.pace);
    deed first;
    first.who = between(random, 0, 1);
    first.step = step;
    deed second = first;
    second.who = 1 - first.who;
    bug.push_back({first, second});
  }
  return bug;
}

bystander_plan& any_of(std::vector<bystander_plan>& all, drawn& random) {
  return all[random() % all.size()];
}

}  // namespace

program_plan draw_plan(drawn& random, plan_size size) {
  program_plan plan;
  plan.of_replicas = random() % 2 == 0;
  for (std::size_t i = 0; i < size.bystanders; ++i)
    plan.bystanders.push_back(draw_bystander(random));
  plan.place = random() % (size.bystanders + 1);
  for (const bool earlier : {true, false}) {
    run_plan run;
    run.replicas = between(random, 2, 3);
    run.merges = between(random, 1, 3);
    run.earlier = earlier;
    plan.runs.push_back(run);
  }
  if (plan.of_replicas) {
    plan.warmed_up = random() % 2 == 0;
    plan.culprits[0] = between(random, 0, 1);
    plan.culprits[1] = between(random, plan.culprits[0] + 1, 2);
    plan.bug = draw_arrivals(random, size);
  } else {
    plan.bug = draw_alternation(random, size);
  }
  for (const auto& [first, second] : plan.bug) {
    plan.culprit_steps = std::max({plan.culprit_steps, first.step + 1, second.step + 1});
  }
  return plan;
}

std::string to_string(edit what) {
  switch (what) {
    case edit::more_steps: return "more steps";
    case edit::fewer_steps: return "fewer steps";
    case edit::one_merge_more: return "a merge more";
    case edit::one_actor_more: return "an actor more";
    case edit::one_message_more: return "a message more";
    case edit::one_yield_more: return "a yield more";
  }
  return "?";
}

program_plan edited(program_plan plan, edit what, drawn& random) {
  switch (what) {
    case edit::more_steps: any_of(plan.bystanders, random).steps += between(random, 1, 3); break;
    case edit::fewer_steps: --any_of(plan.bystanders, random).steps; break;
    case edit::one_merge_more: ++plan.runs[random() % plan.runs.size()].merges; break;
    case edit::one_message_more: ++any_of(plan.bystanders, random).letters; break;
    case edit::one_yield_more: ++any_of(plan.bystanders, random).yields; break;
    case edit::one_actor_more: {
      const std::size_t at = random() % (plan.bystanders.size() + 1);
      if (at < plan.place || (at == plan.place && random() % 2 == 0)) ++plan.place;
      plan.bystanders.insert(plan.bystanders.begin() + static_cast<std::ptrdiff_t>(at),
                             draw_bystander(random));
      break;
    }
  }
  return plan;
}

}  // namespace troupe::bench
