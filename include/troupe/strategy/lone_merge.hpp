// lone_merge.hpp - a merge_call outside of everything, where one replica is all there are.
//
// Code that uses get_replica_context() runs unchanged without a strategy: there is nobody to
// wait for, so the merge function is called at once, in cross-replica context of the default
// strategy.

#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include "troupe/actors/merge_request.hpp"
#include "troupe/core/activity.hpp"
#include "troupe/core/task.hpp"

namespace troupe::detail {

/// A merge of one, outside of all runs: who calls it has arrived, so it happens at once.
struct lone_merge {
  lone_merge(merge_request& request, const void* in) noexcept : waits_for(&request), mode(in) {}

  /// Awaits the function, if it is a coroutine; `caller` goes on at once otherwise.
  template <class Promise>
  void begin(std::coroutine_handle<Promise> caller) {
    activity& self = *activity::current();
    if (!body) {
      self.continue_with(caller);
      return;
    }
    self.set_ambient(mode);
    std::move(body).operator co_await().await_suspend(caller);
  }
  /// \throws what the function threw.
  merge_result& end() {
    if (body) {
      activity::current()->set_ambient(nullptr);
      body.take();
    }
    return result;
  }

  wait* waits_for;
  const void* mode;  ///< The default strategy's cross-replica context.
  merge_result result;
  merge_intake taken;  ///< Nothing: the arguments are in the frame.
  task<> body;         ///< Empty if the function was a plain one: then it has been called.
};

/// Destroys the one that `request` has begun, if it has.
void drop_lone(const merge_request& request) noexcept;

/// \throws errc::empty_task if `request` has been awaited before; what refuse_context() throws if
///         it is a replica's.
void require_lone(const merge_request& request);

/// \throws errc::replica_required in cross-replica context, errc::foreign_context elsewhere.
[[noreturn]] void refuse_context(const char* call);

/// \throws errc::replica_required in cross-replica context, errc::foreign_context in
///         another replica; what the merge function throws.
std::unique_ptr<lone_merge> merge_alone(merge_request& request);

/// For what is awaited outside of its replica's run. Apart, so that what is not needs no stack.
/// \throws as require_lone() and merge_alone().
template <class Promise>
[[gnu::noinline]] void begin_alone(merge_request& request, std::coroutine_handle<Promise> caller) {
  require_lone(request);
  caller.promise().at = request.where();  // Which waits for the function, if that is a coroutine.
  lone_merge* const lone = merge_alone(request).release();
  request.look_at(*lone);
  lone->begin(caller);
}

}  // namespace troupe::detail
