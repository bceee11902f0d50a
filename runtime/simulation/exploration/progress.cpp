// progress.cpp - see progress.hpp.

#include "runtime/simulation/exploration/progress.hpp"

#include <unistd.h>

#include <cstddef>
#include <iostream>

#include "runtime/core/wording.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe {

std::ostream* simulation_options::terminal() {
  return isatty(STDERR_FILENO) != 0 ? &std::cerr : nullptr;
}

namespace detail {

namespace {

constexpr const char* wiped = "\r\x1b[K";  // To the line's begin, and nothing behind it.

}  // namespace

progress_line::progress_line(std::ostream* to) : to_(to) {
  if (!to_) return;
  begin_ = std::chrono::steady_clock::now();
  next_ = begin_ + std::chrono::seconds(1);
}

progress_line::~progress_line() {
  if (shown_) *to_ << wiped << std::flush;
}

bool progress_line::due() { return to_ && std::chrono::steady_clock::now() >= next_; }

void progress_line::show(std::uint64_t schedules, double done, const std::string& of_what) {
  const auto percent = static_cast<std::uint64_t>(100 * done);
  write(schedules, "about " + std::to_string(percent) + " % of all" + of_what);
  // Before, nobody knows how much there is: what is met first says little about the rest.
  if (done < done_before_ + 0.01) return;
  write_rest((1 - done) / (done - done_before_));
}

void progress_line::show_drawn(std::uint64_t schedules, std::uint64_t drawn, std::uint64_t of_all) {
  write(schedules, with_commas(drawn) + " of " + with_commas(of_all) + " drawn");
  write_rest(static_cast<double>(of_all - drawn) /
             static_cast<double>(schedules - schedules_before_));
}

void progress_line::write_rest(double times_so_far) {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  const auto left = static_cast<std::uint64_t>(since.count() * times_so_far);
  *to_ << ", about " << with_commas(left) << " s to go" << std::flush;
}

void progress_line::write(std::uint64_t schedules, const std::string& how_far) {
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> since = now - begin_;
  const auto made = static_cast<double>(schedules - schedules_before_);
  *to_ << wiped << "simulation: " << with_commas(schedules) << " schedules, "
       << with_commas(static_cast<std::uint64_t>(made / since.count())) << "/s, " << how_far
       << std::flush;
  next_ = now + std::chrono::milliseconds(500);
  shown_ = true;
}

}  // namespace detail

}  // namespace troupe
