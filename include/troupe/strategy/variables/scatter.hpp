// scatter.hpp - writes to some rows of a variable.
//
//     const indexed_slices<std::vector<float>> rows({0, 2}, {1.5f, 1}, {3});
//     co_await table.scatter_add(ctx, rows);      // in a replica: by the variable's aggregation
//     co_await table.scatter_add(rows);           // in cross-replica context
//
// In a replica the rows of all replicas are written one after the other, in replica order; by
// the aggregation mean each is divided by the number of replicas, and by only_first_replica
// those of replica 0 are written. A row that is there twice is written twice. Of a minimum, a
// maximum or a new value there is no sum and no mean.
//
// Guarantees
//   whole  rows that do not fit the variable are refused before anything is written.

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "troupe/strategy/reductions/indexed_slices.hpp"
#include "troupe/strategy/variables/aggregation.hpp"

namespace troupe {

namespace detail {

[[noreturn]] void throw_division_by_zero();
[[noreturn]] void throw_rows_of_another_shape(const tensor_shape& rows, const tensor_shape& shape);

// What happens to one number.
struct scatter_adds {
  static constexpr const char* verb = "scatter_add";
  template <class T>
  static void apply(T& to, T from) noexcept {
    to = plus(to, from);
  }
};
struct scatter_subtracts {
  static constexpr const char* verb = "scatter_sub";
  template <class T>
  static void apply(T& to, T from) noexcept {
    to = minus(to, from);
  }
};
struct scatter_multiplies {
  static constexpr const char* verb = "scatter_mul";
  template <class T>
  static void apply(T& to, T from) noexcept {
    to = times(to, from);
  }
};
struct scatter_divides {
  static constexpr const char* verb = "scatter_div";
  template <class T>
  static void apply(T& to, T from) noexcept {
    to = static_cast<T>(to / from);
  }
  /// Of integers it would end the process.
  template <class T>
  static void require_valid(T from) {
    if constexpr (std::integral<T>) {
      if (from == 0) throw_division_by_zero();
    }
  }
};
struct scatter_minimum {
  static constexpr const char* verb = "scatter_min";
  static constexpr bool selects = true;
  template <class T>
  static void apply(T& to, T from) noexcept {
    to = std::min(to, from);
  }
};
struct scatter_maximum {
  static constexpr const char* verb = "scatter_max";
  static constexpr bool selects = true;
  template <class T>
  static void apply(T& to, T from) noexcept {
    to = std::max(to, from);
  }
};
struct scatter_update {
  static constexpr const char* verb = "scatter_update";
  static constexpr bool selects = true;
  template <class T>
  static void apply(T& to, T from) noexcept {
    to = from;
  }
};

/// A write, as assigning and adding are.
template <class Op>
struct scattering {
  static constexpr const char* verb = Op::verb;
  static constexpr bool selects = requires { requires Op::selects; };

  template <class T>
  static void write(T& component, const indexed_slices<T>& rows) {
    const auto to = tensor_traits<T>::values(component);
    if (to.size() != elements_of(rows.dense_shape)) throw_resized_component();
    const auto from = tensor_traits<T>::values(rows.values);
    const std::size_t row = rows.indices.empty() ? 0 : from.size() / rows.indices.size();
    for (std::size_t i = 0; i < rows.indices.size(); ++i) {
      for (std::size_t j = 0; j < row; ++j) {
        Op::apply(to[rows.indices[i] * row + j], from[i * row + j]);
      }
    }
  }

  /// \throws errc::shape_mismatch unless the rows lie inside of `shape`.
  template <class T>
  static void require_valid(const indexed_slices<T>& rows, const tensor_shape& shape) {
    detail::require_valid(view_of(rows));
    if (rows.dense_shape != shape) throw_rows_of_another_shape(rows.dense_shape, shape);
    if constexpr (requires(element_t<T> x) { Op::require_valid(x); }) {
      for (const auto each : tensor_traits<T>::values(rows.values)) Op::require_valid(each);
    }
  }
};

}  // namespace detail

/// The scatter calls of a variable; `rows` is an indexed_slices of the variable's type. In a
/// replica and in cross-replica context, as assign().
template <class Variable>
class scatter_calls {
 public:
  template <class... Rows>
  [[nodiscard("co_await it: nothing is written before")]] auto scatter_add(Rows... rows) const {
    return self().template scatter<detail::scatter_adds>(rows...);
  }
  template <class... Rows>
  [[nodiscard("co_await it: nothing is written before")]] auto scatter_sub(Rows... rows) const {
    return self().template scatter<detail::scatter_subtracts>(rows...);
  }
  template <class... Rows>
  [[nodiscard("co_await it: nothing is written before")]] auto scatter_mul(Rows... rows) const {
    return self().template scatter<detail::scatter_multiplies>(rows...);
  }
  template <class... Rows>
  [[nodiscard("co_await it: nothing is written before")]] auto scatter_div(Rows... rows) const {
    return self().template scatter<detail::scatter_divides>(rows...);
  }
  template <class... Rows>
  [[nodiscard("co_await it: nothing is written before")]] auto scatter_min(Rows... rows) const {
    return self().template scatter<detail::scatter_minimum>(rows...);
  }
  template <class... Rows>
  [[nodiscard("co_await it: nothing is written before")]] auto scatter_max(Rows... rows) const {
    return self().template scatter<detail::scatter_maximum>(rows...);
  }
  template <class... Rows>
  [[nodiscard("co_await it: nothing is written before")]] auto scatter_update(Rows... rows) const {
    return self().template scatter<detail::scatter_update>(rows...);
  }

 private:
  const Variable& self() const noexcept { return static_cast<const Variable&>(*this); }
};

}  // namespace troupe
