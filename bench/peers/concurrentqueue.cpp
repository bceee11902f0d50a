// concurrentqueue.cpp - a stream of numbers through a bare moodycamel::ConcurrentQueue with tokens:
// two threads that look for each other without end, no actor, no handler, nobody to wake.

#include <atomic>
#include <thread>

#if __has_include(<moodycamel/concurrentqueue.h>)
#include <moodycamel/concurrentqueue.h>
#elif __has_include(<concurrentqueue/moodycamel/concurrentqueue.h>)
#include <concurrentqueue/moodycamel/concurrentqueue.h>
#else
#include <concurrentqueue.h>
#endif

#include "bench/contenders.hpp"
#include "bench/stream.hpp"

namespace troupe::bench {

namespace {

using queue = moodycamel::ConcurrentQueue<std::uint64_t>;

void look_again_soon() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void send(queue& to, const std::atomic<std::uint64_t>& wanted, std::uint64_t batches) {
  const moodycamel::ProducerToken token(to);
  std::uint64_t sent = 0;
  for (std::uint64_t batch = 0; batch < batches; ++batch) {
    while (wanted.load(std::memory_order_acquire) <= batch) look_again_soon();
    for (std::uint64_t i = 0; i < stream_batch; ++i) {
      to.enqueue(token, sent++);
    }
  }
}

double run_tokens(std::uint64_t messages) {
  const stream_length length(messages);
  queue mail(2 * stream_ahead * stream_batch);
  alignas(128) std::atomic<std::uint64_t> wanted{stream_ahead};
  std::thread sender([&] { send(mail, wanted, length.batches()); });
  moodycamel::ConsumerToken token(mail);
  stopwatch watch;
  bool in_order = true;
  for (std::uint64_t received = 0; received < length.all(); ++received) {
    if (received == length.warm_up) watch.start();
    std::uint64_t number = 0;
    while (!mail.try_dequeue(token, number)) look_again_soon();
    in_order = in_order && number == received;
    if ((received + 1) % stream_batch == 0) wanted.fetch_add(1, std::memory_order_release);
  }
  watch.stop();
  sender.join();
  expect_equal("messages in order", in_order, true);
  return length.share(watch.nanoseconds(), messages);
}

}  // namespace

void add_concurrentqueue_stream(table& contest) {
  contest.contenders.push_back({"concurrentqueue_tokens", run_tokens});
}

}  // namespace troupe::bench
