// main.cpp - the command line of troupe_bench; bench/run --help explains it.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/harness/measure.hpp"
#include "bench/harness/report.hpp"
#include "bench/tables.hpp"

namespace {

using namespace troupe::bench;

// Fewer rounds have no median worth the name.
constexpr std::size_t rounds_worth_quoting = 9;

enum exit_code { every_goal_met = 0, goal_missed = 1, bad_usage = 2, result_wrong = 3 };

class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct command_line {
  std::string json;
  std::vector<std::string> only;
  std::vector<std::string> contenders;
  measure_options measuring;
  bool list = false;
  bool help = false;
};

std::size_t parse_rounds(std::string_view text) {
  std::size_t rounds = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), rounds);
  if (failure != std::errc() || end != text.data() + text.size() || rounds == 0) {
    throw usage_error("--rounds wants a number from 1 on, not '" + std::string(text) + "'");
  }
  return rounds;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (comma != 0) {
      parts.emplace_back(text.substr(0, comma));
    }
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

command_line parse(const std::vector<std::string_view>& arguments) {
  command_line parsed;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    const std::string_view option = *argument;
    if (option == "--list") {
      parsed.list = true;
    } else if (option == "--help") {
      parsed.help = true;
    } else if (option == "--json" || option == "--only" || option == "--contenders" ||
               option == "--rounds") {
      if (++argument == arguments.end()) {
        throw usage_error(std::string(option) + " wants a value");
      }
      if (option == "--json") {
        parsed.json = *argument;
      } else if (option == "--only") {
        parsed.only = split_at_commas(*argument);
      } else if (option == "--contenders") {
        parsed.contenders = split_at_commas(*argument);
      } else {
        parsed.measuring.rounds = parse_rounds(*argument);
      }
    } else {
      throw usage_error("there is no option '" + std::string(option) + "'");
    }
  }
  return parsed;
}

bool begins_with_one_of(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes,
                             [text](const std::string& p) { return text.starts_with(p); });
}

// Keeps the goals whose id starts with one of `prefixes`, and the tables they stand in.
void select_goals(std::vector<table>& tables, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes) {
    const auto knows_it = [&prefix](const table& contest) {
      return std::ranges::any_of(contest.goals,
                                 [&](const goal& aim) { return aim.id.starts_with(prefix); });
    };
    if (std::ranges::none_of(tables, knows_it)) {
      throw usage_error("no goal begins with '" + prefix + "'; --list shows them");
    }
  }
  for (table& contest : tables) {
    std::erase_if(contest.goals,
                  [&](const goal& aim) { return !begins_with_one_of(aim.id, prefixes); });
  }
  std::erase_if(tables, [](const table& contest) { return contest.goals.empty(); });
}

// Keeps the contenders whose name starts with one of `prefixes`. What is left is for a profiler:
// a goal compares, so none is judged.
void select_contenders(std::vector<table>& tables, const std::vector<std::string>& prefixes) {
  for (table& contest : tables) {
    std::erase_if(contest.contenders,
                  [&](const contender& who) { return !begins_with_one_of(who.name, prefixes); });
    contest.goals.clear();
    contest.absent.clear();
  }
  std::erase_if(tables, [](const table& contest) { return contest.contenders.empty(); });
  if (tables.empty()) {
    throw usage_error("no contender of these tables begins so");
  }
}

void list(const std::vector<table>& tables) {
  for (const table& contest : tables) {
    for (const goal& aim : contest.goals) {
      std::printf("%-13s %s\n", aim.id.c_str(), aim.claim.c_str());
    }
  }
}

exit_code summarise(const std::vector<outcome>& runs) {
  std::size_t goals = 0;
  std::size_t missed = 0;
  std::size_t skipped = 0;
  std::size_t wrong = 0;
  for (const outcome& run : runs) {
    for (const row& shown : run.measured.rows) {
      wrong += shown.wrong.empty() ? 0U : 1U;
    }
    for (const judgement& weighed : run.judgements) {
      ++goals;
      missed += weighed.is == verdict::miss ? 1U : 0U;
      skipped += weighed.is == verdict::skipped ? 1U : 0U;
    }
  }
  std::printf("\n%zu goals, %zu missed, %zu skipped, %zu contenders with a wrong result\n", goals,
              missed, skipped, wrong);
  if (wrong != 0) {
    return result_wrong;
  }
  return missed != 0 ? goal_missed : every_goal_met;
}

exit_code run(const command_line& wanted) {
  std::vector<table> tables = all_tables();
  if (!wanted.only.empty()) {
    select_goals(tables, wanted.only);
  }
  if (wanted.list) {
    list(tables);
    return every_goal_met;
  }
  if (!wanted.contenders.empty()) {
    select_contenders(tables, wanted.contenders);
  }
  std::ofstream json;
  if (!wanted.json.empty()) {
    json.open(wanted.json);  // Before the minutes of measuring, not after them.
    if (!json) {
      throw usage_error("cannot write to '" + wanted.json + "'");
    }
  }
  std::printf("%s, %zu rounds\n", machine_line().c_str(), wanted.measuring.rounds);
  if (wanted.measuring.rounds < rounds_worth_quoting) {
    std::printf("note: fewer than %zu rounds show that it runs, not how fast\n",
                rounds_worth_quoting);
  }
  std::vector<outcome> runs;
  for (table& contest : tables) {
    measurement measured = measure(contest, wanted.measuring);
    std::vector<judgement> judgements = judge(contest, measured);
    runs.push_back({std::move(contest), std::move(measured), std::move(judgements)});
    print(runs.back());
  }
  if (json.is_open()) {
    write_json(json, runs);
  }
  return summarise(runs);
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    const command_line wanted = parse({arguments + 1, arguments + argument_count});
    if (wanted.help) {
      std::puts("troupe_bench [--only ID,...] [--contenders NAME,...] [--rounds N] [--json FILE] "
                "[--list] [--help]");
      return every_goal_met;
    }
    return run(wanted);
  } catch (const usage_error& misuse) {
    std::fprintf(stderr, "troupe_bench: %s\n", misuse.what());
    return bad_usage;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "troupe_bench: %s\n", failure.what());
    return result_wrong;
  }
}
