// corpus.hpp - a named exploration: schedules under which it once failed are kept, and tried first.
//
//     auto told = explore_named("gradients are applied once", body);
//     if (!told.passed) std::cerr << told.text;
//
// With TROUPE_SIM_CORPUS=<folder> the schedules are in <folder>/<name>.schedules, one a line;
// what a file's name cannot hold is written otherwise. A search that Ctrl-C ends goes on from
// <folder>/<name>.search. SIM_TEST_CASE is made of this.
//
// Guarantees
//   first    what failed before is replayed before anything is explored, as far as it fits;
//   once     a schedule is written once, however often it fails;
//   whole    a reader sees the file as it was or as it is, never a part of it;
//   quiet    a folder that cannot be written changes no result: the text says so.

#pragma once

#include <string>
#include <string_view>

#include "troupe/core/place.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe {

struct named_exploration {
  bool passed = false;
  bool interrupted = false;
  std::string text;    ///< The result in prose, with what became of the recorded schedules.
  std::string replay;  ///< The command that replays a failure; empty if there is none.
  place at;            ///< The claim that did not hold; line 0 if something else has failed.
};

/// Explores `body`. \param arguments Of this program, in the command that replays: those
/// with which it runs nothing but this exploration. Without, those it was given.
named_exploration explore_named(std::string_view name, const simulation::program& body,
                                const simulation_options& options = simulation_options(),
                                std::string_view arguments = {});

/// The file's name for `name`, without a folder. Different names have different files.
std::string corpus_file(std::string_view name);

}  // namespace troupe
