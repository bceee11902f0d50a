// random_schedules.hpp - drawn schedules of a small program, as a test draws them.
//
// The benchmark runs them, and so does a program of its own, built with AddressSanitizer.

#pragma once

#include <cstdint>

namespace troupe::bench {

/// CPU nanoseconds for `schedules` schedules of 3 replicas with 2 merges, drawn by a simulation
/// with its default options: runs are repeated to see whether something else orders them.
/// \throws wrong_result unless every run came to its end with the right sums, and the orders
///         differed.
double run_random_schedules(std::uint64_t schedules);

/// The same of a program that does nothing but choose between two values: what a world costs.
double run_worlds(std::uint64_t schedules);

}  // namespace troupe::bench
