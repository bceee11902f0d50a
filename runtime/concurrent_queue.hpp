// concurrent_queue.hpp - the one door to concurrentqueue.
//
// It carries events from threads that run no line of a runtime to its lines. What it promises is
// what troupe promises: first in, first out for each producer, nothing between producers.

#pragma once

#if __has_include(<moodycamel/concurrentqueue.h>)
#include <moodycamel/concurrentqueue.h>
#elif __has_include(<concurrentqueue/moodycamel/concurrentqueue.h>)
#include <concurrentqueue/moodycamel/concurrentqueue.h>
#else
#include <concurrentqueue.h>
#endif

namespace troupe::detail {

struct small_queue_traits : moodycamel::ConcurrentQueueDefaultTraits {
  // A handful of producers and short bursts: small tables, small blocks.
  static constexpr std::size_t BLOCK_SIZE = 32;
  static constexpr std::size_t EXPLICIT_INITIAL_INDEX_SIZE = 8;
  static constexpr std::size_t IMPLICIT_INITIAL_INDEX_SIZE = 8;
  static constexpr std::size_t INITIAL_IMPLICIT_PRODUCER_HASH_SIZE = 8;
};

template <class T>
using concurrent_queue = moodycamel::ConcurrentQueue<T, small_queue_traits>;

}  // namespace troupe::detail
