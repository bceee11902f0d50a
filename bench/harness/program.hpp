// program.hpp - contenders that are programs of their own: they print what they cost.

#pragma once

#include <string>

namespace troupe::bench {

/// How long a sample of another program may take, its start included.
inline constexpr int seconds_for_a_program = 30;

/// The number that `command`, a line for the shell, prints on its first line. When its time is up
/// it is killed with what it started.
/// \throws wrong_result unless it prints a number, in time, and ends well.
double number_printed_by(const std::string& command);

/// `word` as the shell takes it, whatever is in it.
std::string quoted_for_shell(const std::string& word);

/// A folder that lives as long as a sample.
class scratch_folder {
 public:
  scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder();

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace troupe::bench
