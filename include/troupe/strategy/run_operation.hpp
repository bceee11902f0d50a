// run_operation.hpp - strategy.run(), step 1 of the walk: from one call to N replicas
// and back to one value.
//
// The operation lives in the frame of its caller, and with it the function, the
// arguments and the results: a run allocates the replicas' coroutine frames, which are
// recycled, and nothing else.

#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/runtime/scheduler.hpp"
#include "troupe/strategy/context.hpp"
#include "troupe/strategy/strategy_state.hpp"
#include "troupe/strategy/structure.hpp"

namespace troupe {

namespace detail {

/// Room for the results, filled by the replicas in any order, on any line.
template <class T>
class result_row {
  static_assert(alignof(T) <= recycling_cache::class_bytes,
                "troupe: what a replica function returns to run() is aligned to 64 bytes at most: "
                "return what is aligned to more by a std::unique_ptr");

 public:
  void open(std::size_t n) { slots_.resize(n); }
  template <class U>
  void put(std::size_t i, U&& value) {
    slots_[i].emplace(std::forward<U>(value));
  }
  regrouped_t<T> regroup() {
    per_replica<T> all;
    all.reserve(slots_.size());
    for (auto& slot : slots_) all.append(*std::move(slot));
    return structure<T>::regroup(std::move(all));
  }

 private:
  recycled_vector<std::optional<T>> slots_;
};

template <>
class result_row<void> {
 public:
  void open(std::size_t) noexcept {}
  void regroup() noexcept {}
};

template <class T>
struct run_value {
  using type = regrouped_t<T>;
};
template <>
struct run_value<void> {
  using type = void;
};

}  // namespace detail

template <class F, class... Args>
class run_operation final : public wait_as<run_operation<F, Args...>>, private replica_program {
  template <class A>
  using taken = decltype(structure<A>::take(0, std::declval<A&>()));

  static constexpr bool with_context = std::is_invocable_v<F&, replica_context, taken<Args>...>;
  static constexpr bool without_context = std::is_invocable_v<F&, taken<Args>...>;
  static_assert(with_context || without_context,
                "troupe: run() cannot call this function with these arguments: it is called as "
                "fn(replica_context, args...) or fn(args...), with each per_replica argument "
                "replaced by the replica's own component");

  static auto call(F& fn, replica_context context, taken<Args>... args) {
    if constexpr (with_context) {
      return fn(context, std::forward<taken<Args>>(args)...);
    } else {
      return fn(std::forward<taken<Args>>(args)...);
    }
  }
  using returned = decltype(call(std::declval<F&>(), std::declval<replica_context>(),
                                 structure<Args>::take(0, std::declval<Args&>())...));
  using result = typename detail::task_value<returned>::type;

 public:
  using awaitable_in_task = void;
  using value_type = typename detail::run_value<result>::type;

  run_operation(std::shared_ptr<strategy_state> owner, F fn, std::tuple<Args...> args)
      : owner_(std::move(owner)),
        rules_(owner_->rules()),
        fn_(std::move(fn)),
        args_(std::move(args)) {}
  /// \pre Not awaited yet, or ended.
  run_operation(run_operation&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : owner_(std::move(other.owner_)),
        rules_(other.rules_),
        fn_(std::move(other.fn_)),
        args_(std::move(other.args_)),
        callers_line_(other.callers_line_) {}
  run_operation& operator=(run_operation&&) = delete;
  ~run_operation() {
    // Destroyed under way: the runtime has ended, and the replicas' frames refer to us.
    if (ensemble_) ensemble_->abandon();
  }

  /// This run with its replicas in `order`, whatever the strategy's usual one is.
  run_operation in_order(replica_order order) && {
    rules_.order = order;
    return std::move(*this);
  }

  bool await_ready() const noexcept { return false; }

  template <std::derived_from<detail::chain_link> Promise>
  void await_suspend(std::coroutine_handle<Promise> caller) {
    if (callers_line_ || !owner_) [[unlikely]]
      detail::throw_awaited_before("a run()", caller.promise().at);
    activity& self = *activity::current();
    owner_->require_can_enter("run()");
    scheduler& line = *static_cast<routine&>(self).owner().on;
    owner_->require_home_of(line, "run()");
    detail::require_components(args_, owner_->replicas());
    callers_line_ = &line;
    results_.open(owner_->replicas());
    ensemble_ = &owner_->acquire(*callers_line_);
    owner_->begin(*ensemble_, self, *this, rules_);
    self.park(caller, *this);
    if (self.stop_requested()) cancel_wait();
  }

  value_type await_resume() {
    ensemble& used = *std::exchange(ensemble_, nullptr);
    const std::exception_ptr failure = used.outcome();
    owner_->release(used, *callers_line_);
    if (failure) std::rethrow_exception(failure);
    return results_.regroup();
  }

  void cancel_wait() noexcept { ensemble_->cancel(owner_); }
  std::string describe_wait() const {
    return "run() on " + std::to_string(owner_->replicas()) + " replicas";
  }

 private:
  std::coroutine_handle<> enter(replica_actor& self) override {
    const replica_context context(self);
    const std::size_t i = self.replica();
    const auto invoke = [&](auto&... args) -> returned {
      return call(fn_, context, structure<Args>::take(i, args)...);
    };
    if constexpr (detail::is_task<returned>) {
      returned body = std::apply(invoke, args_);
      return body.begin_detached(self);
    } else if constexpr (std::is_void_v<result>) {
      std::apply(invoke, args_);
      return nullptr;
    } else {
      results_.put(i, std::apply(invoke, args_));
      return nullptr;
    }
  }

  void collect(replica_actor& self, std::coroutine_handle<> finished) override {
    if constexpr (detail::is_task<returned>) {
      auto& promise = returned::promise_of(finished);
      if constexpr (std::is_void_v<result>) {
        promise.take();
      } else {
        results_.put(self.replica(), promise.take());
      }
    }
  }

  std::shared_ptr<strategy_state> owner_;
  run_rules rules_;
  F fn_;
  std::tuple<Args...> args_;
  scheduler* callers_line_ = nullptr;  ///< From the one await on.
  ensemble* ensemble_ = nullptr;
  detail::result_row<result> results_;
};

template <class F, class... Args>
auto cross_replica_context::run(F fn, Args... args) const {
  return run_operation<F, Args...>(owner_->shared_from_this(), std::move(fn),
                                   std::tuple<Args...>(std::move(args)...));
}

}  // namespace troupe
