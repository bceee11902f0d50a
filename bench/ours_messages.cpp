// ours_messages.cpp - heap allocations per message between actors on different threads.
//
// Two parties, each on a line of its own, send one message to and fro. Every message goes through
// the receiving line's mailbox, because its sender runs on the other one.

#include <array>
#include <atomic>
#include <troupe/troupe.hpp>

#include "bench/contenders.hpp"
#include "bench/harness/allocations.hpp"

namespace troupe::bench {

namespace {

constexpr std::uint64_t warm_up = 10'000;
constexpr std::uint64_t counted_messages = 20'000;

class rally;

struct message final : event {
  message(rally& r, std::size_t i, const party& receiver) noexcept
      : event(&message::receive, receiver), game(r), side(i) {}

  static void receive(event& self, turn how) noexcept;

  rally& game;
  std::size_t side;
};

class rally {
 public:
  rally(runtime& rt, const allocation_count& heap)
      : heap_(heap),
        parties_{rt.state()->enroll("rally", 0, rt.state()->line(0)),
                 rt.state()->enroll("rally", 1, rt.state()->line(1))},
        messages_{message(*this, 0, parties_[0]), message(*this, 1, parties_[1])},
        state_(rt.state()) {}
  ~rally() {
    state_->retire(parties_[0]);
    state_->retire(parties_[1]);
  }
  rally(const rally&) = delete;
  rally& operator=(const rally&) = delete;

  /// Returns when the last message has arrived.
  std::uint64_t play() {
    send_to(0);
    over_.wait(false);
    return allocations_;
  }

  void received(std::size_t side) noexcept {
    ++received_;
    if (received_ == warm_up) {
      allocations_ = heap_.so_far().allocations;
    }
    if (received_ == warm_up + counted_messages) {
      allocations_ = heap_.so_far().allocations - allocations_;
      over_.store(true);
      over_.notify_one();
      return;
    }
    send_to(1 - side);
  }

 private:
  void send_to(std::size_t side) noexcept { parties_[side].on->post(messages_[side]); }

  const allocation_count& heap_;
  std::array<party, 2> parties_;
  std::array<message, 2> messages_;
  std::shared_ptr<runtime_state> state_;
  // Touched by the receiver of the one message there is: the mailboxes order the accesses.
  std::uint64_t received_ = 0;
  std::uint64_t allocations_ = 0;
  std::atomic<bool> over_{false};
};

void message::receive(event& self, turn how) noexcept {
  if (how == turn::take) {
    const auto& received = static_cast<message&>(self);
    received.game.received(received.side);
  }
}

double allocations_per_message() {
  runtime rt{pool_size{2}};
  const allocation_count heap;
  rally game(rt, heap);
  return static_cast<double>(game.play()) / static_cast<double>(counted_messages);
}

}  // namespace

void add_our_message_allocations(table& contest) {
  contest.contenders.push_back(
      {"message", [](std::uint64_t) { return allocations_per_message(); }});
}

}  // namespace troupe::bench
