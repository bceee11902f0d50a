// corpus.cpp - the file of schedules that failed, and the exploration that begins with them.

#include "troupe/runtime/corpus.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/core/wording.hpp"
#include "troupe/core/error.hpp"

namespace troupe {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 160;

/// Where the schedules are kept; empty if they are not.
fs::path corpus_of(std::string_view name, const simulation_options& options) {
  const char* const folder = options.heed_environment ? std::getenv("TROUPE_SIM_CORPUS") : nullptr;
  return folder && *folder ? fs::path(folder) / corpus_file(name) : fs::path();
}

bool one_is_given(const simulation_options& options) {
  const char* const given = std::getenv("TROUPE_SIM_SCHEDULE");
  return options.heed_environment && given && *given;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// \return why it could not be kept, if it could not.
std::optional<std::string> keep(const fs::path& file, const std::string& schedule) {
  std::vector<std::string> lines = lines_of(file);
  if (std::find(lines.begin(), lines.end(), schedule) != lines.end()) return std::nullopt;
  lines.push_back(schedule);
  std::error_code problem;
  fs::create_directories(file.parent_path(), problem);
  // Complete under another name first: whoever reads meanwhile reads what there was.
  const fs::path fresh = file.string() + "." + std::to_string(getpid());
  {
    std::ofstream out(fresh);
    for (const auto& line : lines) out << line << '\n';
    out.flush();
    if (!out) return "cannot write " + fresh.string();
  }
  fs::rename(fresh, file, problem);
  if (problem) return "cannot write " + file.string() + ": " + problem.message();
  return std::nullopt;
}

/// The schedules of a file, replayed.
struct recorded {
  std::size_t readable = 0;
  std::size_t damaged = 0;
  std::vector<std::string> failing;
  exploration first_failure;

  std::string note() const {
    std::string text;
    if (readable > 0) text += "; recorded schedules that hold: " + std::to_string(readable);
    if (damaged > 0) text += "; recorded lines that cannot be read: " + std::to_string(damaged);
    return text;
  }
};

recorded replay_all(const fs::path& file, const simulation::program& body,
                    const simulation_options& options) {
  recorded all;
  for (const auto& line : lines_of(file)) {
    exploration report;
    try {
      report = simulation(options).replay_nearest(body, line);
    } catch (const error&) {
      ++all.damaged;
      continue;
    }
    ++all.readable;
    if (report.passed()) continue;
    if (all.failing.empty()) all.first_failure = std::move(report);
    all.failing.push_back(line);
  }
  return all;
}

place claimed_at(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const check_failed& claim) {
    return claim.at();
  } catch (...) {
    return place();
  }
}

named_exploration tell(const exploration& report, std::string_view given) {
  std::optional<std::string_view> arguments;
  if (!given.empty()) arguments = given;
  named_exploration told;
  told.passed = report.passed();
  told.interrupted = report.interrupted;
  told.text = report.text(arguments);
  if (report.failure) {
    told.replay = report.replay_command(arguments);
    told.at = claimed_at(report.failure->exception);
  }
  return told;
}

}  // namespace

std::string corpus_file(std::string_view name) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string file;
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    hash = (hash ^ byte) * 1099511628211u;
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-') {
      file += c;
    } else if (c == ' ') {
      file += '_';
    } else {
      file += {'.', digits[byte / 16], digits[byte % 16]};
    }
  }
  if (file.size() > longest_name) {
    file.resize(longest_name);
    file += "..";
    for (int i = 0; i < 16; ++i, hash /= 16) file += digits[hash % 16];
  }
  return file + ".schedules";
}

named_exploration explore_named(std::string_view name, const simulation::program& body,
                                const simulation_options& options, std::string_view arguments) {
  const fs::path file = one_is_given(options) ? fs::path() : corpus_of(name, options);
  if (file.empty()) return tell(simulation(options).explore(body), arguments);

  const recorded before = replay_all(file, body, options);
  if (!before.failing.empty()) {
    named_exploration told = tell(before.first_failure, arguments);
    std::string list = std::to_string(before.failing.size()) + " of " +
                       detail::count_of(before.readable, "recorded schedule") + " still " +
                       (before.failing.size() == 1 ? "fails (" : "fail (") + file.string() + "):\n";
    for (const auto& each : before.failing) list += "  " + each + "\n";
    told.text = list + told.text;
    return told;
  }
  simulation_options kept = options;
  if (kept.frontier.empty()) kept.frontier = fs::path(file).replace_extension("search").string();
  const exploration report = simulation(kept).explore(body);
  named_exploration told = tell(report, arguments);
  if (report.passed()) told.text += before.note();
  if (report.failure) {
    const auto problem = keep(file, report.failure->schedule);
    told.text += problem ? "not recorded: " + *problem + "\n" : "recorded: " + file.string() + "\n";
  }
  return told;
}

}  // namespace troupe
