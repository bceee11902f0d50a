// strings.cpp - how long schedules are as strings, and whether they survive edits.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <troupe/runtime/schedule.hpp>
#include <troupe/troupe.hpp>

#include "bench/simulation/contenders.hpp"
#include "bench/simulation/edited_program.hpp"

namespace troupe::bench {

namespace {

simulation_options drawing(std::uint64_t samples) {
  simulation_options options;
  options.exhaustive = 1;
  options.samples = samples;
  options.heed_environment = false;
  options.progress = nullptr;
  return options;
}

const simulation& simulator() {
  static const simulation sim(drawing(2'000));
  return sim;
}

struct bug_found {
  program_plan plan;
  failure how;
};

/// The bug of a drawn program, which the default order does not show.
bug_found find_one(drawn& random, plan_size size) {
  for (;;) {
    bug_found found;
    found.plan = draw_plan(random, size);
    const auto body = program_of(found.plan);
    const exploration report = simulator().explore(body);
    // Not found, or no bug of order: another one.
    if (!report.failure || report.schedules == 1) continue;
    found.how = *report.failure;
    const exploration again = simulator().replay(body, found.how.schedule);
    if (!again.failure || again.failure->what != found.how.what) {
      throw wrong_result("a schedule does not replay: " + found.how.schedule);
    }
    return found;
  }
}

bool holds_by_default(const simulation::program& body) {
  return simulation(drawing(0)).explore(body).passed();
}

// -- length ---------------------------------------------------------------------------------------

std::size_t body_length(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return text.rfind('-') - colon - 1;
}

struct lengths {
  std::size_t strings = 0;
  std::size_t longest = 0;
  std::string example{};
};

/// Of schedules with at most three deviations; those with more are not judged. The bug of all of
/// them can be had for three.
struct both_lengths {
  lengths short_ones{};
  lengths long_ones{};
  std::size_t most_deviations = 0;
};

void measure_length(drawn& random, both_lengths& all) {
  constexpr std::size_t strings_per_sample = 60;
  for (std::size_t i = 0; i < strings_per_sample; ++i) {
    plan_size size;
    // 32 actors in every second program: two culprits, or three replicas, are among them.
    size.bystanders = i % 2 == 0 ? 29 : 1 + random() % 29;
    size.preemptions = 1 + i % 3;
    size.pace = 8;
    const std::string text = find_one(random, size).how.schedule;
    const std::size_t deviations = parse_schedule(text).deviations.size();
    all.most_deviations = std::max(all.most_deviations, deviations);
    lengths& into = deviations <= 3 ? all.short_ones : all.long_ones;
    ++into.strings;
    if (body_length(text) <= into.longest) continue;
    into.longest = body_length(text);
    into.example = text;
  }
}

std::string told(const both_lengths& seen) {
  return std::to_string(seen.short_ones.strings) + " strings, the longest " +
         seen.short_ones.example + "; " + std::to_string(seen.long_ones.strings) +
         " others have more than 3 deviations, up to " + std::to_string(seen.most_deviations) +
         " in " + std::to_string(seen.long_ones.longest) + " characters";
}

// -- edits ----------------------------------------------------------------------------------------

struct survival {
  struct count {
    std::size_t edits = 0;
    std::size_t nearest = 0;
    std::size_t strict = 0;
  };
  count all{};
  std::array<count, std::size(all_edits)> by_edit{};
  std::size_t shown_by_default = 0;  ///< Edits after which the bug needs no schedule.
};

/// Edited so that the default order does not show the bug; nothing if it is hard to do.
std::optional<simulation::program> edit_once(const program_plan& plan, edit what, drawn& random) {
  for (int tries = 0; tries < 10; ++tries) {
    simulation::program body = program_of(edited(plan, what, random));
    if (holds_by_default(body)) return body;
  }
  return std::nullopt;
}

void try_edit(const bug_found& found, edit what, drawn& random, survival& result) {
  const auto body = edit_once(found.plan, what, random);
  if (!body) {
    ++result.shown_by_default;
    return;
  }
  const auto fails_alike = [&](const exploration& report) {
    return report.failure && report.failure->what == found.how.what;
  };
  const bool nearest = fails_alike(simulator().replay_nearest(*body, found.how.schedule));
  const bool strict = fails_alike(simulator().replay(*body, found.how.schedule));
  for (auto* const each : {&result.all, &result.by_edit[static_cast<std::size_t>(what)]}) {
    ++each->edits;
    each->nearest += nearest ? 1U : 0U;
    each->strict += strict ? 1U : 0U;
  }
}

survival measure_survival(std::uint64_t seed) {
  constexpr std::size_t programs = 40;
  constexpr std::size_t edits = 200;
  drawn random(seed);
  survival result;
  for (std::size_t i = 0; i < programs || result.all.edits < edits; ++i) {
    plan_size size;
    size.bystanders = 2 + random() % 7;
    size.preemptions = 1 + i % 3;
    const bug_found found = find_one(random, size);
    for (const edit what : all_edits) try_edit(found, what, random, result);
  }
  return result;
}

double percent(std::size_t some, std::size_t all) {
  return 100 * static_cast<double>(some) / static_cast<double>(all);
}

std::string told(const survival& last) {
  const auto share = [](std::size_t some, std::size_t all) {
    return std::to_string(some) + '/' + std::to_string(all);
  };
  std::string text = "of the last round nearest " + share(last.all.nearest, last.all.edits) +
                     ", strict " + share(last.all.strict, last.all.edits) + ":";
  for (const edit what : all_edits) {
    const auto& count = last.by_edit[static_cast<std::size_t>(what)];
    text += "\n        " + to_string(what) + " " + share(count.nearest, count.edits) + ", strict " +
            share(count.strict, count.edits);
  }
  return text;
}

/// Each round draws other programs; both rows are of the same.
struct rounds_of_survival {
  std::array<std::uint64_t, 2> rounds{};
  std::optional<survival> last{};

  const survival& next(std::size_t row) {
    const std::uint64_t seed = ++rounds[row];
    if (rounds[1 - row] < seed) last = measure_survival(seed);
    return *last;
  }
};

}  // namespace

void add_our_schedule_bodies(table& contest) {
  const auto seen = std::make_shared<both_lengths>();
  const auto random = std::make_shared<drawn>(1);
  contest.contenders.push_back({"longest_body", [seen, random](std::uint64_t) {
                                  measure_length(*random, *seen);
                                  return static_cast<double>(seen->short_ones.longest);
                                }});
  contest.remark = [seen] { return told(*seen); };
}

void add_our_survivals(table& contest) {
  const auto measured = std::make_shared<rounds_of_survival>();
  contest.contenders.push_back({"nearest", [measured](std::uint64_t) {
                                  const auto& count = measured->next(0).all;
                                  return percent(count.nearest, count.edits);
                                }});
  contest.contenders.push_back({"strict", [measured](std::uint64_t) {
                                  const auto& count = measured->next(1).all;
                                  return percent(count.strict, count.edits);
                                }});
  contest.remark = [measured] { return measured->last ? told(*measured->last) : std::string(); };
}

}  // namespace troupe::bench
