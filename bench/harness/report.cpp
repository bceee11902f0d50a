#include "bench/harness/report.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <sstream>
#include <thread>

namespace troupe::bench {

namespace {

std::string number(double value) {
  std::ostringstream text;
  text.precision(4);
  text << value;
  return text.str();
}

const char* word(verdict is) {
  switch (is) {
    case verdict::ok: return "ok";
    case verdict::miss: return "MISS";
    case verdict::skipped: return "skipped";
    case verdict::wrong: return "WRONG";
  }
  return "?";
}

bool is_usable(const row* found) { return found != nullptr && !found->samples.empty(); }

bool is_wrong(const row* found) { return found != nullptr && !found->wrong.empty(); }

const char* word(judged_by judge) {
  switch (judge) {
    case judged_by::median: return "median";
    case judged_by::maximum: return "maximum";
    case judged_by::minimum: return "minimum";
  }
  return "?";
}

bool is_absent(const table& contest, const std::string& name) {
  return std::ranges::find(contest.absent, name, &absentee::name) != contest.absent.end();
}

judgement judge_one(const goal& aim, const table& contest, const measurement& measured) {
  const judged_by by = contest.judge;
  judgement weighed{.id = aim.id, .bound = aim.bound, .allowance = aim.allowance};
  weighed.at_least = by == judged_by::minimum;
  const row* ours = measured.find(aim.ours);
  const row* reference = aim.reference.empty() ? nullptr : measured.find(aim.reference);
  if (!aim.reference.empty()) {
    weighed.reference = aim.reference;
  }
  if (is_usable(ours)) {
    weighed.ours = ours->verdict(by);
  }
  if (is_usable(reference)) {
    weighed.reference_value = reference->verdict(by);
  }
  if (is_absent(contest, aim.ours)) {
    weighed.is = verdict::skipped;
  } else if (!is_usable(ours) || is_wrong(ours) || is_wrong(reference)) {
    weighed.is = verdict::wrong;
  } else if (!aim.reference.empty() && !is_usable(reference)) {
    weighed.is = verdict::skipped;
  } else {
    weighed.ratio = aim.reference.empty() ? weighed.ours : weighed.ours / weighed.reference_value;
    const double limit =
        aim.reference.empty() ? aim.bound : aim.bound * weighed.reference_value + aim.allowance;
    const bool met = weighed.at_least ? weighed.ours >= limit : weighed.ours <= limit;
    weighed.is = met ? verdict::ok : verdict::miss;
  }
  return weighed;
}

void print_row(const row& shown, const table& contest, const row* reference) {
  std::printf("  %-34s %10s %10s %10s", shown.name.c_str(),
              number(shown.verdict(contest.judge)).c_str(), number(shown.quantile(0.1)).c_str(),
              number(shown.quantile(0.9)).c_str());
  if (reference != nullptr) {
    const double limit = reference->verdict(contest.judge);
    std::printf(" %9s%s", number(shown.verdict(contest.judge) / limit).c_str(),
                reference == &shown ? " <" : "");
  }
  std::printf("\n");
}

// The first reference a goal of the table names: every row is shown as a multiple of it.
const row* first_reference(const outcome& run) {
  for (const goal& aim : run.contest.goals) {
    const row* found = aim.reference.empty() ? nullptr : run.measured.find(aim.reference);
    if (is_usable(found)) {
      return found;
    }
  }
  return nullptr;
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out << '\\' << c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out << escaped;
    } else {
      out << c;
    }
  }
  out << '"';
  return out.str();
}

// Writes [a, b, …] with `one` writing each element.
template <class Range, class WriteOne>
void write_list(std::ostream& out, const Range& range, WriteOne one) {
  out << '[';
  const char* separator = "";
  for (const auto& element : range) {
    out << separator;
    one(element);
    separator = ", ";
  }
  out << ']';
}

void write_row(std::ostream& out, const row& shown, judged_by by) {
  out << "\n      {\"name\": " << quoted(shown.name) << ", \"operations\": " << shown.operations;
  if (!shown.samples.empty()) {
    out << ", \"value\": " << shown.verdict(by) << ", \"p10\": " << shown.quantile(0.1)
        << ", \"p90\": " << shown.quantile(0.9);
  }
  if (!shown.wrong.empty()) {
    out << ", \"wrong\": " << quoted(shown.wrong);
  }
  out << ", \"samples\": ";
  write_list(out, shown.samples, [&out](double sample) { out << sample; });
  out << '}';
}

void write_judgement(std::ostream& out, const judgement& weighed) {
  out << "\n      {\"id\": " << quoted(weighed.id) << ", \"ours\": " << weighed.ours
      << ", \"reference\": " << quoted(weighed.reference)
      << ", \"reference_value\": " << weighed.reference_value << ", \"ratio\": " << weighed.ratio
      << ", \"bound\": " << weighed.bound << ", \"allowance\": " << weighed.allowance
      << ", \"at_least\": " << (weighed.at_least ? "true" : "false")
      << ", \"verdict\": " << quoted(word(weighed.is)) << '}';
}

void write_outcome(std::ostream& out, const outcome& run) {
  const table& contest = run.contest;
  out << "\n    {\"title\": " << quoted(contest.title) << ", \"unit\": " << quoted(contest.unit)
      << ",\n     \"judged_by\": " << quoted(word(contest.judge))
      << ", \"rounds\": " << run.measured.rounds
      << ", \"busy_rounds\": " << run.measured.busy_rounds << ",\n     \"contenders\": ";
  write_list(out, run.measured.rows,
             [&](const row& shown) { write_row(out, shown, contest.judge); });
  out << ",\n     \"absent\": ";
  write_list(out, contest.absent, [&out](const absentee& peer) {
    out << "{\"name\": " << quoted(peer.name) << ", \"reason\": " << quoted(peer.reason) << '}';
  });
  out << ",\n     \"goals\": ";
  write_list(out, run.judgements,
             [&out](const judgement& weighed) { write_judgement(out, weighed); });
  out << '}';
}

}  // namespace

std::vector<judgement> judge(const table& contest, const measurement& measured) {
  std::vector<judgement> judgements;
  for (const goal& aim : contest.goals) {
    judgements.push_back(judge_one(aim, contest, measured));
  }
  return judgements;
}

std::string goal_line(const judgement& weighed) {
  return "goal " + weighed.id + " ours=" + number(weighed.ours) +
         " reference=" + weighed.reference + ':' + number(weighed.reference_value) +
         " ratio=" + number(weighed.ratio) + " bound=" + (weighed.at_least ? ">=" : "") +
         number(weighed.bound) + (weighed.allowance == 0 ? "" : "+" + number(weighed.allowance)) +
         ' ' + word(weighed.is);
}

void print(const outcome& run) {
  const table& contest = run.contest;
  const row* reference = first_reference(run);
  std::printf("\n%s (%s)\n", contest.title.c_str(), contest.unit.c_str());
  std::printf("  %-34s %10s %10s %10s%s\n", "contender",
              contest.judge == judged_by::median ? "median" : "worst", "p10", "p90",
              reference != nullptr ? " x limit <" : "");

  std::vector<const row*> ranking;
  for (const row& shown : run.measured.rows) {
    if (is_usable(&shown)) {
      ranking.push_back(&shown);
    }
  }
  const double direction = contest.judge == judged_by::minimum ? -1 : 1;
  std::ranges::sort(ranking, {},
                    [&](const row* shown) { return direction * shown->verdict(contest.judge); });
  for (const row* shown : ranking) {
    print_row(*shown, contest, reference);
  }
  for (const row& shown : run.measured.rows) {
    if (is_wrong(&shown)) {
      std::printf("  WRONG %s: %s\n", shown.name.c_str(), shown.wrong.c_str());
    }
  }
  for (const absentee& peer : contest.absent) {
    std::printf("  skipped %s: %s\n", peer.name.c_str(), peer.reason.c_str());
  }
  const std::string remark = contest.remark ? contest.remark() : "";
  if (!remark.empty()) {
    std::printf("  note: %s\n", remark.c_str());
  }
  if (run.measured.busy_rounds != 0) {
    std::printf("  note: %zu of %zu rounds began while the machine was busy with other work\n",
                run.measured.busy_rounds, run.measured.rounds);
  }
  for (const judgement& weighed : run.judgements) {
    std::printf("%s\n", goal_line(weighed).c_str());
  }
  std::fflush(stdout);
}

std::string machine_line() {
  return std::string(TROUPE_BENCH_COMPILER) + ", " + TROUPE_BENCH_FLAGS + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " hardware threads";
}

void write_json(std::ostream& out, const std::vector<outcome>& runs) {
  out.precision(17);
  out << "{\n  \"machine\": " << quoted(machine_line()) << ",\n  \"tables\": ";
  write_list(out, runs, [&out](const outcome& run) { write_outcome(out, run); });
  out << "\n}\n";
}

}  // namespace troupe::bench
