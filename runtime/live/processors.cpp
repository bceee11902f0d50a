// processors.cpp - see processors.hpp.

#include "runtime/live/processors.hpp"

#include <cstddef>

#if defined(__linux__)
#include <sched.h>
#endif

namespace troupe::detail {

#if defined(__linux__)

void processors::take_one() noexcept {
  const std::lock_guard lock(mutex_);
  cpu_set_t may;  // Of machines with more processors than fit in it, nothing is known.
  if (sched_getaffinity(0, sizeof may, &may) != 0) return;
  cpu_set_t free = may;
  for (const std::size_t each : taken_) CPU_CLR(each, &free);
  const auto here = [] { return static_cast<std::size_t>(sched_getcpu()); };
  std::size_t mine = here();
  if (CPU_COUNT(&free) != 0 && !CPU_ISSET(mine, &free) &&
      sched_setaffinity(0, sizeof free, &free) == 0) {
    mine = here();
    sched_setaffinity(0, sizeof may, &may);  // What somebody has allowed it in between is lost.
  }
  taken_.push_back(mine);
}

#else

void processors::take_one() noexcept {}

#endif

}  // namespace troupe::detail
