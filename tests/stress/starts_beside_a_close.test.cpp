// What is made or started while a pool ends, whose last step takes its time: it is ended, and told.

#include <asio/detached.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <troupe/troupe.hpp>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using namespace std::chrono_literals;

task<> wait_on_the_thread(const std::atomic<bool>* until) {
  until->wait(false);
  co_return;
}

/// A pool of two that ends on another thread, and cannot yet: its first line is in a step.
struct ending_pool {
  ending_pool() {
    launch(*rt, wait_on_the_thread(&may_end), asio::detached);
    closer = std::thread([this] { rt.reset(); });
    while (!state->closed()) std::this_thread::yield();
  }
  ~ending_pool() { end(); }

  void end() {
    may_end = true;
    may_end.notify_all();
    if (closer.joinable()) closer.join();
  }

  std::atomic<bool> may_end{false};
  std::optional<runtime> rt{pool_size{2}};
  std::shared_ptr<runtime_state> state = rt->state();
  std::thread closer;
};

struct nap {};

class sleeper final : public actor<sleeper, nap> {
 public:
  sleeper(const std::shared_ptr<runtime_state>& on, std::atomic<int>* asleep)
      : actor(on, "sleeper", 0, 1), asleep_(asleep) {}

  task<> on(nap) {
    struct guard {
      explicit guard(std::atomic<int>* count) : count_(count) { ++*count_; }
      ~guard() { --*count_; }
      std::atomic<int>* count_;
    } const here(asleep_);
    asleep_->notify_all();
    co_await sleep_for(1h);
  }

 private:
  std::atomic<int>* asleep_;
};

TEST_CASE_METHOD(ending_pool, "an actor made while its pool ends is ended with it") {
  std::atomic<int> asleep{0};
  sleeper made(state, &asleep);
  made.tell(nap{});
  // Its line takes the message, or has been closed already.
  for (int i = 0; i < 1000 && asleep == 0; ++i) std::this_thread::sleep_for(100us);
  end();
  CHECK(asleep == 0);
}

task<> nothing() { co_return; }

TEST_CASE_METHOD(ending_pool, "who has no executor is told, too, what is begun while a pool ends") {
  std::promise<std::exception_ptr> told;
  auto end_of_it = told.get_future();
  launch(state, nothing(), [&](std::exception_ptr failure) { told.set_value(failure); });
  end();
  REQUIRE(end_of_it.wait_for(10s) == std::future_status::ready);
  CHECK(is(end_of_it.get(), errc::runtime_gone));
}

}  // namespace
}  // namespace troupe::test
