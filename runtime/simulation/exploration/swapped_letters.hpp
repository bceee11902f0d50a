// swapped_letters.hpp - whether letters that are said to commute do.
//
// A run with such letters is made again in another sequence of the same partial order, in which
// they come as late as they may and the last of them first. What they leave of their actors must
// be the same.

#pragma once

#include "runtime/simulation/one_run.hpp"

namespace troupe::detail {

/// run_once(), and if letters commuted in it, so they say, the same with those swapped. A run that
/// held has then failed as the other one did, or with errc::not_commutative.
one_run run_and_swap(const simulation_options& options, choice_policy& policy,
                     const simulation::program& body, run_wishes wishes = {});

/// For a run that has been made, with this log. \return how it fails because of that.
std::optional<failure> swapped_failure(const simulation_options& options,
                                       const simulation::program& body, const schedule& taken,
                                       const step_log& log, bool picture = false);

/// Whether only run_and_swap() shows that a run fails like this.
bool is_not_commutative(const failure& found);

}  // namespace troupe::detail
