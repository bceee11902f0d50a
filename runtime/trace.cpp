// trace.cpp - the ring, and the picture with one column a party.

#include "troupe/runtime/trace.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace troupe {

std::string_view to_string(trace_kind kind) noexcept {
  switch (kind) {
    case trace_kind::run_start: return "run";
    case trace_kind::run_end: return "end";
    case trace_kind::start: return "start";
    case trace_kind::arrive: return "arrive";
    case trace_kind::merge_begin: return "merge";
    case trace_kind::merge_end: return "merged";
    case trace_kind::resume: return "resume";
    case trace_kind::finish: return "finish";
    case trace_kind::fail: return "FAIL";
    case trace_kind::verdict: return "VERDICT";
    case trace_kind::deliver: return "deliver";
    case trace_kind::crash: return "CRASH";
    case trace_kind::stall: return "STALL";
    case trace_kind::delay: return "DELAY";
    case trace_kind::cancel: return "CANCEL";
  }
  return "?";
}

tracer::tracer(std::size_t capacity, clock_function clock, const void* source)
    : events_(std::max<std::size_t>(capacity, 1)), clock_(clock), source_(source) {}

std::vector<trace_event> tracer::events() const {
  const auto size = static_cast<std::uint64_t>(events_.size());
  const std::uint64_t first = written_ > size ? written_ - size : 0;
  std::vector<trace_event> out;
  for (std::uint64_t i = first; i < written_; ++i) out.push_back(events_[i % size]);
  return out;
}

namespace {

/// What a picture says of an event, in its party's column.
std::string cell_of(const trace_event& e) {
  const bool numbered = e.kind == trace_kind::arrive || e.kind == trace_kind::merge_begin;
  const std::string kind(to_string(e.kind));
  return numbered ? kind + " #" + std::to_string(e.detail) : kind;
}

struct column {
  std::uint32_t who;
  std::string name;
  std::size_t width;
};

/// One for each party that something happened to, as wide as it must be: test frameworks break
/// long lines.
std::vector<column> columns_of(const recording& recorded) {
  std::vector<column> all;
  for (const auto& e : recorded.events) {
    const auto same = [&](const column& c) { return c.who == e.who; };
    auto known = std::find_if(all.begin(), all.end(), same);
    if (known == all.end()) {
      const std::string name = e.who < recorded.names.size() ? recorded.names[e.who] : "?";
      known = all.insert(all.end(), {e.who, name, name.size()});
    }
    known->width = std::max(known->width, cell_of(e).size());
  }
  std::sort(all.begin(), all.end(), [](const column& a, const column& b) { return a.who < b.who; });
  return all;
}

void write_row(std::ostream& out, std::string row, const std::string& last) {
  row += last;
  row.erase(row.find_last_not_of(' ') + 1);
  out << row << "\n";
}

}  // namespace

void write_trace(std::ostream& out, const recording& recorded) {
  const auto padded = [](std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text + "  ";
  };
  const std::vector<column> columns = columns_of(recorded);
  if (recorded.lost == 1) out << "(1 earlier event is not shown)\n";
  if (recorded.lost > 1) out << "(" << recorded.lost << " earlier events are not shown)\n";
  const std::string mark = recorded.marked < recorded.events.size() ? " *" : "";
  const std::string last = std::to_string(recorded.lost + recorded.events.size()) + mark;
  const std::size_t width = std::max<std::size_t>(5, last.size());
  std::string row = padded("event", width);
  for (const auto& c : columns) row += padded(c.name, c.width);
  write_row(out, row, "line");
  for (std::size_t i = 0; i < recorded.events.size(); ++i) {
    const auto& e = recorded.events[i];
    const std::string number = std::to_string(recorded.lost + i + 1);
    row = padded(i == recorded.marked ? number + mark : number, width);
    for (const auto& c : columns) row += padded(c.who == e.who ? cell_of(e) : ".", c.width);
    write_row(out, row, e.at.line() == 0 ? std::string() : to_string(e.at));
  }
}

}  // namespace troupe
