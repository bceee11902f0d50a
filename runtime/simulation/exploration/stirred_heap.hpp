// stirred_heap.hpp - while it lives, new memory lies elsewhere, and in another order than before.
//
// A run that is repeated would mostly get its memory at the same addresses again, in the same
// order, and nothing would show that it is ordered by them. Under AddressSanitizer nothing does.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace troupe::detail {

class stirred_heap {
 public:
  explicit stirred_heap(std::uint64_t seed);

 private:
  std::vector<std::unique_ptr<char[]>> between_;  // Keeps what was freed from growing together.
};

}  // namespace troupe::detail
