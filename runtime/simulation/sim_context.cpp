// sim_context.cpp - virtual time as a service of a simulated world's execution context.

#include <algorithm>
#include <utility>

#include "runtime/simulation/sim_engine.hpp"

namespace troupe::detail {

namespace {

/// A timer of the world. Its waits end through their handlers' executors, as Asio's do.
class world_timer final : public timer_source {
 public:
  world_timer(sim_engine& engine, asio::any_io_executor executor)
      : engine_(engine), executor_(std::move(executor)), self_(std::make_shared<waits>()) {
    self_->engine = &engine;
    footprint::made(this);
  }
  ~world_timer() override { cancel(); }

  void expires_after(std::chrono::nanoseconds delay) override {
    cancel();
    const auto now = std::chrono::nanoseconds(static_cast<std::int64_t>(engine_.now()));
    footprint::touches(this, touch::change);
    const auto forever = std::chrono::nanoseconds::max() - now;
    deadline_ = now + std::clamp(delay, std::chrono::nanoseconds(0), forever);
  }

  void async_wait(timer_handler handler) override {
    footprint::touches(this, touch::change);
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto wait = std::make_shared<one_wait>(executor_, std::move(handler));
    wait->ticket = engine_.add_timer(deadline_, [wait] { wait->complete({}); });
    std::erase_if(self_->pending, [](const auto& w) { return w.expired(); });
    self_->pending.push_back(wait);
    if (slot.is_connected()) {
      slot.assign([weak = std::weak_ptr(wait), owner = self_](asio::cancellation_type) {
        if (auto w = weak.lock()) owner->abort(*w);
      });
    }
  }

  std::size_t cancel() override {
    footprint::touches(this, touch::change);
    std::size_t cancelled = 0;
    for (const auto& weak : std::exchange(self_->pending, {})) {
      if (auto w = weak.lock()) cancelled += self_->abort(*w) ? 1u : 0u;
    }
    return cancelled;
  }

 private:
  struct one_wait {
    one_wait(asio::any_io_executor e, timer_handler h)
        : fallback(std::move(e)), handler(std::move(h)) {}

    void complete(std::error_code ec) {
      if (!handler) return;
      auto slot = asio::get_associated_cancellation_slot(handler);
      if (slot.is_connected()) slot.clear();
      asio::post(fallback, asio::append(std::exchange(handler, nullptr), ec));
    }

    asio::any_io_executor fallback;
    timer_handler handler;
    std::uint64_t ticket = 0;
  };

  struct waits {
    bool abort(one_wait& w) {
      if (!w.handler) return false;
      // The timer list holds a reference to the wait: complete first, then let it go.
      w.complete(asio::error::operation_aborted);  // As Asio's own timers do.
      engine->remove_timer(w.ticket);
      return true;
    }
    sim_engine* engine = nullptr;
    std::vector<std::weak_ptr<one_wait>> pending;
  };

  sim_engine& engine_;
  asio::any_io_executor executor_;
  std::shared_ptr<waits> self_;
  std::chrono::nanoseconds deadline_{0};
};

class world_clock final : public virtual_clock {
 public:
  explicit world_clock(sim_engine& engine) : engine_(engine) {}

  std::unique_ptr<timer_source> make_timer() override {
    return std::make_unique<world_timer>(engine_, engine_.executor());
  }

 private:
  sim_engine& engine_;
};

}  // namespace

sim_context::sim_context(sim_engine& engine, scheduler& line) : engine_(engine) {
  owner_.on = &line;
  asio::use_service<virtual_time>(*this).clock = std::make_unique<world_clock>(engine);
}

sim_context::~sim_context() {
  shutdown();  // Afterwards there is no other thread.
  for (event* each : from_outside_) each->step(event::turn::drop);
  destroy();
}

void sim_context::submit(event& function) noexcept {
  if (std::this_thread::get_id() == home_) return engine_.post_hop(function);
  const std::lock_guard lock(mutex_);
  from_outside_.push_back(&function);
}

}  // namespace troupe::detail
