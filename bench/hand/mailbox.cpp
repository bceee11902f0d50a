// mailbox.cpp - the limit of a message between two actors of one thread: a ring of messages, each
// with whom it is for and what to do there.

#include <array>
#include <cstddef>

#include "bench/contenders.hpp"
#include "bench/stream.hpp"

namespace troupe::bench {

namespace {

class ring_of_messages {
 public:
  using handler = void (*)(void* whom, std::uint64_t message);

  /// \pre Fewer than `capacity` wait.
  void push(handler handle, void* whom, std::uint64_t message) noexcept {
    slots_[tail_++ % capacity] = {handle, whom, message};
  }
  bool handle_one() noexcept {
    if (head_ == tail_) return false;
    const entry next = slots_[head_++ % capacity];
    next.handle(next.whom, next.message);
    return true;
  }

 private:
  struct entry {
    handler handle;
    void* whom;
    std::uint64_t message;
  };
  static constexpr std::size_t capacity = 2 * stream_ahead * stream_batch;

  std::array<entry, capacity> slots_{};
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
};

struct receiver;

struct sender {
  ring_of_messages* queue;
  receiver* to;
  std::uint64_t sent = 0;

  static void on_next_batch(void* self, std::uint64_t) noexcept;
};

struct receiver {
  ring_of_messages* queue;
  sender* from;
  stream_length length;
  stopwatch watch{};
  std::uint64_t received = 0;
  bool in_order = true;

  static void on_message(void* self, std::uint64_t number) noexcept {
    auto& me = *static_cast<receiver*>(self);
    me.in_order = me.in_order && number == me.received;
    if (++me.received % stream_batch == 0) me.batch_is_over();
  }
  void batch_is_over() noexcept {
    if (received == length.warm_up) watch.start();
    if (received == length.all()) watch.stop();
    if (received + stream_ahead * stream_batch <= length.all()) {
      queue->push(&sender::on_next_batch, from, 0);
    }
  }
};

void sender::on_next_batch(void* self, std::uint64_t) noexcept {
  auto& me = *static_cast<sender*>(self);
  for (std::uint64_t i = 0; i < stream_batch; ++i) {
    me.queue->push(&receiver::on_message, me.to, me.sent++);
  }
}

double run_stream(std::uint64_t messages) {
  ring_of_messages queue;
  sender sends{.queue = &queue, .to = nullptr};
  receiver receives{.queue = &queue, .from = &sends, .length = stream_length(messages)};
  sends.to = &receives;
  for (std::uint64_t i = 0; i < stream_ahead; ++i) {
    queue.push(&sender::on_next_batch, &sends, 0);
  }
  while (queue.handle_one()) {
  }
  expect_equal("messages", receives.received, receives.length.all());
  expect_equal("messages in order", receives.in_order, true);
  return receives.length.share(receives.watch.nanoseconds(), messages);
}

}  // namespace

void add_hand_stream(table& contest) { contest.contenders.push_back({"hand_mailbox", run_stream}); }

}  // namespace troupe::bench
