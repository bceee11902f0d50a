// trace.hpp - what happened, as typed events in a ring that never grows.
//
//     runtime rt{executor};
//     rt.trace(4096);                    // keep the latest 4,096 events
//     ...
//     write_trace(std::cerr, rt.traced());
//
// Guarantees
//   off      costs one predictable branch for each visible step;
//   on       never allocates, never locks: each line writes a ring of its own;
//   ordered  events of one line are in the order of happening; lines are merged by
//            time, which is virtual in simulation.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/place.hpp"

namespace troupe {

enum class trace_kind : std::uint8_t {
  run_start,    ///< A run begins; detail: replicas.
  run_end,      ///< A run is over; detail: 1 if it failed.
  start,        ///< A replica enters its function.
  arrive,       ///< A replica waits at a merge; detail: the merge's number in its run.
  merge_begin,  ///< Everybody has arrived: the merge function is entered.
  merge_end,    ///< It has returned, or thrown if detail is 1.
  resume,       ///< A replica goes on.
  finish,       ///< A replica has returned.
  fail,         ///< A replica has thrown.
  verdict,      ///< A run broke; detail: the number of the code.
  deliver,      ///< An actor takes a message.
  crash,        ///< In simulation: a replica ends here instead of taking its step; …
  stall,        ///< … its step comes later; …
  delay,        ///< … a message to an actor does; …
  cancel,       ///< … a replica's run is cancelled, and its step taken.
};

std::string_view to_string(trace_kind) noexcept;

struct trace_event {
  std::uint64_t time = 0;  ///< Nanoseconds of the runtime's clock.
  std::uint64_t detail = 0;
  place at;
  std::uint32_t who = 0;  ///< party::id
  trace_kind kind = trace_kind::run_start;
};

/// One line's ring.
class tracer {
 public:
  using clock_function = std::uint64_t (*)(const void* source) noexcept;

  tracer(std::size_t capacity, clock_function clock, const void* source);

  void record(trace_kind kind, std::uint32_t who, place at, std::uint64_t detail) noexcept {
    events_[written_++ % events_.size()] = {clock_(source_), detail, at, who, kind};
  }

  /// The events still in the ring, oldest first, and how many were overwritten.
  std::vector<trace_event> events() const;
  std::uint64_t recorded() const noexcept { return written_; }
  std::uint64_t lost() const noexcept {
    return written_ > events_.size() ? written_ - events_.size() : 0;
  }

 private:
  std::vector<trace_event> events_;
  std::uint64_t written_ = 0;
  clock_function clock_;
  const void* source_;
};

/// A recording with the names of everybody in it.
struct recording {
  std::vector<trace_event> events;
  std::vector<std::string> names;        ///< Index = party::id.
  std::uint64_t lost = 0;                ///< So many came before them.
  std::size_t marked = ~std::size_t{0};  ///< Index of an event that is pointed at.
};

/// One line an event, one column a party: interleavings are seen, not read.
void write_trace(std::ostream&, const recording&);

}  // namespace troupe
