// schedules.cpp - drawn schedules in this program, and in one that is built with sanitizers.

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

#include "bench/contenders.hpp"
#include "bench/simulation/contenders.hpp"
#include "bench/simulation/random_schedules.hpp"

namespace troupe::bench {

namespace {

/// What the first line of a command's output is. \throws wrong_result unless it is a number.
double number_printed_by(const std::string& command) {
  std::FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) throw wrong_result("cannot run " + command);
  char line[64] = {};
  const bool printed = std::fgets(line, sizeof line, output) != nullptr;
  const int status = pclose(output);
  double number = 0;
  const std::string text(line);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!printed || status != 0 || failure != std::errc() || end == text.data()) {
    throw wrong_result(command + " has failed");
  }
  return number;
}

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

void add_our_random_schedules(table& contest) {
  contest.contenders.push_back({"troupe", run_random_schedules});
  contest.contenders.push_back({"world_alone", run_worlds});
}

void add_our_sanitized_schedules(table& contest) {
  const char* const program = std::getenv("TROUPE_BENCH_SANITIZED");
  if (program == nullptr || *program == '\0') {
    skip(contest, "troupe", "TROUPE_BENCH_SANITIZED names no program; bench/run builds one");
    return;
  }
  contest.contenders.push_back({"troupe", [command = quoted(program)](std::uint64_t schedules) {
                                  return number_printed_by(command + ' ' +
                                                           std::to_string(schedules));
                                }});
}

}  // namespace troupe::bench
