// context.hpp - the two sides of a merge: what a replica function may do, and what runs
// when everybody has arrived.
//
//     int sum(cross_replica_context, const per_replica<int>& values);
//
//     task<int> step(replica_context ctx, int three) {
//       int v = three + ctx.replica_id();
//       co_return co_await ctx.merge_call(sum, v);
//     }
//
// Contexts are small values, taken by value. A context is what its type says: calls
// that are illegal in it do not exist on it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "troupe/actors/replica_actor.hpp"

namespace troupe {

class strategy;
class strategy_state;

namespace detail {

/// False, but only once somebody has called what says so.
template <class...>
inline constexpr bool never = false;

}  // namespace detail

struct mean_op;
template <class T>
struct unweighted;

template <class F, class... Args>
class merge_operation;
template <class F, class... Args>
class run_operation;

/// Held by one replica during one run; or the context of code that is outside of everything:
/// the only replica of the default strategy, where a merge function is called at once.
class replica_context {
 public:
  /// The context outside of everything.
  replica_context() noexcept = default;
  explicit replica_context(replica_actor& self) noexcept : self_(&self), run_id_(self.run_id()) {}

  /// Whether the code that runs now is this replica's: its function, or a branch of it.
  bool is_current() const noexcept {
    if (!self_) return activity::ambient_here() == nullptr;
    activity* const now = activity::current();
    // Compared before it is looked into: an old context's replica may be gone.
    return now && now->origin() == self_ && self_->run_id() == run_id_;
  }

  /// 0 … num_replicas_in_sync() - 1.
  int replica_id() const noexcept { return self_ ? static_cast<int>(self_->replica()) : 0; }
  int num_replicas_in_sync() const noexcept;
  const troupe::strategy& strategy() const noexcept;

  /// Waits until every replica has made this call, then runs `merge_fn` once, in
  /// cross-replica context, with one per_replica for each of `args`, in replica order.
  ///
  /// `merge_fn(cross_replica_context, per_replica<Args>...)`; the context is optional; a
  /// plain function or a coroutine (a task). Of what it returns, per_replica gives each
  /// replica its own component; everything else goes to all of them.
  ///
  /// \pre    Every replica makes the same merges in the same order.
  /// \throws what `merge_fn` throws, on every replica; in the same way
  ///         errc::structure_mismatch when `args` cannot be regrouped; errc::merge_mismatch,
  ///         errc::missing_replica, errc::replica_failed, errc::cancelled when the round
  ///         cannot become whole; errc::replica_required in cross-replica context;
  ///         errc::foreign_context elsewhere outside this replica's function.
  template <class F, class... Args>
  [[nodiscard("co_await it: a merge happens when it is awaited")]] auto merge_call(
      F merge_fn, Args... args) const;

  /// The sum, mean, minimum, … of everybody's `value`, in replica order, on every replica.
  /// Op is reduce_op::sum, mean, min, max or product, or an own_reduction; see reduce.hpp,
  /// weighted.hpp and indexed_slices.hpp for types. Structures of them (structure.hpp) are
  /// reduced leaf by leaf.
  template <class Op, class T>
  [[nodiscard("co_await it: a reduction happens when it is awaited")]] auto all_reduce(
      Op op, T value) const;

  /// The mean of everybody's local_mean(): warned of, because uneven replicas count alike.
  template <class T>
  [[deprecated("troupe: a mean of means is wrong where replicas hold uneven numbers: reduce "
               "weigh(values) instead of local_mean(values)")]] auto
  all_reduce(mean_op op, unweighted<T> value) const;

  /// Everybody's `value` one after the other along `axis`, in replica order, on every replica;
  /// see gather.hpp.
  template <class T>
  [[nodiscard("co_await it: a gather happens when it is awaited")]] auto all_gather(
      T value, int axis = 0) const;

  /// This replica's stripe, along `axis`, of what all_reduce() gives; see reduce_scatter.hpp.
  template <class Op, class T>
  [[nodiscard("co_await it: a reduction happens when it is awaited")]] auto reduce_scatter(
      Op op, T value, int axis = 0) const;

  // What a replica cannot do: here for the sake of the sentence.
  template <class... A>
  auto run(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: run() needs cross-replica context, but this is a replica: call it from "
                  "a merge function, as in co_await ctx.merge_call(fn)");
  }
  template <class... A>
  auto reduce(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: reduce() needs cross-replica context, but this is a replica: write "
                  "co_await ctx.all_reduce(op, value)");
  }
  template <class... A>
  auto gather(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: gather() needs cross-replica context, but this is a replica: write "
                  "co_await ctx.all_gather(value)");
  }

 private:
  template <class F, class... Args>
  friend class merge_operation;

  strategy_state& owner() const noexcept;

  replica_actor* self_ = nullptr;
  std::uintptr_t run_id_ = 0;
};

/// What an update function is in: cross-replica context, for one replica's components.
class update_context {
 public:
  update_context(strategy_state& owner, std::size_t replica) noexcept
      : owner_(&owner), replica_(replica) {}

  /// Whose components it may read and write.
  int replica_id() const noexcept { return static_cast<int>(replica_); }
  int num_replicas_in_sync() const noexcept;
  const troupe::strategy& strategy() const noexcept;

 private:
  strategy_state* owner_;
  std::size_t replica_;
};

/// What a merge function, or code outside any replica, is in.
class cross_replica_context {
 public:
  explicit cross_replica_context(strategy_state& owner) noexcept : owner_(&owner) {}

  int num_replicas_in_sync() const noexcept;
  const troupe::strategy& strategy() const noexcept;

  /// strategy::run(): a run inside the merge, with replicas of its own.
  template <class F, class... Args>
  [[nodiscard("co_await it: nothing runs before")]] auto run(F fn, Args... args) const;

  // What only a replica can do: here for the sake of the sentence.
  template <class... A>
  auto merge_call(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: merge_call() is a replica's, but this is cross-replica context: "
                  "everybody has arrived already; call the function");
  }
  template <class... A>
  auto all_reduce(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: all_reduce() is a replica's, but this is cross-replica context: write "
                  "reduce(op, values)");
  }
  template <class... A>
  auto all_gather(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: all_gather() is a replica's, but this is cross-replica context: write "
                  "gather(values)");
  }
  template <class... A>
  auto reduce_scatter(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: ctx.reduce_scatter() is a replica's, but this is cross-replica context: "
                  "write reduce_scatter(op, values)");
  }
  template <class... A>
  auto replica_id(A&&...) const {
    static_assert(detail::never<A...>,
                  "troupe: cross-replica context is no replica and has no replica_id(): index the "
                  "per_replica values, or return one");
  }

 private:
  strategy_state* owner_;
};

// The ambient queries: the same answers for library code that has no context at hand.
// They belong to the logical task, not to the thread, and hold across suspensions.

/// The replica this code runs for, outside of everything the default strategy's; empty in
/// cross-replica context.
std::optional<replica_context> get_replica_context() noexcept;

/// Inside a merge function or an update function, or outside any run but inside a strategy's
/// scope.
bool in_cross_replica_context() noexcept;

/// The update function that runs now; empty outside of all.
std::optional<update_context> get_update_context() noexcept;

/// The strategy in force; the default one when there is no other.
const strategy& get_strategy() noexcept;

/// False when the default strategy is in force.
bool has_strategy() noexcept;

}  // namespace troupe
