// sanitized.cpp - draws as many schedules as it is told, and prints their CPU nanoseconds;
// some more warm the process up before.
//
// bench/run builds it with AddressSanitizer, in a tree of its own.

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>

#include "bench/simulation/random_schedules.hpp"

int main(int argument_count, char** arguments) {
  const std::string_view text = argument_count == 2 ? arguments[1] : "";
  std::uint64_t schedules = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), schedules);
  if (failure != std::errc() || end != text.data() + text.size() || schedules == 0) {
    std::fprintf(stderr, "usage: troupe_bench_sanitized SCHEDULES\n");
    return 2;
  }
  try {
    // The first ones pay for pages: until its quarantine is full, with 256 MB, AddressSanitizer
    // gives out no memory a second time.
    constexpr std::uint64_t warm_up = 30'000;
    troupe::bench::run_random_schedules(warm_up);
    std::printf("%.0f\n", troupe::bench::run_random_schedules(schedules));
    return 0;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
  }
}
