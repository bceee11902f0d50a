#include "bench/harness/program.hpp"

#include <stdlib.h>
#include <sys/wait.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

namespace {

// Of coreutils' timeout: 124 when the time was up, 137 when asking was not enough.
bool ran_out_of_time(int status) {
  return WIFEXITED(status) && (WEXITSTATUS(status) == 124 || WEXITSTATUS(status) == 137);
}

}  // namespace

std::string quoted_for_shell(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

double number_printed_by(const std::string& command) {
  const std::string limit = std::to_string(seconds_for_a_program);
  const std::string bounded = "exec timeout --kill-after=5 " + limit + ' ' + command;
  std::FILE* const output = popen(bounded.c_str(), "r");
  if (output == nullptr) throw wrong_result("cannot run " + command);
  char line[64] = {};
  const bool printed = std::fgets(line, sizeof line, output) != nullptr;
  const int status = pclose(output);
  if (ran_out_of_time(status)) {
    throw wrong_result(command + " had not ended after " + limit + " s and was killed");
  }
  double number = 0;
  const std::string text(line);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!printed || status != 0 || failure != std::errc() || end == text.data()) {
    throw wrong_result(command + " has failed");
  }
  return number;
}

scratch_folder::scratch_folder()
    : path_((std::filesystem::temp_directory_path() / "troupe-bench-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), path_);
  }
}

scratch_folder::~scratch_folder() {
  std::error_code left_behind;
  std::filesystem::remove_all(path_, left_behind);
}

}  // namespace troupe::bench
