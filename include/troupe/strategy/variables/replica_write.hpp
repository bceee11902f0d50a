// replica_write.hpp - a replica's write to a variable, while it is awaited.
//
// It is a merge whose function makes one value of all and has the owners write it
// (owners.hpp): at once where there is one line; otherwise each replica catches up before it
// goes on, so that a write costs no message besides the merge's own.

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "troupe/runtime/footprint.hpp"
#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reductions/all_reduce.hpp"
#include "troupe/strategy/variables/variable_handle.hpp"

namespace troupe::detail {

/// "assign_add by mean to \"weight\"".
template <class Write, class A>
std::string text_of_write(const variable_base& state) {
  return std::string(Write::verb) + " by " + name_of_aggregation<A>() + " to \"" + state.name() +
         "\"";
}

/// A decided value on its way to the components.
template <class Write, class T, class V>
class decided_write final : public sweep {
 public:
  decided_write(std::shared_ptr<component_row<T>> to, V value) noexcept
      : row_(std::move(to)), value_(std::move(value)) {}

  static void* operator new(std::size_t bytes) { return recycling_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycling_free(memory, bytes);
  }

  void visit(std::size_t replica) noexcept override {
    if (replica >= row_->all.size()) return;  // There is one copy.
    auto& to = row_->all[replica];
    try {
      Write::write(to.value, value_);
    } catch (...) {
      to.failure = std::current_exception();
    }
  }

 private:
  std::shared_ptr<component_row<T>> row_;
  V value_;
};

[[noreturn]] void throw_cancelled_write(const variable_base& state);

/// Has every component written; see owners::begin() for the result.
template <class Write, class T, class V>
std::uint64_t decide(const variable_state<T>& state, V value) {
  require_writable<Write>(state, value);
  troupe::owners& all = state.owners();
  if (!all.on_one_line()) {
    return all.begin(std::make_unique<decided_write<Write, T, V>>(state.row(), std::move(value)));
  }
  footprint::changes_line();
  for (std::size_t i = 0; state.has(i); ++i) Write::write(state.component(i), value);
  return 0;
}

/// The merge function of a replica's write of a V to a variable of T.
template <class Write, class T, class A, class V>
class variable_merge {
  static constexpr bool large = tensor_like<V> && !arithmetic<V> && reduction<A>;

 public:
  variable_merge(std::shared_ptr<variable_state<T>> state, A how) noexcept
      : state_(std::move(state)), how_(std::move(how)) {}

  std::uint64_t operator()(const per_replica<mirrored<T>>& values) const {
    return decide<Write>(*state_, values[0].get());
  }
  std::uint64_t operator()(const per_replica<V>& values) const
    requires(!large)
  {
    return decide<Write>(*state_, V(aggregate(how_, values)));
  }
  task<std::uint64_t> operator()(per_replica<V> values) const
    requires large
  {
    return reduce_and_decide(state_, std::move(values));
  }

  std::string verb() const { return text_of_write<Write, A>(*state_); }
  told_by_address_of told_by() const noexcept { return {state_.get()}; }

  friend bool operator==(const variable_merge& a, const variable_merge& b) noexcept {
    return a.state_ == b.state_;
  }

 private:
  static task<std::uint64_t> reduce_and_decide(std::shared_ptr<variable_state<T>> state,
                                               per_replica<T> values) {
    mirrored<T> sum = co_await reduce_nest<receiver::caller>(A(), std::move(values));
    // No replica goes on when the run was cancelled meanwhile: what is decided now would wait in
    // the owners' list, and turn up with somebody else's write.
    if (activity::current()->stop_requested()) throw_cancelled_write(*state);
    co_return decide<Write>(*state, std::move(sum).get());
  }

  std::shared_ptr<variable_state<T>> state_;
  [[no_unique_address]] A how_;
};

/// A replica's write to all components.
template <class Write, class T, class A, class V>
class merged_write {
  using given = std::conditional_t<is_mirrored<V>, T, V>;
  using merge_function = variable_merge<Write, T, A, given>;

 public:
  using awaitable_in_task = void;
  using value_type = T;

  merged_write(const std::shared_ptr<variable_state<T>>& state, A how, replica_context ctx, V value)
      : state_(state.get()),
        ctx_(ctx),
        merge_(ctx, merge_function(state, std::move(how)), std::move(value)) {}

  void stand_at(place_pointer here) noexcept { merge_.stand_at(here); }
  bool await_ready() const noexcept { return false; }
  template <std::derived_from<chain_link> Promise>
  void await_suspend(std::coroutine_handle<Promise> replica) {
    state_->require_replica(ctx_, Write::verb);
    merge_.await_suspend(replica);
  }
  const T& await_resume() {
    const auto self = static_cast<std::size_t>(ctx_.replica_id());
    state_->owners().catch_up(self, decided(self));
    return state_->written(self);
  }

 private:
  /// Also a replica that is unwound before its turn takes what the others have been given.
  std::uint64_t decided(std::size_t self) {
    try {
      return merge_.await_resume();
    } catch (...) {
      state_->owners().catch_up(self, state_->owners().begun());
      throw;
    }
  }

  variable_state<T>* state_;  // Held by the merge's function.
  replica_context ctx_;
  merge_operation<merge_function, V> merge_;
};

/// A replica's write to its own component alone.
template <class Write, class T, class V>
class local_write {
 public:
  using awaitable_in_task = void;
  using value_type = T;

  local_write(std::shared_ptr<variable_state<T>> state, replica_context ctx, V value)
      : state_(std::move(state)), ctx_(ctx), value_(std::move(value)) {}

  bool await_ready() const noexcept { return static_cast<bool>(first_await_); }
  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> replica) {
    first_await_.require("a write to a variable", replica);
    return false;
  }
  const T& await_resume() {
    state_->require_replica(ctx_, Write::verb);
    state_->require_own_component();
    require_writable<Write>(*state_, value_);
    first_await_.end();
    T& own = state_->component(static_cast<std::size_t>(ctx_.replica_id()));
    Write::write(own, value_);
    return own;
  }

 private:
  first_await first_await_;
  std::shared_ptr<variable_state<T>> state_;
  replica_context ctx_;
  V value_;
};

}  // namespace troupe::detail
