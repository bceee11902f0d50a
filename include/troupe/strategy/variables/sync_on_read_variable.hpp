// sync_on_read_variable.hpp - state that each replica writes for itself, and that is put
// together when somebody reads it.
//
//     sync_on_read_variable<double> total(strategy, 0.0, aggregation::sum);
//
//     void count(replica_context ctx, sync_on_read_variable<double> total, double loss) {
//       total.assign_add(ctx, loss);                       // a plain addition: no merge, no wait
//     }
//     co_await strategy.run(count, total, losses);
//     double all = co_await total.read();                  // the sum of the replicas' parts
//
// For what is written often and read seldom: metrics, counts. A type of your own can be the
// aggregation (aggregation.hpp): a histogram, a minimum.
//
// Guarantees
//   plain    in a replica a write is a write to memory of the replica's own;
//   ordered  a read combines the components in replica order, whatever the schedule;
//   whole    an awaited write in cross-replica context has changed every component.
//
// A read beside a run that is under way sees some of that run's writes.

#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "troupe/strategy/strategy.hpp"
#include "troupe/strategy/variables/aggregation.hpp"
#include "troupe/strategy/variables/cross_write.hpp"
#include "troupe/strategy/variables/variable_handle.hpp"
#include "troupe/strategy/variables/variable_read.hpp"
#include "troupe/strategy/variables/variable_state.hpp"

namespace troupe {

template <class T, class Aggregation>
class sync_on_read_variable {
  static_assert(aggregates<Aggregation, T>,
                "troupe: this aggregation cannot make one value of this type of many: it is "
                "aggregation::none, sum, mean or only_first_replica, where sum and mean want "
                "numbers, or has T identity() and combine(T&, const T&)");

  using state_type = detail::variable_state<T>;

 public:
  using value_type = T;
  using aggregation_type = Aggregation;

  /// One component for each replica of `strategy`, all of them `initial`.
  /// \throws errc::cross_replica_required in a replica: see create_sync_on_read_variable();
  ///         errc::strategy_mixed in a context of another strategy.
  sync_on_read_variable(const troupe::strategy& strategy, T initial,
                        Aggregation how = Aggregation(),
                        const variable_options& options = variable_options())
      : state_(std::make_shared<state_type>(strategy.state(), initial, options, false,
                                            strategy.state()->replicas())),
        how_(std::move(how)) {}

  const std::string& name() const noexcept { return state_->name(); }
  bool trainable() const noexcept { return state_->trainable(); }
  const troupe::strategy& strategy() const noexcept { return state_->owner().facade(); }
  const Aggregation& aggregation() const noexcept { return how_; }
  const tensor_shape& shape() const noexcept { return state_->shape(); }

  // -- in a replica ------------------------------------------------------------------------------

  /// The replica's own component, to read and to write.
  /// \throws errc::foreign_context, errc::replica_required, errc::strategy_mixed.
  T& local(replica_context ctx) const {
    state_->require_replica(ctx, "local()");
    return state_->component(static_cast<std::size_t>(ctx.replica_id()));
  }
  const T& read(replica_context ctx) const { return local(ctx); }

  /// Writes to the replica's own component, which is returned.
  /// \throws the same; errc::shape_mismatch.
  template <class Value>
  T& assign(replica_context ctx, const Value& value) const {
    return write<detail::assigning>(ctx, value);
  }
  template <class Value>
  T& assign_add(replica_context ctx, const Value& value) const {
    return write<detail::adding>(ctx, value);
  }
  template <class Value>
  T& assign_sub(replica_context ctx, const Value& value) const {
    return write<detail::subtracting>(ctx, value);
  }

  // -- in cross-replica context ------------------------------------------------------------------

  /// \return when awaited: the components as one value, by the aggregation.
  /// \throws when awaited: errc::cross_replica_required, errc::strategy_mixed.
  [[nodiscard("co_await it")]] auto read() const {
    static_assert(!std::same_as<Aggregation, no_aggregation>,
                  "troupe: without an aggregation there is no way to make one value of the "
                  "components: await components()");
    return detail::aggregated_read<T, Aggregation>(state_, how_);
  }

  /// \return when awaited: all components, per_replica<T>.
  [[nodiscard("co_await it")]] auto components() const {
    return detail::components_read<T>(state_);
  }

  /// Afterwards a read gives `value`. For a sum every component gets its part of it, of which
  /// integers lose the remainder.
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign(const Value& value) const {
    static_assert(detail::writable<Value, T> && !is_per_replica<Value>,
                  "troupe: this value cannot be written to the variable: give a value of its "
                  "type, or a mirrored one");
    return detail::spread_write<detail::assigning, T, Aggregation>(
        state_, how_, static_cast<T>(detail::value_for<T>(0, value)));
  }
  /// Adds to every component.
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign_add(
      const Value& value) const {
    return add_all<detail::adding>(value);
  }
  template <class Value>
  [[nodiscard("co_await it: nothing is written before")]] auto assign_sub(
      const Value& value) const {
    return add_all<detail::subtracting>(value);
  }

  // -- in an update function ---------------------------------------------------------------------

  /// The component that the update is for.
  /// \throws errc::foreign_context outside of the update, errc::strategy_mixed.
  T& component(update_context ctx) const {
    state_->require_update(ctx, "component()");
    return state_->component(static_cast<std::size_t>(ctx.replica_id()));
  }

  /// The same variable, not only an equal one.
  friend bool operator==(const sync_on_read_variable& a, const sync_on_read_variable& b) noexcept {
    return a.state_ == b.state_;
  }

  const std::shared_ptr<state_type>& state() const noexcept { return state_; }

  // What the model refuses for this kind: here for the sake of the sentence.
  template <class... A>
  auto scatter_add(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: a variable that is synchronised on read has no scatter operations: "
                  "write to local(ctx)");
  }

 private:
  template <class Write, class Value>
  T& write(replica_context ctx, const Value& value) const {
    static_assert(detail::writable<Value, T>,
                  "troupe: this value cannot be written to the variable: give a value of its "
                  "type, a mirrored or per_replica one, or a variable of that type");
    T& own = local(ctx);
    const T given = detail::value_for_replica<T>(ctx, value);
    state_->require_shape(given);
    Write::write(own, given);
    return own;
  }

  template <class Write, class Value>
  auto add_all(const Value& value) const {
    static_assert(std::same_as<Aggregation, mean_op> || std::same_as<Aggregation, first_op> ||
                      std::same_as<Aggregation, no_aggregation>,
                  "troupe: adding to every component of a sum would add as many times as there "
                  "are replicas: assign() the new value, or add in one replica");
    return detail::spread_write<Write, T, Aggregation>(
        state_, how_, static_cast<T>(detail::value_for<T>(0, value)));
  }

  std::shared_ptr<state_type> state_;
  [[no_unique_address]] Aggregation how_;
};

}  // namespace troupe
