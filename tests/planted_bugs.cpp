// Finds planted bugs, and prints what that took: an explorer that finds nothing proves nothing.
// tools/planted-bugs runs this, with `live` for the same bugs on threads.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "tests/planted/planted.hpp"
#include "tests/planted_live.hpp"
#include "troupe/runtime/schedule.hpp"

namespace {

using namespace troupe;

simulation_options within(std::uint64_t budget) {
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 1;
  options.samples = budget;
  options.progress = nullptr;
  options.why = false;  // Finding is what is measured.
  return options;
}

/// \return what is wrong; nothing if the bug was found as it should be.
std::string wrong_with(const planted::bug& b, const exploration& report, const simulation& sim) {
  if (!report.failure) return "not found: " + report.text();
  const failure& found = *report.failure;
  if (report.schedules == 1) return "no bug of order: it fails in the default order";
  const exploration again = sim.replay(planted::simulated(b.body), found.schedule);
  if (!again.failure || again.failure->what != found.what) return "its schedule does not replay";
  return "";
}

struct total {
  std::size_t found = 0;
  std::uint64_t runs = 0;
  double milliseconds = 0;
};

bool find(const planted::bug& b, total& all) {
  const simulation sim(within(b.budget));
  planted::active = b.mutant;
  const auto begin = std::chrono::steady_clock::now();
  const exploration report = sim.explore(planted::simulated(b.body));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  const std::string wrong = wrong_with(b, report, sim);
  planted::active = 0;
  all.runs += report.schedules;
  all.milliseconds += taken.count();
  if (!wrong.empty()) {
    std::printf("%-56s depth %d  %s\n", b.name, b.depth, wrong.c_str());
    return false;
  }
  ++all.found;
  const auto deviations = parse_schedule(report.failure->schedule).deviations.size();
  std::printf("%-56s depth %d %5llu runs %8.2f ms %4zu -> %zu deviations\n", b.name, b.depth,
              static_cast<unsigned long long>(report.schedules), taken.count(),
              report.failure->deviations_found, deviations);
  return true;
}

/// What shows a change to the library holds without it.
bool hold_unchanged(const planted::bugs& mutants) {
  std::set<planted::program> seen;
  for (const planted::bug& b : mutants) {
    if (!seen.insert(b.body).second) continue;
    const exploration report = simulation(within(1'000)).explore(planted::simulated(b.body));
    if (report.passed()) continue;
    std::printf("%s: its program fails without it: %s", b.name, report.text().c_str());
    return false;
  }
  return true;
}

bool find_all(const planted::bugs& all) {
  total sum;
  for (const planted::bug& b : all) {
    find(b, sum);
    std::fflush(stdout);  // The next one may end the process.
  }
  std::printf("%zu of %zu found in %llu runs, %.1f ms\n", sum.found, all.size(),
              static_cast<unsigned long long>(sum.runs), sum.milliseconds);
  return sum.found == all.size();
}

}  // namespace

int main(int count, char** arguments) {
  try {
    planted::bugs all = planted::programs();
    const planted::bugs mutants = planted::of_mutants();
    if (!hold_unchanged(mutants)) return 1;
    all.insert(all.end(), mutants.begin(), mutants.end());
    if (count > 1 && std::string_view(arguments[1]) == "live") {
      planted::run_live(all, 1'000);
      return 0;
    }
    return find_all(all) ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
