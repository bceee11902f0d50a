// update.hpp - functions that run on the components of variables, where those live.
//
//     void descend(float& weight, float gradient) { weight -= 0.1f * gradient; }
//
//     co_await strategy.extended().update(weight, descend, gradient);      // one variable
//
//     updates all;                                                         // many, in one go
//     all.add(weight, descend, gradient);
//     all.add(bias, descend, slope);
//     co_await strategy.extended().update(std::move(all));
//
// The function, a plain one, is called once for each replica, as
// `fn(update_context, component, args...)` or `fn(component, args...)`, on the line that owns
// the component. Of its arguments, per_replica gives each component its own, mirrored its value,
// a variable its component; everything else goes to all as it is.
//
// Guarantees
//   one      an update sends one message to each owner, whatever the number of variables;
//   ordered  updates of one variable reach all its components in one order;
//   whole    when the await ends, every call has ended, also when one has thrown: the
//            exception of the lowest replica is thrown then, and what the others wrote stays.

#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/strategy/context.hpp"
#include "troupe/strategy/run_operation.hpp"
#include "troupe/strategy/structure.hpp"
#include "troupe/strategy/variables/sweep_operation.hpp"
#include "troupe/strategy/variables/variable_handle.hpp"

namespace troupe {

namespace detail {

/// Says so where what an update calls would have to be awaited.
template <class Result>
constexpr void require_plain_update() {
  static_assert(!is_task<std::remove_cvref_t<Result>>,
                "troupe: an update function is a plain function: it runs where the component is, "
                "and cannot wait");
}

/// Calls `body(update_context)` for each of the first `count` replicas, or for those of a list, in
/// update context, on the replica's line.
template <class Body>
class update_operation final : public sweep_operation<update_operation<Body>> {
  using base = sweep_operation<update_operation>;
  using result = std::invoke_result_t<Body&, update_context>;

 public:
  using value_type = typename run_value<result>::type;

  update_operation(std::shared_ptr<strategy_state> owner, std::string what, std::size_t count,
                   Body body)
      : base(std::move(owner)), what_(std::move(what)), count_(count), body_(std::move(body)) {
    require_plain_update<result>();
    results_.open(count);
  }
  update_operation(std::shared_ptr<strategy_state> owner, std::string what,
                   std::vector<std::size_t> replicas, Body body)
      : update_operation(std::move(owner), std::move(what), replicas.size(), std::move(body)) {
    listed_ = std::move(replicas);
  }

  value_type await_resume() {
    this->rethrow();
    return results_.regroup();
  }

  void work(std::size_t replica) {
    const std::size_t place = place_of(replica);
    if (place >= count_) return;
    strategy_state& owner = this->owner();
    const mode here{&owner, true, static_cast<int>(replica)};
    activity::call_in(&here, [&] {
      if constexpr (std::is_void_v<result>) {
        body_(update_context(owner, replica));
      } else {
        results_.put(place, body_(update_context(owner, replica)));
      }
    });
  }
  std::string call() const { return "update of " + what_; }

 private:
  /// Which result is the replica's; none if it is not less than count_.
  std::size_t place_of(std::size_t replica) const noexcept {
    if (listed_.empty()) return replica;
    const auto found = std::find(listed_.begin(), listed_.end(), replica);
    return static_cast<std::size_t>(found - listed_.begin());
  }

  std::string what_;
  std::size_t count_;
  std::vector<std::size_t> listed_;  // Empty: the first ones.
  Body body_;
  result_row<result> results_;
};

/// What the update of replica i's component gets of an argument.
template <class A>
decltype(auto) update_argument(std::size_t i, const A& argument) {
  static_assert(!is_sync_on_read_variable<A>,
                "troupe: a variable that is synchronised on read has another value on each "
                "replica: read() it first, or give its components()");
  if constexpr (is_variable<A>) {
    return std::as_const(argument.state()->component(i));
  } else {
    return structure<A>::select(i, argument);
  }
}

/// The only copy of a variable has no use for a value of each replica.
/// \throws errc::aggregation_required
template <class... Args>
void require_one_value(const variable_base& target) {
  if constexpr ((is_per_replica<Args> || ...)) target.require_own_component();
}

/// \throws errc::structure_mismatch, errc::strategy_mixed unless the arguments have something for
///         each replica of `owner`.
template <class... Args>
void require_arguments(const strategy_state& owner, const Args&... args) {
  [[maybe_unused]] const auto require = [&](const auto& each) {
    if constexpr (variable_handle<std::remove_cvref_t<decltype(each)>>) {
      each.state()->require_owner(owner, "update()");
    } else {
      require_components(each, owner.replicas());
    }
  };
  (require(args), ...);
}

/// fn(update_context, target..., args...) or without the context. The lines share one function,
/// so that it may not change itself.
template <class F, class Target, class... Args>
decltype(auto) call_update(const F& fn, update_context ctx, Target& target, const Args&... args) {
  constexpr bool with_context =
      std::is_invocable_v<const F&, update_context, Target&, const Args&...>;
  static_assert(with_context || std::is_invocable_v<const F&, Target&, const Args&...>,
                "troupe: update() cannot call this function: it is called as "
                "fn(update_context, component, args...) or fn(component, args...), and what is in "
                "per_replica, mirrored or a variable is given one component at a time");
  if constexpr (with_context) {
    require_plain_update<decltype(fn(ctx, target, args...))>();
    return fn(ctx, target, args...);
  } else {
    require_plain_update<decltype(fn(target, args...))>();
    return fn(target, args...);
  }
}

/// The update of one variable as a function of the context.
template <class T, class F, class... Args>
auto update_body(std::shared_ptr<variable_state<T>> state, F fn, Args... args) {
  return [state = std::move(state), fn = std::move(fn),
          args = std::tuple<Args...>(std::move(args)...)](update_context ctx) {
    const auto i = static_cast<std::size_t>(ctx.replica_id());
    return std::apply(
        [&](const auto&... each) {
          return call_update(fn, ctx, state->component(i), update_argument(i, each)...);
        },
        args);
  };
}

}  // namespace detail

/// Updates of several variables, to be made in one go.
class updates {
 public:
  /// As strategy_extended::update(); what `fn` returns is dropped.
  template <class Variable, class F, class... Args>
  void add(const Variable& variable, F fn, Args... args) {
    static_assert(variable_handle<Variable>, "troupe: what is updated is a variable");
    if constexpr (is_variable<Variable>) detail::require_one_value<Args...>(*variable.state());
    detail::require_arguments(variable.state()->owner(), args...);
    auto body = detail::update_body(variable.state(), std::move(fn), std::move(args)...);
    parts_.push_back(std::make_unique<part_of<decltype(body)>>(variable.state(), std::move(body)));
  }

  std::size_t size() const noexcept { return parts_.size(); }

 private:
  friend class strategy_extended;

  /// Every part, also when one throws: then the first of those exceptions is thrown.
  void call(update_context ctx) const {
    std::exception_ptr first;
    for (const auto& each : parts_) {
      try {
        each->call(ctx);
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    }
    if (first) std::rethrow_exception(first);
  }

  struct part {
    explicit part(std::shared_ptr<detail::variable_base> v) : variable(std::move(v)) {}
    part(const part&) = delete;
    part& operator=(const part&) = delete;
    virtual ~part() = default;
    virtual void call(update_context ctx) = 0;

    std::shared_ptr<detail::variable_base> variable;
  };
  template <class Body>
  struct part_of final : part {
    part_of(std::shared_ptr<detail::variable_base> v, Body b)
        : part(std::move(v)), body(std::move(b)) {}
    void call(update_context ctx) override {
      if (variable->has(static_cast<std::size_t>(ctx.replica_id()))) body(ctx);
    }
    Body body;
  };

  std::vector<std::unique_ptr<part>> parts_;
};

}  // namespace troupe
