// one_run.hpp - one run of a program under one policy, and what is known of it afterwards.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/simulation/exploration/interrupt.hpp"
#include "runtime/simulation/sim_engine.hpp"
#include "troupe/core/error.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe::detail {

struct one_run {
  std::optional<troupe::failure> failure;
  bool broken_off = false;  ///< By its policy, which has seen the rest before.
  schedule taken;           ///< Of a run that failed, that is swapped, or of which more was wanted.
  std::uint64_t steps = 0;
  std::uint64_t choices = 0;               ///< Of all that was chosen; no other run has it.
  std::vector<step_record> journal;        ///< If it was asked for.
  std::vector<std::string> participants;   ///< The same.
  std::vector<std::string> sometimes_met;  ///< Claims that were met.
  std::vector<std::string> sometimes;      ///< All claims that were made.
};

/// Step number `step`, counted from 1; null if there is none.
const step_record* record_of_step(const std::vector<step_record>& journal, std::uint64_t step);

/// What is wanted besides the run itself.
struct run_wishes {
  bool picture = false;
  bool journal = false;
  std::uint64_t mark = 0;  ///< The step that a picture points at, counted from 1.
  step_log* log = nullptr;
  /// Called after a run that held; may throw.
  std::function<void()> check = {};
};

one_run run_once(const simulation_options& options, choice_policy& policy,
                 const simulation::program& body, const run_wishes& wishes = {});

/// Whether a failure is an error of the catalogue, with this code.
bool is_a(const failure& found, errc code);

/// Whether two failures are of one kind at one place, whatever the values in their texts.
bool same_failure(const failure& a, const failure& b);

/// Runs the schedule of `found` again, and less and less of it, while it fails in the same way
/// and nobody interrupts.
/// \return the failure under the smallest schedule found, without a picture.
failure shrink(const simulation_options& options, const simulation::program& body, failure found,
               const interrupt_watch& watch);

/// Finds the step after which `found` could not be avoided any more, unless that takes too long.
void explain(const simulation_options& options, const simulation::program& body, failure& found,
             const interrupt_watch& watch);

}  // namespace troupe::detail
