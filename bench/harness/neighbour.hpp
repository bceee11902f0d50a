// neighbour.hpp - somebody else who keeps one processor busy.
//
//     const busy_neighbour neighbour;   // until the end of the scope
//
// What runs beside it has the other processors, and half of that one. A program whose threads
// wait for each other by looking loses a turn of the system's scheduler, milliseconds, whenever
// the one that is waited for is the one without a processor.

#pragma once

#include <atomic>
#include <thread>

namespace troupe::bench {

class busy_neighbour {
 public:
  /// Returns when it is busy. \throws std::system_error if it cannot have a processor to itself.
  busy_neighbour();
  busy_neighbour(const busy_neighbour&) = delete;
  busy_neighbour& operator=(const busy_neighbour&) = delete;
  ~busy_neighbour();

 private:
  void be_busy() noexcept;

  std::atomic<bool> busy_{false};
  std::atomic<bool> leaving_{false};
  std::thread thread_;
};

}  // namespace troupe::bench
