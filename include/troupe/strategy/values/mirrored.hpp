// mirrored.hpp - one value that every replica has.
//
//     co_return mirrored(sum);     // out of a merge function: everybody gets it
//
// Unlike a plain value it says so in its type: reductions of it are defined (its mean is
// itself), and a function that must not get diverging values can ask for one.

#pragma once

#include <concepts>
#include <utility>

namespace troupe {

template <class T>
class mirrored {
 public:
  using value_type = T;

  explicit mirrored(T value) : value_(std::move(value)) {}

  const T& get() const& noexcept { return value_; }
  T get() && { return std::move(value_); }

  friend bool operator==(const mirrored&, const mirrored&)
    requires std::equality_comparable<T>
  = default;

 private:
  T value_;
};

template <class T>
inline constexpr bool is_mirrored = false;
template <class T>
inline constexpr bool is_mirrored<mirrored<T>> = true;

}  // namespace troupe
