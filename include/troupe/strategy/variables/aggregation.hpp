// aggregation.hpp - how what the replicas bring to a variable becomes one value.
//
//     variable weight(strategy, 1.0f, aggregation::mean);
//     sync_on_read_variable seen(strategy, histogram(), merge_histograms());
//
// Besides the four of the model, a type of your own will do, if it has
//
//     T identity() const;                          // what changes nothing
//     void combine(T& into, const T& more) const;  // associative
//
// Guarantees
//   ordered  values are combined in replica order, whatever the schedule.

#pragma once

#include <concepts>
#include <utility>

#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe {

struct no_aggregation {
  static constexpr const char* name = "none";
  friend bool operator==(no_aggregation, no_aggregation) = default;
};
struct first_op {
  static constexpr const char* name = "only_first_replica";
  friend bool operator==(first_op, first_op) = default;
};

/// aggregation::none, sum, mean, only_first_replica: objects of different types.
struct aggregation {
  static constexpr no_aggregation none{};
  static constexpr sum_op sum{};
  static constexpr mean_op mean{};
  static constexpr first_op only_first_replica{};
};

template <class A, class T>
concept monoid_of = requires(const A& how, T& into, const T& more) {
  { how.identity() } -> std::convertible_to<T>;
  how.combine(into, more);
};

/// What can make one T of many, or says that nothing does.
template <class A, class T>
concept aggregates = std::same_as<A, no_aggregation> || std::same_as<A, first_op> ||
                     (additive_reduction<A> && reducible<T>) || monoid_of<A, T>;

namespace detail {

template <class A>
constexpr const char* name_of_aggregation() noexcept {
  if constexpr (requires { A::name; }) {
    return A::name;
  } else {
    return "custom";
  }
}

/// The values as one. Means of integers are floating.
template <class A, class T>
auto aggregate(const A& how, const per_replica<T>& values) {
  if constexpr (reduction<A>) {
    return reduce(how, values);
  } else if constexpr (std::same_as<A, first_op>) {
    return values[0];
  } else {
    T all = how.identity();
    for (const T& each : values) how.combine(all, each);
    return all;
  }
}

/// Whether one T made of many is a T again.
template <class A, class T>
inline constexpr bool aggregates_to_itself = true;
template <reducible T>
inline constexpr bool aggregates_to_itself<mean_op, T> = std::same_as<reduced_t<T, mean_op>, T>;

[[noreturn]] void throw_resized_component();

/// A component may have been resized where it was to be written as it is.
template <class A, class B>
void require_same_size(const A& component, const B& value) {
  if (component.size() != value.size()) [[unlikely]]
    throw_resized_component();
}

// The three ways to write. Numbers are added element by element.

struct assigning {
  static constexpr const char* verb = "assign";
  template <class T>
  static void write(T& component, const T& value) {
    component = value;
  }
};

struct adding {
  static constexpr const char* verb = "assign_add";
  template <class T>
  static void write(T& component, const T& value) {
    if constexpr (tensor_like<T>) {
      const auto to = tensor_traits<T>::values(component);
      const auto from = tensor_traits<T>::values(value);
      require_same_size(to, from);
      for (std::size_t j = 0; j < to.size(); ++j) to[j] = plus(to[j], from[j]);
    } else {
      component += value;
    }
  }
};

struct subtracting {
  static constexpr const char* verb = "assign_sub";
  template <class T>
  static void write(T& component, const T& value) {
    if constexpr (tensor_like<T>) {
      const auto to = tensor_traits<T>::values(component);
      const auto from = tensor_traits<T>::values(value);
      require_same_size(to, from);
      for (std::size_t j = 0; j < to.size(); ++j) to[j] = minus(to[j], from[j]);
    } else {
      component -= value;
    }
  }
};

}  // namespace detail

}  // namespace troupe
