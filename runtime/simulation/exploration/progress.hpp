// progress.hpp - one line of a terminal that tells how far an exploration is.

#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace troupe::detail {

class progress_line {
 public:
  /// \param to Null: shows nothing.
  explicit progress_line(std::ostream* to);
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  /// Wipes the line.
  ~progress_line();

  /// Twice a second, from the second second on.
  bool due();
  void show(std::uint64_t schedules, const std::string& how_far);

 private:
  std::ostream* to_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

/// 1234567 as "1,234,567".
std::string with_commas(std::uint64_t number);

}  // namespace troupe::detail
