// extended.hpp - strategy.extended(): what libraries build on strategies with.
//
//     auto total = strategy.extended().reduce_to(reduce_op::sum, gradients, weight);
//     co_await strategy.extended().update(weight, descend, total);
//
// A destination says who gets a result: a variable, or a value that all replicas have, stands
// for all of them, and makes a mirrored<T>; a device's name for one, and makes a plain T.
//
// Everything here is for cross-replica context.
//
// budget: one class, whose members are the calls of the model's

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "troupe/strategy/reductions/communication_hints.hpp"
#include "troupe/strategy/steps.hpp"
#include "troupe/strategy/strategy.hpp"
#include "troupe/strategy/variables/sync_on_read_variable.hpp"
#include "troupe/strategy/variables/update.hpp"
#include "troupe/strategy/variables/variable.hpp"

namespace troupe {

/// Stands for a device: "cpu:0", std::string.
template <class D>
concept device_destination = std::convertible_to<const D&, std::string_view>;

/// Stands for all replicas.
template <class D>
concept replicas_destination = variable_handle<D> || is_per_replica<D> || is_mirrored<D>;

template <class D>
concept destination = device_destination<D> || replicas_destination<D>;

class strategy_extended {
 public:
  explicit strategy_extended(std::shared_ptr<strategy_state> owner) noexcept
      : owner_(std::move(owner)) {}

  // -- reductions --------------------------------------------------------------------------------

  /// strategy::reduce(), for `to`; of a variable to be awaited, too. Hints never change a result.
  /// \throws the same; errc::invalid_device for a device that is not the strategy's.
  template <reduction Op, class Value, class To>
  auto reduce_to(Op op, const Value& value, const To& to, communication_hints = {}) const {
    owner_->require_cross_replica("reduce_to()");
    require_destination(to);
    if constexpr (variable_handle<Value>) {
      return deliver_read<To>(owner_->facade().reduce(op, value));
    } else {
      return deliver<To>(owner_->facade().reduce(op, value));
    }
  }

  /// Several at once, results in the order of the pairs.
  template <reduction Op, class Value, class To>
  auto batch_reduce_to(Op op, const std::vector<std::pair<Value, To>>& pairs,
                       communication_hints = {}) const {
    std::vector<decltype(reduce_to(op, pairs[0].first, pairs[0].second))> results;
    results.reserve(pairs.size());
    for (const auto& [value, to] : pairs) results.push_back(reduce_to(op, value, to));
    return results;
  }
  template <reduction Op, class... Values, class... Tos>
  auto batch_reduce_to(Op op, const std::tuple<std::pair<Values, Tos>...>& pairs,
                       communication_hints = {}) const {
    return std::apply(
        [&](const auto&... each) {
          return std::tuple<decltype(reduce_to(op, each.first, each.second))...>(
              reduce_to(op, each.first, each.second)...);
        },
        pairs);
  }

  /// A nest of per_replica values in one pass on all lines, in place where they are given away.
  /// \return when awaited: the nest, with a mirrored<T> in place of each.
  template <reduction Op, class Nest>
  [[nodiscard("co_await it")]] auto batch_reduce(Op op, Nest values) const {
    static_assert(detail::all_reducible<Op, Nest>,
                  "troupe: batch_reduce() takes a nest of per_replica values");
    owner_->require_cross_replica("batch_reduce()");
    return detail::reduce_nest<detail::receiver::caller>(op, std::move(values));
  }

  /// The same value for everybody `to` stands for.
  template <class T, class To>
  auto broadcast_to(T value, const To& to) const {
    static_assert(!is_per_replica<T>, "troupe: broadcast_to() takes one value, not one for each");
    owner_->require_cross_replica("broadcast_to()");
    require_destination(to);
    return deliver<To>(std::move(value));
  }

  // -- updates; see update.hpp -------------------------------------------------------------------

  /// Calls `fn(component, args...)` on every component of `variable`.
  /// \return when awaited: what the calls returned, as run() does.
  template <class Variable, class F, class... Args>
  [[nodiscard("co_await it: nothing is updated before")]] auto update(const Variable& variable,
                                                                      F fn, Args... args) const {
    static_assert(variable_handle<Variable>, "troupe: what is updated is a variable");
    variable.state()->require_owner(*owner_, "update()");
    if constexpr (is_variable<Variable>) detail::require_one_value<Args...>(*variable.state());
    detail::require_arguments(*owner_, args...);
    return operation("\"" + variable.name() + "\"", variable.state()->copies(),
                     detail::update_body(variable.state(), std::move(fn), std::move(args)...));
  }
  [[nodiscard("co_await it: nothing is updated before")]] auto update(updates all) const {
    for (const auto& each : all.parts_) each->variable->require_owner(*owner_, "update()");
    std::string what = std::to_string(all.size()) + " variables";
    return operation(std::move(what), owner_->replicas(),
                     [all = std::move(all)](update_context ctx) { all.call(ctx); });
  }

  /// Calls `fn(update_context, args...)` on each of the devices, once: for state that is no
  /// variable, and lives where variables do, on non_slot_devices().
  /// \return when awaited: what the calls returned, in the order of the devices.
  /// \throws errc::invalid_device for a device that is not the strategy's, and for none.
  template <class F, class... Args>
  [[nodiscard("co_await it: nothing is updated before")]] auto update_non_slot(
      const std::vector<std::string>& devices, F fn, Args... args) const {
    detail::require_arguments(*owner_, args...);
    auto body = [fn = std::move(fn),
                 args = std::tuple<Args...>(std::move(args)...)](update_context ctx) {
      const auto i = static_cast<std::size_t>(ctx.replica_id());
      return std::apply(
          [&](const auto&... each) { return fn(ctx, detail::update_argument(i, each)...); }, args);
    };
    return detail::update_operation<decltype(body)>(owner_, "state beside variables",
                                                    owner_->replicas_on(devices), std::move(body));
  }

  /// Where the state of an optimizer lives that belongs to no single variable.
  const std::vector<std::string>& non_slot_devices() const noexcept {
    return owner_->parameter_devices();
  }
  template <class Variables>
  const std::vector<std::string>& non_slot_devices(const Variables&) const noexcept {
    return owner_->parameter_devices();
  }

  // -- variables ---------------------------------------------------------------------------------

  /// variable.read().
  template <class Variable>
  [[nodiscard("co_await it")]] auto read_var(const Variable& variable) const {
    variable.state()->require_owner(*owner_, "read_var()");
    return variable.read();
  }

  template <class Variable>
  bool variable_created_in_scope(const Variable& variable) const noexcept {
    return &variable.state()->owner() == owner_.get();
  }

  /// The variable that a component belongs to: a handle is that variable.
  template <class Variable>
  const Variable& value_container(const Variable& variable) const noexcept {
    return variable;
  }

  /// Variables made up to the end of the block live where `variable` does. A strategy's
  /// variables all live with each other: this checks that they are, and is scope().
  /// \throws errc::scope_required outside of the strategy; errc::strategy_mixed for the variable
  ///         of another one.
  template <class Variable>
  strategy_scope colocate_vars_with(const Variable& variable) const {
    static_assert(variable_handle<Variable>,
                  "troupe: colocate_vars_with() takes a variable of this strategy");
    owner_->require_inside("colocate_vars_with()");
    variable.state()->require_owner(*owner_, "colocate_vars_with()");
    return strategy_scope(owner_);
  }

  // -- what the strategy is ----------------------------------------------------------------------

  const std::vector<std::string>& worker_devices() const noexcept { return owner_->devices(); }
  const std::vector<std::string>& parameter_devices() const noexcept {
    return owner_->parameter_devices();
  }

  /// strategy::run().
  template <class F, class... Args>
  [[nodiscard("co_await it: nothing runs before")]] auto call_for_each_replica(F fn,
                                                                               Args... args) const {
    return owner_->facade().run(std::move(fn), std::move(args)...);
  }

  /// Calls `fn(multi_step_context&, *next++)` so many times, in cross-replica context; see
  /// steps.hpp. `fn` is a plain function or a task.
  template <class F, class Iterator>
  [[deprecated("write the loop around run()")]] task<multi_step_context>
  experimental_run_steps_on_iterator(F fn, Iterator next, int iterations = 1) const {
    owner_->require_cross_replica("experimental_run_steps_on_iterator()");
    return detail::run_steps(owner_, std::move(fn), std::move(next), iterations);
  }

  /// One process, whose programs are no graphs: these never change.
  static constexpr bool experimental_between_graph() noexcept { return false; }
  static constexpr bool experimental_require_static_shapes() noexcept { return false; }
  static constexpr bool experimental_should_init() noexcept { return true; }
  static constexpr bool should_checkpoint() noexcept { return true; }
  static constexpr bool should_save_summary() noexcept { return true; }

 private:
  template <class To>
  void require_destination(const To& to) const {
    static_assert(destination<To>,
                  "troupe: a destination is a variable, a per_replica or mirrored value, or the "
                  "name of a device");
    if constexpr (variable_handle<To>) {
      to.state()->require_owner(*owner_, "a destination");
    } else if constexpr (device_destination<To>) {
      static_cast<void>(owner_->replica_on(to));
    }
  }

  template <class To, class T>
  static auto deliver(T value) {
    if constexpr (device_destination<To>) {
      return value;
    } else {
      return mirrored<T>(std::move(value));
    }
  }

  /// The same of a value that has to be awaited.
  template <class To, class Read>
  static auto deliver_read(Read read) {
    if constexpr (device_destination<To>) {
      return read;
    } else {
      return detail::mirrored_when_read(std::move(read));
    }
  }

  template <class Body>
  detail::update_operation<Body> operation(std::string what, std::size_t count, Body body) const {
    return {owner_, std::move(what), count, std::move(body)};
  }

  std::shared_ptr<strategy_state> owner_;
};

inline strategy_extended strategy::extended() const { return strategy_extended(state_); }

}  // namespace troupe
