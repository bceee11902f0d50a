// Messages and graphs between the lines of a pool: nothing is lost, whoever sleeps or leaves.

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <troupe/runtime/step_graph.hpp>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::test {
namespace {

struct numbered {
  std::size_t sender;
  std::size_t number;
};
struct go_on {};

class collector final : public actor<collector, numbered> {
 public:
  collector(runtime& rt, std::size_t line, std::size_t senders)
      : actor(rt.state(), "collector", 0, line), next_(senders) {}

  void on(numbered m) {
    in_order_ = in_order_ && m.number == next_[m.sender];
    ++next_[m.sender];
    taken.fetch_add(1, std::memory_order_release);
  }
  bool in_order() const { return in_order_; }

  std::atomic<std::size_t> taken{0};

 private:
  std::vector<std::size_t> next_;
  bool in_order_ = true;
};

/// Sends in bursts of all sizes, with a message to itself between them: the other line falls asleep
/// now and then, and has more in front of it than its queue has room for.
class talker final : public actor<talker, go_on> {
 public:
  talker(runtime& rt, std::size_t line, std::size_t id, collector& to, std::size_t all)
      : actor(rt.state(), "talker", 0, line), id_(id), all_(all), to_(to) {}

  void on(go_on) {
    for (std::size_t n = sent_ % 701 + 1; n > 0 && sent_ < all_; --n) {
      to_.tell(numbered{id_, sent_++});
    }
    if (sent_ < all_) tell(go_on());
  }

 private:
  std::size_t id_;
  std::size_t all_;
  std::size_t sent_ = 0;
  collector& to_;
};

TEST_CASE("messages from lines and from strangers arrive once, each sender's in order") {
  constexpr std::size_t each = 20'000;
  runtime rt{pool_size{3}};
  collector to(rt, 0, 4);
  std::vector<std::unique_ptr<talker>> talkers;
  for (std::size_t i = 0; i < 3; ++i) {
    talkers.push_back(std::make_unique<talker>(rt, i, i, to, each));
    talkers.back()->tell(go_on());
  }
  for (std::size_t i = 0; i < each; ++i) to.tell(numbered{3, i});
  while (to.taken.load(std::memory_order_acquire) < 4 * each) std::this_thread::yield();
  for (const auto& each_one : talkers) block_on(rt, each_one->stop());
  block_on(rt, to.stop());
  CHECK(to.in_order());
  CHECK(to.taken == 4 * each);
}

struct ping {
  std::atomic<int>* seen;
};
class listener final : public actor<listener, ping> {
 public:
  listener(runtime& rt, std::size_t line) : actor(rt.state(), "listener", 0, line) {}
  void on(ping m) { m.seen->fetch_add(1, std::memory_order_release); }
};
/// Tells the other line something when that is about to fall asleep, and holds its own
/// thread until it was heard.
class caller final : public actor<caller, go_on> {
 public:
  caller(runtime& rt, std::size_t line, listener& to)
      : actor(rt.state(), "caller", 0, line), to_(to) {}

  void on(go_on) {
    using clock = std::chrono::steady_clock;
    for (int i = 1; i <= 3'000; ++i) {
      const auto until = clock::now() + std::chrono::nanoseconds(14'000 + i % 400 * 10);
      while (clock::now() < until) {
      }
      to_.tell(ping{&seen_});
      while (seen_.load(std::memory_order_acquire) != i) std::this_thread::yield();
    }
  }

 private:
  listener& to_;
  std::atomic<int> seen_{0};
};

TEST_CASE("a step that blocks until its message was taken goes on, whoever falls asleep") {
  runtime rt{pool_size{2}};
  listener to(rt, 0);
  caller from(rt, 1, to);
  from.tell(go_on());
  block_on(rt, from.stop());
  block_on(rt, to.stop());
}

struct parcel {
  explicit parcel(std::shared_ptr<int> counted) : life(std::move(counted)) {}
  std::shared_ptr<int> life;
};
class hole final : public actor<hole, parcel> {
 public:
  explicit hole(runtime& rt) : actor(rt, "hole") {}
  void on(parcel) {}
};

TEST_CASE("mail that is under way when its actor goes is dropped once") {
  const auto life = std::make_shared<int>(0);
  {
    runtime rt{pool_size{2}};
    for (int i = 0; i < 2'000; ++i) {
      hole reader(rt);
      reader.tell(parcel(life));
      block_on(rt, reader.stop());
      for (int late = i % 4; late > 0; --late) reader.tell(parcel(life));
    }
  }
  CHECK(life.use_count() == 1);
}

TEST_CASE("mail that is under way when its runtime ends is dropped once") {
  const auto life = std::make_shared<int>(0);
  for (int i = 0; i < 200; ++i) {
    auto rt = std::make_unique<runtime>(pool_size{2});
    hole one(*rt), other(*rt);
    for (int n = 0; n < 50; ++n) {
      one.tell(parcel(life));
      other.tell(parcel(life));
    }
    rt.reset();
    one.tell(parcel(life));
  }
  CHECK(life.use_count() == 1);
}

/// Passes each parcel on to the other one, and to itself what comes while it waits for ever.
class juggler final : public actor<juggler, parcel, go_on> {
 public:
  juggler(runtime& rt, std::size_t line) : actor(rt.state(), "juggler", 0, line) {}
  void throws_to(juggler* other) { other_ = other; }
  void on(parcel p) {
    other_->tell(parcel(p.life));
    ++thrown_;
  }
  task<> on(go_on) {
    answer<int> never;
    kept_ = std::make_unique<reply<int>>(never.to());
    co_await never;
  }

 private:
  juggler* other_ = nullptr;
  std::unique_ptr<reply<int>> kept_;
  int thrown_ = 0;
};

TEST_CASE("mail that all send while its runtime ends is dropped once") {
  const auto life = std::make_shared<int>(0);
  for (int i = 0; i < 200; ++i) {
    auto rt = std::make_unique<runtime>(pool_size{2});
    juggler one(*rt, 0), other(*rt, 1);
    one.throws_to(&other);
    other.throws_to(&one);
    std::atomic<bool> over{false};
    std::thread stranger([&] {
      for (int n = 0; !over.load(); ++n) {
        one.tell(parcel(life));
        if (i % 2 == 1 && n == 20) other.tell(go_on());
      }
    });
    for (int n = 0; n < 5; ++n) other.tell(parcel(life));
    rt.reset();
    over = true;
    stranger.join();
  }
  CHECK(life.use_count() == 1);
}

/// How many of `times` graphs had taken each step once when they ended.
task<int> graphs_that_were_whole(int times) {
  int whole = 0;
  for (int i = 0; i < times; ++i) {
    std::vector<int> runs(static_cast<std::size_t>(1 + i % 9));
    step_graph graph;
    for (int& r : runs) graph.add([&r] { ++r; });
    co_await run(graph);
    bool all_once = true;
    for (const int r : runs) all_once = all_once && r == 1;
    whole += all_once ? 1 : 0;
  }
  co_return whole;
}

task<int> many_graphs(replica_context, int times) {
  const int whole = co_await graphs_that_were_whole(times);
  co_return whole;
}

TEST_CASE("graphs without an order, on two lines at once, are whole when they end") {
  constexpr int times = 3'000;
  runtime rt{pool_size{3}};
  mirrored_strategy strategy{rt, 2};
  const per_replica<int> whole = block_on(rt, strategy.run(many_graphs, times));
  CHECK(whole[0] == times);
  CHECK(whole[1] == times);
}

}  // namespace
}  // namespace troupe::test
