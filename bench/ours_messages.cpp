// ours_messages.cpp - heap allocations per message between two actors.
//
// The thrower sends a batch of balls; the catcher asks for the next batch when it has caught them
// all. A batch of one is a conversation; a large one is a stream, which moves memory one way: what
// one thread allocates another one frees.

#include <atomic>
#include <troupe/troupe.hpp>

#include "bench/contenders.hpp"
#include "bench/harness/allocations.hpp"

namespace troupe::bench {

namespace {

// More than any cache of freed messages holds, and a multiple of every batch.
constexpr std::uint64_t warm_up = 8'192;
constexpr std::uint64_t counted_messages = 16'384;

struct ball {
  std::uint64_t number;
};
struct next_batch {};

class thrower final : public actor<thrower, next_batch> {
 public:
  thrower(runtime& rt, std::uint32_t line, std::uint64_t batch)
      : actor(rt, "thrower", line), batch_(batch) {}

  template <class Catcher>
  void play_with(Catcher& partner) {
    throw_one_ = [](void* to, ball b) { static_cast<Catcher*>(to)->tell(b); };
    partner_ = &partner;
    tell(next_batch{});
  }

  void on(next_batch) {
    for (std::uint64_t i = 0; i < batch_; ++i) {
      throw_one_(partner_, ball{thrown_++});
    }
  }

 private:
  std::uint64_t batch_;
  std::uint64_t thrown_ = 0;
  void* partner_ = nullptr;
  void (*throw_one_)(void*, ball) = nullptr;
};

class catcher final : public actor<catcher, ball> {
 public:
  catcher(runtime& rt, std::uint32_t line, std::uint64_t batch, thrower& partner,
          const allocation_count& heap)
      : actor(rt, "catcher", line), batch_(batch), partner_(partner), heap_(heap) {}

  void on(ball caught) {
    in_order_ = in_order_ && caught.number == caught_;
    ++caught_;
    if (caught_ == warm_up) {
      before_ = heap_.so_far().allocations;
    }
    if (caught_ == warm_up + counted_messages) {
      allocations_ = heap_.so_far().allocations - before_;
      over_.store(true);
      over_.notify_one();
    } else if (caught_ % batch_ == 0) {
      partner_.tell(next_batch{});
    }
  }

  /// Waits for the last ball. From outside the runtime.
  double allocations_per_message() const {
    over_.wait(false);
    expect_equal("balls in order", in_order_, true);
    return static_cast<double>(allocations_) / static_cast<double>(counted_messages);
  }

 private:
  std::uint64_t batch_;
  thrower& partner_;
  const allocation_count& heap_;
  std::uint64_t caught_ = 0;
  std::uint64_t before_ = 0;
  std::uint64_t allocations_ = 0;
  bool in_order_ = true;
  std::atomic<bool> over_{false};  // Publishes the members above to the waiting thread.
};

struct per_message {
  double allocations = 0;
  double wake_ups = 0;  // Of a parked thread: what a message costs that finds nobody awake.
};

per_message count_messages(std::size_t threads, std::uint64_t batch) {
  runtime rt{pool_size{threads}};
  const allocation_count heap;
  thrower sends(rt, 0, batch);
  catcher receives(rt, static_cast<std::uint32_t>(threads - 1), batch, sends, heap);
  expect_equal("distance of the actors' lines",
               receives.who().on->index() - sends.who().on->index(), threads - 1);
  sends.play_with(receives);
  per_message result;
  result.allocations = receives.allocations_per_message();
  result.wake_ups =
      static_cast<double>(rt.wake_ups()) / static_cast<double>(warm_up + counted_messages);
  block_on(rt, sends.stop());
  block_on(rt, receives.stop());
  return result;
}

}  // namespace

void add_our_message_allocations(table& contest) {
  contest.contenders.push_back(
      {"message", [](std::uint64_t) { return count_messages(2, 1).allocations; }});
  contest.contenders.push_back(
      {"message_one_way", [](std::uint64_t) { return count_messages(2, 64).allocations; }});
  contest.contenders.push_back(
      {"message_on_one_thread", [](std::uint64_t) { return count_messages(1, 64).allocations; }});
  contest.contenders.push_back(
      {"wake_ups_per_message", [](std::uint64_t) { return count_messages(2, 1).wake_ups; }});
}

}  // namespace troupe::bench
