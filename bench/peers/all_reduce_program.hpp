// all_reduce_program.hpp - what the programs of the peers have in common: their command line, their
// rounds, and that they end.

#pragma once

#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/all_reduce_rounds.hpp"
#include "bench/harness/program.hpp"

namespace troupe::bench {

struct all_reduce_plan {
  std::uint64_t bytes = 0;
  std::uint64_t rounds = 0;
};

/// \throws wrong_result unless there are two numbers from 1 on.
inline all_reduce_plan plan_of(int argument_count, char** arguments) {
  all_reduce_plan plan;
  std::uint64_t* const numbers[] = {&plan.bytes, &plan.rounds};
  for (int i = 0; i < 2; ++i) {
    const std::string_view text = i + 1 < argument_count ? arguments[i + 1] : "";
    const auto [end, failure] =
        std::from_chars(text.data(), text.data() + text.size(), *numbers[i]);
    if (failure != std::errc() || end != text.data() + text.size() || *numbers[i] == 0) {
      throw wrong_result("usage: BYTES ROUNDS …");
    }
  }
  return plan;
}

/// Every process of a program calls it: should its peer or its starter vanish, it ends as well.
inline void end_in_time() { alarm(seconds_for_a_program + 10); }

/// Calls all_reduce(data, size) for each round; returns the nanoseconds of those that count.
template <class AllReduce>
double run_rounds(const all_reduce_plan& plan, std::size_t participant, AllReduce&& all_reduce) {
  std::vector<float> values(plan.bytes / sizeof(float));
  stopwatch watch;
  for (std::uint64_t round = 0; round < warm_up_rounds + plan.rounds; ++round) {
    if (round == warm_up_rounds) watch.start();
    before_round(values, participant, round);
    all_reduce(values.data(), values.size());
    after_round(values, round);
  }
  watch.stop();
  after_all_rounds(values);
  return watch.nanoseconds();
}

}  // namespace troupe::bench
