// variable_read.hpp - reads of variables in cross-replica context: of one component, of all,
// and of all as one value.

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/strategy/values/mirrored.hpp"
#include "troupe/strategy/variables/aggregation.hpp"
#include "troupe/strategy/variables/sweep_operation.hpp"
#include "troupe/strategy/variables/variable_state.hpp"

namespace troupe::detail {

/// The value, from a component that is at home, or else from replica 0's; or always from that.
enum class which : bool { any, first };

template <class T>
class variable_read final : public sweep_operation<variable_read<T>> {
 public:
  using value_type = T;

  variable_read(std::shared_ptr<variable_state<T>> state, which one)
      : sweep_operation<variable_read>(state->shared_owner()),
        state_(std::move(state)),
        one_(one) {}

  T await_resume() {
    this->rethrow();
    return *std::move(result_);
  }

  void work(std::size_t replica) {
    if (replica == 0) take_at_hand(replica);
  }
  bool take_at_hand(std::size_t replica) {
    if (one_ == which::first && replica != 0) return false;
    result_.emplace(state_->component(replica));
    return true;
  }
  std::string call() const { return "read of \"" + state_->name() + "\""; }

 private:
  std::shared_ptr<variable_state<T>> state_;
  which one_;
  std::optional<T> result_;
};

/// All components.
template <class T>
class components_read final : public sweep_operation<components_read<T>> {
 public:
  using value_type = per_replica<T>;

  explicit components_read(std::shared_ptr<variable_state<T>> state)
      : sweep_operation<components_read>(state->shared_owner()),
        state_(std::move(state)),
        slots_(state_->copies()) {}

  per_replica<T> await_resume() {
    this->rethrow();
    per_replica<T> all;
    all.reserve(slots_.size());
    for (auto& slot : slots_) all.append(*std::move(slot));
    return all;
  }

  void work(std::size_t replica) {
    if (state_->has(replica)) slots_[replica].emplace(state_->component(replica));
  }
  std::string call() const { return "read of all components of \"" + state_->name() + "\""; }

 private:
  std::shared_ptr<variable_state<T>> state_;
  std::vector<std::optional<T>> slots_;
};

/// The components as one value.
template <class T, class A>
class aggregated_read {
 public:
  using awaitable_in_task = void;
  using value_type = decltype(aggregate(std::declval<const A&>(), per_replica<T>()));

  aggregated_read(std::shared_ptr<variable_state<T>> state, A how)
      : components_(std::move(state)), how_(std::move(how)) {}

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> reader) {
    return components_.await_suspend(reader);
  }
  value_type await_resume() { return aggregate(how_, components_.await_resume()); }

 private:
  components_read<T> components_;
  [[no_unique_address]] A how_;
};

/// What is read, as what every replica has.
template <class Read>
task<mirrored<typename Read::value_type>> mirrored_when_read(Read read) {
  typename Read::value_type value = co_await std::move(read);
  co_return mirrored(std::move(value));
}

}  // namespace troupe::detail
