// trace.cpp - the ring, and the picture with one column a party.

#include "troupe/runtime/trace.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

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
    case trace_kind::suspend: return "wait";
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

void write_trace(std::ostream& out, const recording& recorded) {
  constexpr int width = 16;
  std::vector<std::uint32_t> columns;
  for (const auto& e : recorded.events) {
    if (std::find(columns.begin(), columns.end(), e.who) == columns.end()) columns.push_back(e.who);
  }
  std::sort(columns.begin(), columns.end());
  const auto name = [&](std::uint32_t who) {
    return who < recorded.names.size() ? recorded.names[who] : "?";
  };
  if (recorded.lost != 0) out << "(" << recorded.lost << " earlier events were overwritten)\n";
  out << std::left << std::setw(6) << "step";
  for (const auto c : columns) out << std::setw(width) << name(c);
  out << "line\n";
  std::size_t step = 0;
  for (const auto& e : recorded.events) {
    const bool marked = step == recorded.marked;
    ++step;
    out << std::setw(6) << std::to_string(step) + (marked ? " *" : "");
    for (const auto c : columns) {
      std::string cell;
      if (c == e.who) {
        cell = to_string(e.kind);
        if (e.kind == trace_kind::arrive || e.kind == trace_kind::merge_begin) {
          cell += " #" + std::to_string(e.detail);
        }
      }
      out << std::setw(width) << (cell.empty() ? "." : cell);
    }
    out << (e.at.line() == 0 ? std::string() : to_string(e.at)) << "\n";
  }
}

}  // namespace troupe
