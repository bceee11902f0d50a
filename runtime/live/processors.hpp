// processors.hpp - where the threads of a pool begin.
//
// The system starts a thread where it sees little to do, and two that start at once often on one
// processor. Where they look around for each other, each in its turn, it may leave them there for
// a second, and what two hot threads do in 200 ns takes them 20 us.

#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace troupe::detail {

class processors {
 public:
  /// For at most so many threads.
  explicit processors(std::size_t threads) { taken_.reserve(threads); }

  /// The calling thread goes to one that none has taken before, if there is one on which it may
  /// run; from then on it may run wherever it might. Nothing happens where the system does not say.
  void take_one() noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::size_t> taken_;
};

}  // namespace troupe::detail
