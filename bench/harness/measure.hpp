// measure.hpp - tables of contenders, and how the contenders of one table are measured.
//
//     table t{.title = "a merge_call round, 64 replicas", .unit = "ns per round"};
//     t.contenders.push_back({"hand_barrier", [](std::uint64_t rounds) { … return elapsed; }});
//     measurement m = measure(t, {.rounds = 11});
//
// What makes two contenders comparable
//   interleaved  every round runs each contender once, in a new shuffled order, in this process;
//                a neighbour or a slow drift of the clock hits all of them alike;
//   calibrated   a sample of a time lasts about 30 ms, however small the operation;
//   checked      a contender verifies its own result and throws wrong_result otherwise;
//   told apart   rounds that began while the machine worked for somebody else are counted.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

/// A contender did not compute what it was asked to.
class wrong_result : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// \throws wrong_result unless `got` is `wanted`.
void expect_equal(std::string_view what, std::uint64_t got, std::uint64_t wanted);

/// Nanoseconds between start() and stop(). Participant 0 of a contender holds it, so that the
/// time to set a run up and to tear it down stays outside, for every contender in the same way.
class stopwatch {
 public:
  void start() noexcept { started_ = clock::now(); }
  void stop() noexcept { stopped_ = clock::now(); }
  double nanoseconds() const noexcept {
    return std::chrono::duration<double, std::nano>(stopped_ - started_).count();
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point started_;
  clock::time_point stopped_;
};

/// The same in CPU time of the calling thread: what others do on the machine does not count.
class cpu_stopwatch {
 public:
  void start() noexcept { started_ = now(); }
  void stop() noexcept { stopped_ = now(); }
  double nanoseconds() const noexcept { return stopped_ - started_; }

 private:
  static double now() noexcept;
  double started_ = 0;
  double stopped_ = 0;
};

/// Rounds every barrier contender runs before its stopwatch starts.
inline constexpr std::uint64_t warm_up_rounds = 4;

/// Returns what `operations` operations cost together: nanoseconds, or a count in the unit of its
/// table.
struct contender {
  std::string name;  // One word: it appears in goal lines.
  std::function<double(std::uint64_t operations)> run;
  /// Of a sample, at most, where a cost is not what it lasts; 0: as many as cost about 30 ms.
  std::uint64_t operations = 0;
};

/// A peer this build has to do without.
struct absentee {
  std::string name;
  std::string reason;
};

/// "ours ≤ bound × reference + allowance", or "ours ≤ bound" where nothing is named as reference;
/// "ours ≥ bound" in a table that is judged by the minimum.
struct goal {
  std::string id;
  std::string claim;
  std::string ours;
  std::string reference;
  double bound = 0;
  double allowance = 0;  ///< In the unit of the table.
};

enum class judged_by {
  median,   // A time: calibrated, repeated, the median counts.
  maximum,  // A count: one operation per sample, the worst sample counts.
  minimum,  // A count of which more is better: the same, and no goal has a reference.
};

struct table {
  std::string title;
  std::string unit;
  judged_by judge = judged_by::median;
  std::vector<contender> contenders{};
  std::vector<absentee> absent{};
  std::vector<goal> goals{};
  double unit_nanoseconds = 1;  // Of a time.
  bool repeats = true;          // False where a second round would only say the same again.
  /// Once measured, what else there is to say; empty for nothing.
  std::function<std::string()> remark{};
};

/// What one contender showed.
struct row {
  std::string name;
  std::uint64_t operations = 1;   // Per sample.
  std::vector<double> samples{};  // Cost of one operation, in the order of the rounds.
  std::string wrong{};            // Why its result is not right; empty when it is.

  /// The share `p` of the samples is at most this value. \pre There is a sample.
  double quantile(double p) const;
  /// The value goals are judged by.
  double verdict(judged_by judge) const;
};

struct measurement {
  std::vector<row> rows;  // In the order of the table's contenders.
  std::size_t rounds = 0;
  std::size_t busy_rounds = 0;

  const row* find(std::string_view name) const;
};

struct measure_options {
  std::size_t rounds = 11;
  std::uint64_t seed = 1;  // Of the order of contenders.
};

measurement measure(const table& contest, const measure_options& options);

}  // namespace troupe::bench
