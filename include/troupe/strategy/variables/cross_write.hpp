// cross_write.hpp - writes to all components of a variable in cross-replica context.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "troupe/strategy/variables/sweep_operation.hpp"
#include "troupe/strategy/variables/variable_handle.hpp"

namespace troupe::detail {

/// A write to all components in cross-replica context.
template <class Write, class T, class V>
class cross_write final : public sweep_operation<cross_write<Write, T, V>> {
  using base = sweep_operation<cross_write>;

 public:
  using value_type = T;

  cross_write(std::shared_ptr<variable_state<T>> state, V value)
      : base(state->shared_owner()), state_(std::move(state)), value_(std::move(value)) {
    if constexpr (is_variable<V>) value_.state()->require_owner(state_->owner(), Write::verb);
  }

  T await_resume() {
    this->rethrow();
    return *std::move(result_);
  }

  void work(std::size_t replica) {
    if (!state_->has(replica)) return;
    T& component = state_->component(replica);
    const auto& value = value_for<T>(replica, value_);
    require_writable<Write>(*state_, value);
    Write::write(component, value);
    if (replica == 0) result_.emplace(component);
  }
  std::string call() const { return std::string(Write::verb) + " to \"" + state_->name() + "\""; }

 private:
  std::shared_ptr<variable_state<T>> state_;
  V value_;
  std::optional<T> result_;
};

/// A number shared out evenly. The count may be more than the number's type can hold.
template <arithmetic E>
E share_of_sum(E whole, std::size_t replicas) noexcept {
  if constexpr (fractional<E>) {
    using wide = fold_of<E>;
    return static_cast<E>(static_cast<wide>(whole) / static_cast<wide>(replicas));
  } else if constexpr (std::signed_integral<E>) {
    return static_cast<E>(static_cast<std::intmax_t>(whole) / static_cast<std::intmax_t>(replicas));
  } else {
    return static_cast<E>(static_cast<std::uintmax_t>(whole) / replicas);
  }
}

/// What each component of a variable gets, so that they are `value` together.
template <class A, class T>
T spread_of(const A& how, const T& value, std::size_t replica, std::size_t replicas) {
  if constexpr (std::same_as<A, sum_op>) {
    T part = value;
    for (auto& each : tensor_traits<T>::values(part)) each = share_of_sum(each, replicas);
    return part;
  } else if constexpr (monoid_of<A, T>) {
    return replica == 0 ? value : static_cast<T>(how.identity());
  } else {
    return value;
  }
}

/// A write in cross-replica context to what is synchronised on read.
template <class Write, class T, class A>
class spread_write final : public sweep_operation<spread_write<Write, T, A>> {
 public:
  using value_type = void;

  spread_write(std::shared_ptr<variable_state<T>> state, A how, T value)
      : sweep_operation<spread_write>(state->shared_owner()),
        state_(std::move(state)),
        how_(std::move(how)),
        value_(std::move(value)) {}

  void await_resume() { this->rethrow(); }

  void work(std::size_t replica) {
    state_->require_shape(value_);
    if constexpr (std::same_as<Write, assigning>) {
      const std::size_t n = state_->owner().replicas();
      state_->component(replica) = spread_of(how_, value_, replica, n);
    } else {
      Write::write(state_->component(replica), value_);
    }
  }
  std::string call() const { return std::string(Write::verb) + " to \"" + state_->name() + "\""; }

 private:
  std::shared_ptr<variable_state<T>> state_;
  [[no_unique_address]] A how_;
  T value_;
};

}  // namespace troupe::detail
