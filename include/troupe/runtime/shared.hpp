// shared.hpp - memory that several replicas or actors use, where a simulation can see it.
//
//     task<> step(replica_context ctx, sim::shared<int>& total) {
//       total.change([&](int& t) { t += ctx.replica_id(); });
//       co_await ctx.merge_call([] {});
//     }
//
// A simulation takes two steps in one order only if they touch nothing in common. It sees what
// goes through the library, actors, merges, replies, variables; plain memory it does not see.
// What is shared all the same belongs in here: then every order of its users is tried.
//
// Guarantees
//   visible   steps of which one writes are tried in both orders;
//   plain     outside of a simulation it is the value and nothing else. It is no lock: what
//             replicas on several lines use at the same time needs one, as ever.

#pragma once

#include <type_traits>
#include <utility>

#include "troupe/runtime/footprint.hpp"

namespace troupe::sim {

template <class T>
class shared {
 public:
  shared() : shared(T()) {}
  explicit shared(T value) : value_(std::move(value)) { footprint::made(this); }
  shared(const shared&) = delete;
  shared& operator=(const shared&) = delete;

  /// The value, for a look now: do not keep the reference beyond a co_await.
  const T& read() const noexcept {
    footprint::touches(this, touch::look);
    return value_;
  }

  void write(T value) {
    footprint::touches(this, touch::change);
    value_ = std::move(value);
  }

  /// Calls `f` with the value, to read and write it in one go. \return what `f` returns.
  template <class F>
  std::invoke_result_t<F, T&> change(F&& f) {
    footprint::touches(this, touch::change);
    return std::forward<F>(f)(value_);
  }

 private:
  T value_;
};

}  // namespace troupe::sim
