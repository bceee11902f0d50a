// all_reduce_rounds.hpp - what each of two participants of an all-reduce gives in a round, and what
// it must get back: in this process, and in the programs of the peers.
//
//     before_round(values, participant, round);
//     … the sum of both participants' values, in place …
//     after_round(values, round);
//
// Round 0 fills all elements and checks all sums. A sum that is summed again grows without end, so
// in every later round one element is not zero, another one and with another number each time: a
// round that was left out shows, and looking costs no more than a cache line.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

/// 509 is a prime: with sizes that are powers of two every element has its turn.
inline std::size_t place_in_round(std::uint64_t round, std::size_t size) {
  return round * 509 % size;
}

/// A whole number, so that sums are exact. Participant 1 gives twice what participant 0 does.
inline float given_in_round(std::uint64_t round, std::size_t j) {
  return static_cast<float>((round == 0 ? j : round) % 1021 + 1);
}

inline void before_round(std::span<float> values, std::size_t participant, std::uint64_t round) {
  const auto give = [&](std::size_t j) {
    values[j] = given_in_round(round, j) * static_cast<float>(participant + 1);
  };
  if (round != 0) return give(place_in_round(round, values.size()));
  for (std::size_t j = 0; j < values.size(); ++j) give(j);
}

/// Leaves zeros. \throws wrong_result unless the sum is right.
inline void after_round(std::span<float> values, std::uint64_t round) {
  const auto take = [&](std::size_t j) {
    if (values[j] != 3 * given_in_round(round, j)) throw wrong_result("a sum of an all-reduce");
    values[j] = 0;
  };
  if (round != 0) return take(place_in_round(round, values.size()));
  for (std::size_t j = 0; j < values.size(); ++j) take(j);
}

/// \throws wrong_result unless nothing was added where nobody gave anything.
inline void after_all_rounds(std::span<const float> values) {
  for (const float value : values) {
    if (value != 0) throw wrong_result("an element of an all-reduce that nobody gave");
  }
}

}  // namespace troupe::bench
