// inquiry.hpp - whether a run can be made again, and what is found out about one that failed.

#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "runtime/simulation/one_run.hpp"

namespace troupe::detail {

class inquiry {
 public:
  inquiry(const simulation_options& options, const simulation::program& body,
          const interrupt_watch& watch) noexcept
      : options_(options), body_(body), watch_(watch) {}

  /// Makes the same run again, at most so many times: what the world orders must be all there
  /// is. On any thread. \return how it took another course, if it did.
  std::optional<failure> repeat(const one_run& run, int times);

  /// The failure with all that is to be told of it.
  failure told(failure found);

 private:
  std::optional<failure> repeat(const one_run& run);
  failure another_course(failure found);
  bool fails_again(failure& found);

  const simulation_options& options_;
  const simulation::program& body_;
  const interrupt_watch& watch_;
  std::atomic<std::uint64_t> stirs_{0};
};

}  // namespace troupe::detail
