// Finds planted bugs, and prints what that took: an explorer that finds nothing proves nothing.
// tools/planted-bugs runs this.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "tests/planted/planted.hpp"
#include "troupe/runtime/schedule.hpp"

namespace {

using namespace troupe;

/// \return what is wrong; nothing if the bug was found as it should be.
std::string wrong_with(const planted::bug& b, const exploration& report, const simulation& sim) {
  if (!report.failure) return "not found: " + report.text();
  const failure& found = *report.failure;
  if (report.schedules == 1) return "no bug of order: it fails in the default order";
  const exploration again = sim.replay(b.body, found.schedule);
  if (!again.failure || again.failure->what != found.what) return "its schedule does not replay";
  return "";
}

struct total {
  std::size_t found = 0;
  std::uint64_t runs = 0;
  double milliseconds = 0;
};

bool find(const planted::bug& b, total& all) {
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 1;
  options.samples = b.budget;
  const simulation sim(options);
  const auto begin = std::chrono::steady_clock::now();
  const exploration report = sim.explore(b.body);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  all.runs += report.schedules;
  all.milliseconds += taken.count();
  const std::string wrong = wrong_with(b, report, sim);
  if (!wrong.empty()) {
    std::printf("%-48s %s\n", b.name, wrong.c_str());
    return false;
  }
  ++all.found;
  const auto deviations = parse_schedule(report.failure->schedule).deviations.size();
  std::printf("%-48s %6llu runs %9.2f ms %4zu -> %zu deviations\n", b.name,
              static_cast<unsigned long long>(report.schedules), taken.count(),
              report.failure->deviations_found, deviations);
  return true;
}

}  // namespace

int main() {
  try {
    total all;
    std::size_t planted = 0;
    for (const auto& some :
         {planted::of_merges(), planted::of_actors(), planted::of_mailboxes(),
          planted::of_variables(), planted::of_cancellation(), planted::of_timers()}) {
      planted += some.size();
      for (const auto& b : some) find(b, all);
    }
    std::printf("%zu of %zu found in %llu runs, %.1f ms\n", all.found, planted,
                static_cast<unsigned long long>(all.runs), all.milliseconds);
    return all.found == planted ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
