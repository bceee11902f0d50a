// edited_program.hpp - generated programs with a bug of order, and what an author edits beside it.
//
// Two culprits break the program when their steps come in a wrong order: two actors among others,
// or two replicas of a run. Everybody else is innocent: actors that take steps, hesitate and write
// to each other, and strategies that run before or after. An edit changes the innocent only, so
// that a schedule which showed the bug ought to show it again.

#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

namespace troupe::bench {

/// An actor that takes steps of its own.
struct bystander_plan {
  int steps = 1;
  int letters = 0;  ///< It writes to the next bystander in its first step, …
  int yields = 0;   ///< … and lets everybody go first, so often.
};

/// A run of other replicas, before the culprits begin or after they have ended.
struct run_plan {
  int replicas = 2;
  int merges = 1;
  bool earlier = true;
};

/// A culprit's step.
struct deed {
  int who = 0;   ///< Culprit 0 or 1.
  int step = 0;  ///< From 1 on.
};

struct wrong_order {
  deed first;
  deed second;
};

struct program_plan {
  bool of_replicas = false;  ///< The culprits: two replicas of three, or else two actors.
  int culprits[2] = {0, 1};  ///< Which replicas.
  int culprit_steps = 2;     ///< Of each: messages, or merges with a step before each.
  std::size_t place = 0;     ///< So many bystanders are made before actors that are culprits, …
  bool warmed_up = false;    ///< … or replicas that are have run before all bystanders.
  std::vector<bystander_plan> bystanders{};
  std::vector<run_plan> runs{};
  std::vector<wrong_order> bug{};  ///< It shows when all of these come about.
};

using drawn = std::mt19937_64;

struct plan_size {
  std::size_t bystanders = 4;   ///< At least one.
  std::size_t preemptions = 1;  ///< So often the default order must be left, at most.
  int pace = 2;                 ///< A culprit takes at most so many steps between two of them.
};

program_plan draw_plan(drawn& random, plan_size size);

simulation::program program_of(const program_plan& plan);

enum class edit : std::uint8_t {
  more_steps,
  fewer_steps,
  one_merge_more,
  one_actor_more,
  one_message_more,
  one_yield_more,
};
inline constexpr edit all_edits[] = {edit::more_steps,       edit::fewer_steps,
                                     edit::one_merge_more,   edit::one_actor_more,
                                     edit::one_message_more, edit::one_yield_more};

std::string to_string(edit what);

/// The plan after an edit at a drawn place.
program_plan edited(program_plan plan, edit what, drawn& random);

}  // namespace troupe::bench
