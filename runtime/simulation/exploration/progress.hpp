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
  /// \param done A part of all, from which follows what is left. \param of_what Is behind "of all".
  void show(std::uint64_t schedules, double done, const std::string& of_what);
  void show_drawn(std::uint64_t schedules, std::uint64_t drawn, std::uint64_t of_all);
  /// Something else begins: what was done before, or by an exploration before this one, says
  /// nothing of how fast it is. \param done The part of all that was done before.
  void begin_after(std::uint64_t schedules, double done) noexcept {
    begin_ = std::chrono::steady_clock::now();
    schedules_before_ = schedules;
    done_before_ = done;
  }

 private:
  void write(std::uint64_t schedules, const std::string& how_far);
  void write_rest(double times_so_far);

  std::ostream* to_;
  std::uint64_t schedules_before_ = 0;
  double done_before_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

}  // namespace troupe::detail
