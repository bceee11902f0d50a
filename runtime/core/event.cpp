// event.cpp - a queue of events grows.

#include "troupe/core/event.hpp"

#include <new>
#include <utility>

#include "troupe/core/contract.hpp"

namespace troupe::detail {

void ready_ring::grow() noexcept {
  const std::size_t used = tail_ - head_;
  const std::size_t wanted = capacity_ ? capacity_ * 2 : 256;  // Several batches from elsewhere.
  auto larger = std::unique_ptr<ready_entry[]>(new (std::nothrow) ready_entry[wanted]);
  TROUPE_ASSERT(larger != nullptr);  // A queue of pointers did not fit: nothing else would.
  for (std::size_t i = 0; i < used; ++i) larger[i] = slots_[(head_ + i) & (capacity_ - 1)];
  slots_ = std::move(larger);
  capacity_ = wanted;
  head_ = 0;
  tail_ = used;
}

}  // namespace troupe::detail
