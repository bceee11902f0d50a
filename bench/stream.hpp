// stream.hpp - what a stream of messages is, for everybody who has one.
//
// The sender gives batches away and never has more than two under way; whenever the receiver has
// taken one, it asks for the next. So nobody's queue grows without end, nobody's caches are
// flattered by a queue that is never used again, and a question is asked once in 512 messages.

#pragma once

#include <cstdint>

namespace troupe::bench {

inline constexpr std::uint64_t stream_batch = 512;
inline constexpr std::uint64_t stream_ahead = 2;    // Batches.
inline constexpr std::uint64_t stream_warm_up = 8;  // Batches before the stopwatch starts.

struct stream_length {
  explicit constexpr stream_length(std::uint64_t messages)
      : timed((messages + stream_batch - 1) / stream_batch * stream_batch),
        warm_up(stream_warm_up * stream_batch) {}

  std::uint64_t timed;    // As many as were asked for, in whole batches.
  std::uint64_t warm_up;  // Messages before them.

  constexpr std::uint64_t all() const { return warm_up + timed; }
  constexpr std::uint64_t batches() const { return all() / stream_batch; }
  /// The share of `nanoseconds` that `messages` of the timed ones take.
  double share(double nanoseconds, std::uint64_t messages) const {
    return nanoseconds * static_cast<double>(messages) / static_cast<double>(timed);
  }
};

}  // namespace troupe::bench
