// variable.hpp - state that all replicas have in common, a component in each.
//
//     variable weight(strategy, 1.0f, aggregation::mean, "weight");
//
//     task<float> step(replica_context ctx, variable<float, mean_op> weight, float x) {
//       const float gradient = x * weight.read(ctx);              // no message, no wait
//       co_return co_await weight.assign_sub(ctx, gradient);      // a merge: by the mean of all
//     }
//     co_await strategy.run(step, weight, xs);
//     float now = co_await weight.read();                         // in cross-replica context
//
// A replica's write is a merge: what all replicas bring is made one value by the variable's
// aggregation, and that is written to every component. Without an aggregation a replica
// writes to its own component alone. A value that is mirrored<T>, the same everywhere, is
// written as it is. In cross-replica context a write goes to every component.
//
// A handle is small and may be copied; run() and merge_call() pass it on as it is. The
// components live as long as one handle.
//
// Guarantees
//   mirrored  with an aggregation the components never differ once everybody has gone on,
//             also when runs overlap or fail: all see all writes in one order;
//   local     reading in a replica is a plain read, and costs no message;
//   whole     an awaited write is in every component when the await ends.
//
// A T whose assignment throws in the middle breaks both for that write: give it one that
// does not, or one that cannot run out of memory for a value of the size it has.

#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "troupe/strategy/strategy.hpp"
#include "troupe/strategy/variables/aggregation.hpp"
#include "troupe/strategy/variables/cross_write.hpp"
#include "troupe/strategy/variables/replica_write.hpp"
#include "troupe/strategy/variables/scatter.hpp"
#include "troupe/strategy/variables/variable_handle.hpp"
#include "troupe/strategy/variables/variable_read.hpp"
#include "troupe/strategy/variables/variable_state.hpp"

namespace troupe {

template <class T, class Aggregation>
class variable : public scatter_calls<variable<T, Aggregation>> {
  static_assert(aggregates<Aggregation, T>,
                "troupe: this aggregation cannot make one value of this type of many: it is "
                "aggregation::none, sum, mean or only_first_replica, where sum and mean want "
                "numbers, or has T identity() and combine(T&, const T&)");

  using state_type = detail::variable_state<T>;
  static constexpr bool local = std::same_as<Aggregation, no_aggregation>;

 public:
  using value_type = T;
  using aggregation_type = Aggregation;

  /// One component for each replica of `strategy`, all of them `initial`.
  /// \throws errc::cross_replica_required in a replica: see create_variable();
  ///         errc::strategy_mixed in a context of another strategy.
  variable(const troupe::strategy& strategy, T initial, Aggregation how = Aggregation(),
           const variable_options& options = variable_options())
      : state_(std::make_shared<state_type>(
            strategy.state(), initial, options, true,
            strategy.state()->one_copy() ? 1 : strategy.state()->replicas())),
        how_(std::move(how)) {}

  const std::string& name() const noexcept { return state_->name(); }
  bool trainable() const noexcept { return state_->trainable(); }
  const troupe::strategy& strategy() const noexcept { return state_->owner().facade(); }
  const Aggregation& aggregation() const noexcept { return how_; }
  const tensor_shape& shape() const noexcept { return state_->shape(); }

  // -- in a replica ------------------------------------------------------------------------------

  /// The replica's own component.
  /// \throws errc::foreign_context, errc::replica_required, errc::strategy_mixed.
  const T& read(replica_context ctx) const {
    state_->require_replica(ctx, "read()");
    return state_->component(static_cast<std::size_t>(ctx.replica_id()));
  }

  /// `value` is a T, this replica's; a mirrored<T>, or a variable, the same for all; of a
  /// per_replica<T> this replica's own.
  /// \return when awaited: the replica's component, as it is now.
  /// \throws when awaited: what a merge throws; errc::shape_mismatch on every replica.
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign(replica_context ctx,
                                                                      const Value& value) const {
    return write<detail::assigning>(ctx, value);
  }
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign_add(
      replica_context ctx, const Value& value) const {
    return write<detail::adding>(ctx, value);
  }
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign_sub(
      replica_context ctx, const Value& value) const {
    return write<detail::subtracting>(ctx, value);
  }

  // -- in cross-replica context ------------------------------------------------------------------

  /// \return when awaited: the value; without an aggregation, replica 0's. Costs no message where
  ///         a replica is at home.
  /// \throws when awaited: errc::cross_replica_required, errc::strategy_mixed.
  [[nodiscard("co_await it")]] auto read() const {
    return detail::variable_read<T>(state_, local ? detail::which::first : detail::which::any);
  }

  /// `value` is a T, the same for all components, a mirrored<T>, or a variable.
  /// \return when awaited: the new value.
  /// \throws the same; errc::shape_mismatch.
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign(const Value& value) const {
    return write_all<detail::assigning>(value);
  }
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign_add(
      const Value& value) const {
    return write_all<detail::adding>(value);
  }
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign_sub(
      const Value& value) const {
    return write_all<detail::subtracting>(value);
  }

  /// \return when awaited: all components, per_replica<T>.
  [[nodiscard("co_await it")]] auto components() const {
    return detail::components_read<T>(state_);
  }

  // -- in an update function ---------------------------------------------------------------------

  /// The component that the update is for: read it, write it. Nobody else is told.
  /// \throws errc::foreign_context outside of the update, errc::strategy_mixed.
  T& component(update_context ctx) const {
    state_->require_update(ctx, "component()");
    return state_->component(static_cast<std::size_t>(ctx.replica_id()));
  }

  /// The same variable, not only an equal one.
  friend bool operator==(const variable& a, const variable& b) noexcept {
    return a.state_ == b.state_;
  }

  const std::shared_ptr<state_type>& state() const noexcept { return state_; }

 private:
  template <class Write, class Value>
  auto write(replica_context ctx, const Value& value) const {
    static_assert(detail::writable<Value, T>,
                  "troupe: this value cannot be written to the variable: give a value of its "
                  "type, a mirrored or per_replica one, or a variable of that type");
    if constexpr (local) {
      return detail::local_write<Write, T, T>(state_, ctx,
                                              detail::value_for_replica<T>(ctx, value));
    } else if constexpr (detail::same_everywhere<Value>) {
      static_assert(!std::same_as<Aggregation, sum_op>,
                    "troupe: a value that is the same on all replicas has no sum: give each "
                    "replica's own value, or update the variable in a merge function");
      return detail::merged_write<Write, T, Aggregation, mirrored<T>>(
          state_, how_, ctx, mirrored<T>(detail::value_for_replica<T>(ctx, value)));
    } else {
      static_assert(detail::aggregates_to_itself<Aggregation, T>,
                    "troupe: the mean of integers is no integer: give a mirrored value, or use "
                    "another aggregation or a floating type");
      return detail::merged_write<Write, T, Aggregation, T>(
          state_, how_, ctx, detail::value_for_replica<T>(ctx, value));
    }
  }

  friend class scatter_calls<variable>;

  template <class Op>
  static constexpr void require_meaning() {
    static_assert(!(detail::scattering<Op>::selects && reduction<Aggregation>),
                  "troupe: of minima, maxima and new values there is no sum and no mean: use the "
                  "aggregation none or only_first_replica");
  }

  /// See scatter.hpp.
  // U is T: named so that a variable of what has no rows is a type all the same.
  template <class Op, class U = T>
  auto scatter(replica_context ctx, indexed_slices<U> rows) const {
    require_meaning<Op>();
    using write = detail::scattering<Op>;
    if constexpr (local) {
      return detail::local_write<write, T, indexed_slices<U>>(state_, ctx, std::move(rows));
    } else {
      static_assert(detail::aggregates_to_itself<Aggregation, T>,
                    "troupe: the mean of integers is no integer: use another aggregation or a "
                    "floating type");
      return detail::merged_write<write, T, Aggregation, indexed_slices<U>>(state_, how_, ctx,
                                                                            std::move(rows));
    }
  }
  template <class Op, class U = T>
  auto scatter(indexed_slices<U> rows) const {
    require_meaning<Op>();
    return detail::cross_write<detail::scattering<Op>, T, indexed_slices<U>>(state_,
                                                                             std::move(rows));
  }

  template <class Write, class Value>
  auto write_all(const Value& value) const {
    static_assert(!is_per_replica<Value>,
                  "troupe: a variable's components must not differ: reduce the per_replica value "
                  "first, or use update() if they shall");
    static_assert(detail::writable<Value, T>,
                  "troupe: this value cannot be written to the variable: give a value of its "
                  "type, a mirrored one, or a variable of that type");
    if constexpr (is_variable<Value>) {
      return detail::cross_write<Write, T, Value>(state_, value);
    } else {
      return detail::cross_write<Write, T, T>(state_,
                                              static_cast<T>(detail::value_for<T>(0, value)));
    }
  }

  std::shared_ptr<state_type> state_;
  [[no_unique_address]] Aggregation how_;
};

}  // namespace troupe
