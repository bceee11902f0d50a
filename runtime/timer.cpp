// timer.cpp - chooses between Asio's steady timer and a simulated world's clock.

#include "troupe/runtime/timer.hpp"

#include "runtime/asio_private.hpp"

namespace troupe {

asio::execution_context::id virtual_time::id;

namespace {

class real_timer final : public timer_source {
 public:
  explicit real_timer(const asio::any_io_executor& executor) : timer_(executor) {}

  void expires_after(std::chrono::nanoseconds delay) override { timer_.expires_after(delay); }
  void async_wait(timer_handler handler) override { timer_.async_wait(std::move(handler)); }
  std::size_t cancel() override { return timer_.cancel(); }

 private:
  asio::steady_timer timer_;
};

}  // namespace

timer::timer(asio::any_io_executor executor) : executor_(std::move(executor)) {
  auto& context = asio::query(executor_, asio::execution::context);
  if (asio::has_service<virtual_time>(context)) {
    source_ = asio::use_service<virtual_time>(context).clock->make_timer();
  } else {
    source_ = std::make_unique<real_timer>(executor_);
  }
}

}  // namespace troupe
