// ours_streams.cpp - messages from one actor to another, on two threads and on one.

#include <atomic>
#include <troupe/troupe.hpp>

#include "bench/contenders.hpp"
#include "bench/stream.hpp"

namespace troupe::bench {

namespace {

struct number {
  std::uint64_t is;
};
struct next_batch {};

class receiver;

class sender final : public actor<sender, next_batch> {
 public:
  sender(runtime& rt, std::uint32_t line, receiver* to)
      : actor(rt.state(), "sender", 0, line), to_(to) {}

  void on(next_batch);

 private:
  receiver* to_;
  std::uint64_t sent_ = 0;
};

class receiver final : public actor<receiver, number> {
 public:
  receiver(runtime& rt, std::uint32_t line, stream_length length)
      : actor(rt.state(), "receiver", 0, line), length_(length) {}

  void ask(sender& from) {
    from_ = &from;
    for (std::uint64_t i = 0; i < stream_ahead; ++i) from.tell(next_batch());
  }

  void on(number received) {
    in_order_ = in_order_ && received.is == received_;
    if (++received_ % stream_batch == 0) batch_is_over();
  }

  /// Waits for the last message. From outside the runtime.
  double nanoseconds() const {
    over_.wait(false);
    expect_equal("messages in order", in_order_, true);
    return watch_.nanoseconds();
  }

 private:
  void batch_is_over() {
    if (received_ == length_.warm_up) watch_.start();
    if (received_ + stream_ahead * stream_batch <= length_.all()) from_->tell(next_batch());
    if (received_ == length_.all()) {
      watch_.stop();
      over_.store(true);
      over_.notify_one();
    }
  }

  stream_length length_;
  sender* from_ = nullptr;
  stopwatch watch_;
  std::uint64_t received_ = 0;
  bool in_order_ = true;
  std::atomic<bool> over_{false};  // Publishes the members above to the waiting thread.
};

void sender::on(next_batch) {
  for (std::uint64_t i = 0; i < stream_batch; ++i) to_->tell(number{sent_++});
}

double run_stream(std::size_t threads, std::uint64_t messages) {
  const stream_length length(messages);
  runtime rt{pool_size{threads}};
  // Both write to themselves at each message, and not to a line of cache that they share.
  alignas(128) receiver receives(rt, 0, length);
  alignas(128) sender sends(rt, static_cast<std::uint32_t>(threads - 1), &receives);
  expect_equal("distance of the actors' lines",
               sends.who().on->index() - receives.who().on->index(), threads - 1);
  receives.ask(sends);
  const double spent = receives.nanoseconds();
  block_on(rt, sends.stop());
  block_on(rt, receives.stop());
  return length.share(spent, messages);
}

}  // namespace

void add_our_stream(table& contest, std::size_t threads) {
  contest.contenders.push_back(
      {"troupe", [threads](std::uint64_t messages) { return run_stream(threads, messages); }});
}

}  // namespace troupe::bench
