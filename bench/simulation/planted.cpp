// planted.cpp - what it takes to find the planted bugs of the tests, to shrink and to replay them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "bench/contenders.hpp"
#include "bench/simulation/contenders.hpp"
#include "tests/planted/planted.hpp"

namespace troupe::bench {

namespace {

using planted::bug;

const planted::bugs& all_bugs() {
  static const planted::bugs all = planted::programs();
  return all;
}

simulation_options drawing(const bug& what, bool shrunk = true) {
  simulation_options options;
  options.exhaustive = 1;
  options.samples = what.budget;
  options.shrink = shrunk;
  options.why = false;
  options.heed_environment = false;
  options.progress = nullptr;
  return options;
}

// -- finding --------------------------------------------------------------------------------------

struct search {
  std::size_t found = 0;
  std::size_t planted = 0;
  double milliseconds = 0;
};

/// What tools/planted-bugs prints last: it plants some of its bugs in a copy of the library.
search find_all() {
  const char* const tool = std::getenv("TROUPE_BENCH_PLANTED");
  std::FILE* const output = popen((std::string(tool) + " 2>&1").c_str(), "r");
  if (output == nullptr) throw wrong_result(std::string("cannot run ") + tool);
  search all;
  unsigned long long runs = 0;
  char line[256] = {};
  while (std::fgets(line, sizeof line, output) != nullptr) {
    static_cast<void>(std::sscanf(line, "%zu of %zu found in %llu runs, %lf ms", &all.found,
                                  &all.planted, &runs, &all.milliseconds));
  }
  static_cast<void>(pclose(output));
  if (all.planted == 0) throw wrong_result(std::string(tool) + ": " + line);
  return all;
}

// -- shrinking ------------------------------------------------------------------------------------

double explored_in(const bug& what, bool shrunk) {
  const simulation sim(drawing(what, shrunk));
  cpu_stopwatch watch;
  watch.start();
  const exploration report = sim.explore(planted::simulated(what.body));
  watch.stop();
  if (!report.failure) throw wrong_result(std::string(what.name) + " is not found");
  const bool was_shrunk = report.failure->replays > 0;
  // One that has nothing to leave out is not shrunk, whoever asks for it.
  if (was_shrunk && !shrunk) throw wrong_result(std::string(what.name) + " is shrunk unasked");
  return watch.nanoseconds();
}

/// Milliseconds for each bug: exploring with shrinking takes so much longer than without.
std::vector<double> shrink_times() {
  constexpr int tries = 5;  // The least counts: a neighbour only adds.
  std::vector<double> times;
  for (const bug& each : all_bugs()) {
    double with = std::numeric_limits<double>::max();
    double without = with;
    for (int i = 0; i < tries; ++i) {
      with = std::min(with, explored_in(each, true));
      without = std::min(without, explored_in(each, false));
    }
    times.push_back(std::max(with - without, 0.0) / 1e6);
  }
  std::sort(times.begin(), times.end());
  return times;
}

// -- replaying ------------------------------------------------------------------------------------

constexpr int replays = 1'000;

/// How many of 1,000 replays fail exactly as the schedule was told to.
int replays_alike(const bug& what) {
  const simulation sim(drawing(what));
  const exploration report = sim.explore(planted::simulated(what.body));
  if (!report.failure) throw wrong_result(std::string(what.name) + " is not found");
  const failure& found = *report.failure;
  int alike = 0;
  for (int i = 0; i < replays; ++i) {
    const exploration again = sim.replay(planted::simulated(what.body), found.schedule);
    alike += again.failure && again.failure->what == found.what &&
                     again.failure->schedule == found.schedule &&
                     again.failure->steps == found.steps
                 ? 1
                 : 0;
  }
  return alike;
}

}  // namespace

void add_our_findings(table& contest) {
  if (std::getenv("TROUPE_BENCH_PLANTED") == nullptr) {
    skip(contest, "found", "bench/run finds no build/release; tools/build release makes it");
    return;
  }
  const auto last = std::make_shared<search>();
  contest.contenders.push_back({"found", [last](std::uint64_t) {
                                  *last = find_all();
                                  return static_cast<double>(last->found);
                                }});
  contest.remark = [last] {
    return std::to_string(last->found) + " of " + std::to_string(last->planted) + " found in " +
           std::to_string(last->milliseconds) + " ms";
  };
}

void add_our_search(table& contest) {
  if (std::getenv("TROUPE_BENCH_PLANTED") == nullptr) {
    skip(contest, "troupe", "bench/run finds no build/release; tools/build release makes it");
    return;
  }
  contest.contenders.push_back({"troupe", [](std::uint64_t times) {
                                  double nanoseconds = 0;
                                  for (std::uint64_t i = 0; i < times; ++i) {
                                    nanoseconds += 1e6 * find_all().milliseconds;
                                  }
                                  return nanoseconds;
                                }});
}

void add_our_shrinking(table& contest) {
  contest.contenders.push_back({"median_bug", [](std::uint64_t) {
                                  const auto times = shrink_times();
                                  return times[times.size() / 2];
                                }});
  contest.contenders.push_back(
      {"slowest_bug", [](std::uint64_t) { return shrink_times().back(); }});
}

void add_our_replays(table& contest) {
  contest.contenders.push_back({"worst_bug", [](std::uint64_t) {
                                  int least = replays;
                                  for (const bug& each : all_bugs()) {
                                    least = std::min(least, replays_alike(each));
                                  }
                                  return static_cast<double>(least);
                                }});
  contest.remark = [] { return std::to_string(all_bugs().size()) + " bugs, each so often"; };
}

}  // namespace troupe::bench
