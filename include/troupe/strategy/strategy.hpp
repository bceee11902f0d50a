// strategy.hpp - run one function on every replica.
//
//     mirrored_strategy strategy{rt, 4};
//     auto losses = co_await strategy.run(train_step, batches);       // from a task
//     double loss = strategy.reduce(reduce_op::mean, losses);
//     strategy.async_run(train_step, std::tuple{batches}, token);     // from Asio
//     auto r = block_on(rt, strategy.run(train_step, batches));       // from main()
//
// Semantics follow tf.distribute.Strategy; docs/semantics.md maps each call to its model
// and lists where and why we differ.
//
// Guarantees
//   whole     run() returns when every replica has finished, never earlier;
//   concurrent  runs of one strategy may overlap and nest: each has replicas of its own;
//   usable    after any failure the strategy can be used again;
//   alive     a strategy may be destroyed while a run is under way: the run goes on, but
//             nobody may ask a context for its strategy() any more.

#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/runtime/launch.hpp"
#include "troupe/runtime/runtime.hpp"
#include "troupe/strategy/context.hpp"
#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reductions/all_reduce.hpp"
#include "troupe/strategy/reductions/gather.hpp"
#include "troupe/strategy/reductions/indexed_slices.hpp"
#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/reductions/reduce_axis.hpp"
#include "troupe/strategy/reductions/reduce_scatter.hpp"
#include "troupe/strategy/reductions/weighted.hpp"
#include "troupe/strategy/run_operation.hpp"
#include "troupe/strategy/scope.hpp"
#include "troupe/strategy/strategy_state.hpp"
#include "troupe/strategy/structure.hpp"
#include "troupe/strategy/values/value_context.hpp"
#include "troupe/strategy/variables/variable_handle.hpp"
#include "troupe/strategy/variables/variable_read.hpp"

namespace troupe {

class strategy_extended;

class strategy {
 public:
  strategy(const strategy&) = delete;
  strategy& operator=(const strategy&) = delete;
  virtual ~strategy() = default;

  /// "mirrored_strategy": for messages.
  virtual std::string_view kind() const noexcept = 0;

  int num_replicas_in_sync() const noexcept { return static_cast<int>(state_->replicas()); }

  /// Canonical names, one for each replica.
  const std::vector<std::string>& worker_devices() const noexcept { return state_->devices(); }

  /// Puts the code up to the end of the block inside this strategy; see scope.hpp.
  strategy_scope scope() const { return strategy_scope(state_); }

  /// Calls `fn` once on every replica, concurrently unless the strategy says otherwise.
  ///
  /// `fn(replica_context, args...)`; the context is optional; a plain function or a
  /// coroutine (a task), whose parameters should be values. Of the arguments, a
  /// per_replica gives each replica its own component; everything else goes to all.
  /// Arguments are copied into the operation, or moved.
  ///
  /// The result has in_order(replica_order): the order of the replicas in this run.
  ///
  /// \return when awaited: what the replicas returned, regrouped (structure.hpp).
  /// \throws when awaited: the exception of the lowest replica that failed by itself, with
  ///         its own type; or else the error that broke the run, see merge_call();
  ///         errc::cross_replica_required inside a replica of this strategy,
  ///         errc::strategy_mixed inside another one's, errc::runtime_gone,
  ///         errc::foreign_runtime: a run lives and ends with its caller's runtime;
  ///         errc::structure_mismatch when the results cannot be regrouped.
  template <class F, class... Args>
  [[nodiscard("co_await it, or give it to block_on(): nothing runs before")]] auto run(
      F fn, Args... args) const {
    return run_operation<F, Args...>(state_, std::move(fn),
                                     std::tuple<Args...>(std::move(args)...));
  }

  /// The same for any Asio program: void(std::exception_ptr, result), see launch.hpp. The token's
  /// cancellation slot breaks the run: merges fail, other waits end, with errc::cancelled.
  template <class F, class... Args, class Token>
  auto async_run(F fn, std::tuple<Args...> args, Token&& token,
                 place_pointer here = __builtin_source_location()) const {
    return launch(state_->runtime(),
                  run_operation<F, Args...>(state_, std::move(fn), std::move(args)),
                  std::forward<Token>(token), here);
  }

  /// The sum, mean, minimum, … of the replicas' values, in replica order, element by element. A
  /// plain value is its own mean; it has no sum, unless it is zero or there is one replica. Of
  /// a variable the result has to be awaited, as its read().
  /// \throws errc::cross_replica_required inside a replica; errc::shape_mismatch; for the sum of a
  ///         plain value errc::not_per_replica; errc::structure_mismatch, as the next three, unless
  ///         a per_replica has one value for each replica.
  template <reduction Op, class Value>
  auto reduce(Op op, const Value& value) const {
    state_->require_cross_replica("reduce()");
    static_assert(!detail::structured<Value>,
                  "troupe: reduce() takes one value: reduce the leaves of a structure, one by one, "
                  "or all of them inside a replica, with all_reduce()");
    if constexpr (is_variable<Value>) {
      static_assert(std::same_as<Op, mean_op>,
                    "troupe: a variable is the same on all replicas: its mean is its value, and it "
                    "has no sum");
      return value.read();
    } else if constexpr (is_sync_on_read_variable<Value>) {
      return detail::aggregated_read(value.state(), op);
    } else if constexpr (is_per_replica<Value> || is_mirrored<Value>) {
      detail::require_components(value, state_->replicas());
      return detail::reduce_by_name(op, value);
    } else if constexpr (is_weighted<Value>) {
      return detail::reduce_by_name(op, per_replica<Value>({value}));
    } else {
      return detail::reduce_plain(op, value, state_->replicas());
    }
  }

  /// The mean of the replicas' local_mean(): warned of, because uneven replicas count alike.
  template <class T>
  [[deprecated("troupe: a mean of means is wrong where replicas hold uneven numbers: reduce "
               "weigh(values) instead of local_mean(values)")]] T
  reduce(mean_op op, const per_replica<unweighted<T>>& values) const {
    state_->require_cross_replica("reduce()");
    return troupe::reduce(op, values);
  }

  /// The same, over the replicas and along an axis or several of their values: the mean is
  /// that of all numbers, however many each replica holds. Of a plain value every replica
  /// has a copy: a sum is as many times as large. With order::global the bits do not depend on
  /// how the numbers were dealt out to replicas; see reduce_axis.hpp.
  /// \throws errc::invalid_axis, too.
  template <reduction Op, class Value, summation_order Order = by_replica_order>
  auto reduce(Op op, const Value& value, std::span<const int> axes, Order how = Order()) const {
    state_->require_cross_replica("reduce()");
    static_assert(!variable_handle<Value>, "troupe: read() the variable, and reduce what it gives");
    detail::require_components(value, state_->replicas());
    if constexpr (is_per_replica<Value>) {
      return troupe::reduce(op, value, axes, how);
    } else if constexpr (is_mirrored<Value>) {
      return detail::reduce_copies(op, value.get(), state_->replicas(), axes, how);
    } else {
      return detail::reduce_copies(op, value, state_->replicas(), axes, how);
    }
  }
  template <reduction Op, class Value, summation_order Order = by_replica_order>
  auto reduce(Op op, const Value& value, std::initializer_list<int> axes,
              Order how = Order()) const {
    return reduce(op, value, std::span<const int>(axes.begin(), axes.size()), how);
  }
  template <reduction Op, class Value, summation_order Order = by_replica_order>
  auto reduce(Op op, const Value& value, int axis, Order how = Order()) const {
    return reduce(op, value, std::span<const int>(&axis, 1), how);
  }

  /// The replicas' values one after the other along `axis`, in replica order; see gather.hpp.
  /// \throws errc::cross_replica_required inside a replica; errc::invalid_axis;
  ///         errc::shape_mismatch.
  template <class T>
  auto gather(const per_replica<T>& value, int axis = 0) const {
    state_->require_cross_replica("gather()");
    detail::require_components(value, state_->replicas());
    return troupe::gather(value, axis);
  }

  /// What `fn(value_context)` gives for each replica, put together; called here and now, in
  /// replica order, and not on the replicas.
  /// \throws errc::structure_mismatch when the values cannot be regrouped.
  template <class F>
  auto experimental_distribute_values_from_function(F fn) const {
    using value = std::invoke_result_t<F&, value_context>;
    per_replica<value> all;
    all.reserve(state_->replicas());
    for (int i = 0; i < num_replicas_in_sync(); ++i) {
      all.append(fn(value_context{i, num_replicas_in_sync()}));
    }
    return regroup(std::move(all));
  }

  /// The components of a value, one for each replica; a plain value is one component.
  template <class T>
  std::vector<T> experimental_local_results(const per_replica<T>& value) const {
    return std::vector<T>(value.begin(), value.end());
  }
  template <class T>
  std::vector<T> experimental_local_results(const mirrored<T>& value) const {
    return std::vector<T>(state_->replicas(), value.get());
  }
  template <class T>
  auto experimental_local_results(const T& value) const {
    if constexpr (variable_handle<T>) {
      return value.components();  // To be awaited.
    } else {
      return std::vector<T>(1, value);
    }
  }

  /// What libraries build on strategies with: extended.hpp.
  strategy_extended extended() const;

  /// The strategies of one process ask nobody where the others are.
  static constexpr std::nullptr_t cluster_resolver() noexcept { return nullptr; }

  // For model parallelism, which is none of these strategies': here for the sake of the sentence.
  template <class... A>
  auto experimental_assign_to_logical_device(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: logical devices are for strategies with model parallelism, and this one "
                  "has none: a replica is one device");
  }
  template <class... A>
  auto experimental_split_to_logical_devices(A&&... a) const {
    return experimental_assign_to_logical_device(a...);
  }
  template <class... A>
  auto experimental_replicate_to_logical_devices(A&&... a) const {
    return experimental_assign_to_logical_device(a...);
  }

  /// Where every replica stood when the latest broken run broke; empty if none was.
  std::optional<error> last_failure() const { return state_->last_failure(); }

  const std::shared_ptr<strategy_state>& state() const noexcept { return state_; }

 protected:
  strategy(std::shared_ptr<runtime_state> on, strategy_layout layout)
      : state_(std::allocate_shared<strategy_state>(recycling_allocator<strategy_state>(), *this,
                                                    std::move(on), std::move(layout))) {}

 private:
  std::shared_ptr<strategy_state> state_;
};

}  // namespace troupe
