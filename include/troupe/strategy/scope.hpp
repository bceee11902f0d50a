// scope.hpp - code that belongs to a strategy without running on its replicas.
//
//     {
//       const auto inside = strategy.scope();
//       get_strategy();                 // strategy
//       in_cross_replica_context();     // true
//     }
//
// Guarantees
//   bound     to the logical task in which it was opened, across its suspensions, or,
//             outside of tasks, to the thread. What a task awaits is inside, and so is what
//             block_on() runs; what launch() or a new thread runs is not;
//   nested    inside itself a strategy's scope changes nothing; the outermost one ends it;
//   strict    a scope of another strategy, or inside one of its own replicas, is refused.
//
// A scope is an object of a block. In a coroutine that is no task of troupe's it belongs to
// the thread: end it before the coroutine suspends. One that ends on another thread cannot
// take the first one out: that stays inside, for good. The strategy may be destroyed before
// the scope, but then nobody may ask for it by get_strategy().

#pragma once

#include <memory>

#include "troupe/strategy/strategy_state.hpp"

namespace troupe {

class [[nodiscard("a scope ends with the object: give it a name")]] strategy_scope {
 public:
  /// \throws errc::strategy_mixed while another strategy is in force;
  ///         errc::cross_replica_required inside a replica.
  explicit strategy_scope(std::shared_ptr<const strategy_state> owner);
  strategy_scope(const strategy_scope&) = delete;
  strategy_scope& operator=(const strategy_scope&) = delete;
  ~strategy_scope();

 private:
  std::shared_ptr<const strategy_state> owner_;
  activity* where_ = nullptr;      // Null: the thread, outside of tasks.
  const void** thread_ = nullptr;  // Its place for what is in force.
  const void* outer_ = nullptr;    // What was in force before.
  bool outermost_ = false;
};

/// Puts the rest of the logical task or, outside of tasks, of the thread inside `which`, until
/// the next call; null ends it. `which` must live until then.
/// \throws errc::inside_scope inside a scope() or a run: there it would end something else.
void experimental_set_strategy(const strategy* which);

}  // namespace troupe
