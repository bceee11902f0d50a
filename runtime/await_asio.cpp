// await_asio.cpp - an executor whose functions run as a branch of the task that waits for them.

#include "troupe/runtime/await_asio.hpp"

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>

#include "troupe/core/activity.hpp"
#include "troupe/core/recycling.hpp"

namespace troupe::detail {

/// A branch of the task, so that what the awaitable does to its contexts is its own, and may be
/// undone when the task is gone. It has no coroutine of troupe's: nobody wakes it.
class guest_activity final : public activity {
 public:
  explicit guest_activity(activity& host) noexcept { branch_from(host); }
  ~guest_activity() = default;

  void wake() noexcept override {}

  /// Calls `f` as this branch or, when the task waits no more, outside of everything.
  template <class F>
  void call(F&& f) {
    if (left_.load(std::memory_order_acquire)) {
      std::forward<F>(f)();
    } else {
      impersonate(std::forward<F>(f));
    }
  }

  /// From now on the host is not looked at: it may be gone. Functions run on the host's line;
  /// this is called there too, or when nothing runs on it.
  void leave() noexcept { left_.store(true, std::memory_order_release); }

 private:
  void root_ended() noexcept override {}

  std::atomic<bool> left_{false};
};

namespace {

/// One pointer in size, so that a polymorphic executor holds it without memory of its own.
class guest_executor {
 public:
  guest_executor(std::shared_ptr<guest_activity> as, asio::any_io_executor line)
      : in_(std::allocate_shared<box>(recycling_allocator<box>(), std::move(as), std::move(line))) {
  }

  template <class F>
  void execute(F&& f) const {
    in_->line.execute([as = in_->as, f = std::decay_t<F>(std::forward<F>(f))]() mutable {
      as->call(std::move(f));
    });
  }

  asio::execution_context& query(asio::execution::context_t) const noexcept {
    return asio::query(in_->line, asio::execution::context);
  }
  static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
    return asio::execution::blocking.never;
  }
  guest_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
  guest_executor require(asio::execution::outstanding_work_t::tracked_t) const {
    return {in_->as, asio::prefer(in_->line, asio::execution::outstanding_work.tracked)};
  }

  friend bool operator==(const guest_executor& a, const guest_executor& b) noexcept {
    return a.in_->as == b.in_->as;
  }

 private:
  struct box {
    box(std::shared_ptr<guest_activity> a, asio::any_io_executor l) noexcept
        : as(std::move(a)), line(std::move(l)) {}
    std::shared_ptr<guest_activity> as;
    asio::any_io_executor line;
  };

  std::shared_ptr<const box> in_;
};

}  // namespace

asio::any_io_executor asio_guest::enter(activity& host) {
  as_ = std::allocate_shared<guest_activity>(recycling_allocator<guest_activity>(), host);
  return guest_executor(as_, completions_of(host));
}

void asio_guest::leave() noexcept {
  if (!as_) return;
  as_->leave();
  as_.reset();
}

}  // namespace troupe::detail
