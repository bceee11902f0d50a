// create_variable.hpp - variables that all replicas of a run make together.
//
//     task<float> step(replica_context ctx, float x) {
//       auto weight = co_await create_variable(ctx, x, aggregation::mean, "weight");
//       co_return weight.read(ctx);      // replica 0's x on every replica
//     }
//
// It is a merge: every replica has to make it. Replica 0's initial value and options count.
// The names the replicas give must be one name, up to the numbers that tell repetitions
// apart: canonical_variable_name().

#pragma once

#include <string>
#include <utility>

#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/variables/sync_on_read_variable.hpp"
#include "troupe/strategy/variables/variable.hpp"

namespace troupe {

namespace detail {

/// \throws errc::variable_mismatch unless the canonical names are one.
void require_one_name(const per_replica<variable_options>& options);

/// The merge function.
template <class Variable>
class variable_maker {
  using value = typename Variable::value_type;
  using how = typename Variable::aggregation_type;

 public:
  explicit variable_maker(how aggregation) : how_(std::move(aggregation)) {}

  Variable operator()(cross_replica_context cross, const per_replica<value>& initial,
                      const per_replica<variable_options>& options) const {
    require_one_name(options);
    return Variable(cross.strategy(), initial[0], how_, options[0]);
  }

  static std::string verb() { return "create_variable"; }

 private:
  [[no_unique_address]] how how_;
};

}  // namespace detail

/// A variable that all replicas make together; each gets the same handle.
/// \throws when awaited: what a merge throws; errc::variable_mismatch on every replica.
template <class T, class Aggregation = no_aggregation>
[[nodiscard("co_await it: nothing is made before")]] auto create_variable(
    replica_context ctx, T initial, Aggregation how = Aggregation(),
    const variable_options& options = variable_options()) {
  using made = variable<T, Aggregation>;
  return merge_operation<detail::variable_maker<made>, T, variable_options>(
      ctx, detail::variable_maker<made>(std::move(how)), std::move(initial), options);
}

/// The same, synchronised on read.
template <class T, class Aggregation = sum_op>
[[nodiscard("co_await it: nothing is made before")]] auto create_sync_on_read_variable(
    replica_context ctx, T initial, Aggregation how = Aggregation(),
    const variable_options& options = variable_options()) {
  using made = sync_on_read_variable<T, Aggregation>;
  return merge_operation<detail::variable_maker<made>, T, variable_options>(
      ctx, detail::variable_maker<made>(std::move(how)), std::move(initial), options);
}

}  // namespace troupe
