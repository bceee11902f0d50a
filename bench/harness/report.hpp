// report.hpp - what a reader, and what a program, is told about a measurement.

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

enum class verdict {
  ok,
  miss,
  skipped,  // Ours or the reference is not there: a peer that is not installed.
  wrong,    // Ours or the reference computed something else than it should.
};

struct judgement {
  std::string id;
  double ours = 0;
  std::string reference = "none";
  double reference_value = 0;
  double ratio = 0;  // Ours / reference; ours itself where there is no reference.
  double bound = 0;
  double allowance = 0;
  bool at_least = false;  // The bound is a lower one.
  verdict is = verdict::ok;
};

/// A table that was run, with what became of its goals.
struct outcome {
  table contest;
  measurement measured;
  std::vector<judgement> judgements;
};

/// Weighs every goal of `contest`.
std::vector<judgement> judge(const table& contest, const measurement& measured);

/// One line: `goal <id> ours=<v> reference=<name>:<v> ratio=<r> bound=<b> ok|MISS|skipped|WRONG`.
std::string goal_line(const judgement& weighed);

/// The contenders, best first, and then one goal line per goal.
void print(const outcome& run);

/// Compiler, flags and machine, as the first line of a report.
std::string machine_line();

/// Everything, samples included, as one JSON document.
void write_json(std::ostream& out, const std::vector<outcome>& runs);

}  // namespace troupe::bench
