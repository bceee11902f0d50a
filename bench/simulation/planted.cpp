// planted.cpp - what it takes to find the planted bugs of the tests, to shrink and to replay them.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "bench/simulation/contenders.hpp"
#include "tests/planted/planted.hpp"

namespace troupe::bench {

namespace {

using planted::bug;

/// All there are: the functions that tests/planted/planted.hpp declares.
const planted::bugs& all_bugs() {
  static const planted::bugs all = [] {
    planted::bugs together;
    for (auto* const some : {TROUPE_BENCH_PLANTED}) {
      for (auto& each : some()) together.push_back(std::move(each));
    }
    return together;
  }();
  return all;
}

simulation_options drawing(const bug& what, bool shrunk = true) {
  simulation_options options;
  options.exhaustive = 1;
  options.samples = what.budget;
  options.shrink = shrunk;
  options.heed_environment = false;
  options.progress = nullptr;
  return options;
}

// -- finding --------------------------------------------------------------------------------------

struct search {
  std::size_t found = 0;
  double nanoseconds = 0;
  std::vector<std::string> missed{};
};

search find_all(std::uint64_t seed = 1) {
  search result;
  for (const bug& each : all_bugs()) {
    simulation_options options = drawing(each);
    options.seed = seed;
    const simulation sim(options);
    cpu_stopwatch watch;
    watch.start();
    const exploration report = sim.explore(each.body);
    watch.stop();
    result.nanoseconds += watch.nanoseconds();
    if (!report.failure) {
      result.missed.emplace_back(each.name);
      continue;
    }
    if (report.schedules == 1) {
      throw wrong_result(std::string(each.name) + " fails in the default order");
    }
    ++result.found;
  }
  return result;
}

std::string told(const search& last) {
  std::string text = std::to_string(last.found) + '/' + std::to_string(all_bugs().size()) +
                     " found" + (last.missed.empty() ? "" : "; not found:");
  for (const std::string& name : last.missed) text += "\n        " + name;
  return text;
}

// -- shrinking ------------------------------------------------------------------------------------

double explored_in(const bug& what, bool shrunk) {
  const simulation sim(drawing(what, shrunk));
  cpu_stopwatch watch;
  watch.start();
  const exploration report = sim.explore(what.body);
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
  const exploration report = sim.explore(what.body);
  if (!report.failure) throw wrong_result(std::string(what.name) + " is not found");
  const failure& found = *report.failure;
  int alike = 0;
  for (int i = 0; i < replays; ++i) {
    const exploration again = sim.replay(what.body, found.schedule);
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
  const auto last = std::make_shared<search>();
  contest.contenders.push_back({"found", [last](std::uint64_t) {
                                  *last = find_all();
                                  return static_cast<double>(last->found);
                                }});
  contest.contenders.push_back({"worst_of_10_seeds", [](std::uint64_t) {
                                  std::size_t least = all_bugs().size();
                                  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
                                    least = std::min(least, find_all(seed).found);
                                  }
                                  return static_cast<double>(least);
                                }});
  contest.remark = [last] { return told(*last); };
}

void add_our_search(table& contest) {
  contest.contenders.push_back({"troupe", [](std::uint64_t times) {
                                  double nanoseconds = 0;
                                  for (std::uint64_t i = 0; i < times; ++i) {
                                    nanoseconds += find_all().nanoseconds;
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
