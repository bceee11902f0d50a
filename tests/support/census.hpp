// census.hpp - counts what is alive, so that a test can tell that everything ended once.

#pragma once

#include <utility>

namespace troupe::test {

/// How many guests were made, and how many are still there.
struct census {
  int entered = 0;
  int left = 0;
  bool balanced() const noexcept { return entered == left; }
};

/// One local of a coroutine. Leaving twice, or never, unbalances the census.
class guest {
 public:
  explicit guest(census& in) noexcept : in_(&in) { ++in_->entered; }
  guest(guest&& other) noexcept : in_(std::exchange(other.in_, nullptr)) {}
  guest& operator=(guest&&) = delete;
  ~guest() {
    if (in_) ++in_->left;
  }

 private:
  census* in_;
};

}  // namespace troupe::test
