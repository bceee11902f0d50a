// float16.hpp - float16 and bfloat16: floating-point numbers of 16 bits, as values and as elements.
//
//     std::vector<bfloat16> gradient = …;
//     gradient = co_await ctx.all_reduce(reduce_op::mean, std::move(gradient));
//     float first = gradient[0];              // exact
//     gradient[0] = bfloat16(0.1f);           // rounded: it has to be said
//
// float16 is binary16 of IEEE 754; bfloat16 has float's exponents and seven bits of fraction.
//
// Guarantees
//   rounded  to nearest, ties to even; what is too large is infinite, a NaN stays one;
//   single   an operation is done in float and rounded once. So is a reduction: it is folded in
//            float, and its result is rounded, not each step.
// A double or an integer becomes one by way of float.

#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "troupe/strategy/values/half_bits.hpp"

namespace troupe {

namespace detail {

/// What both have in common. Comparisons are those of float.
template <class Bits>
class half {
 public:
  half() = default;
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr explicit half(T value) noexcept : bits_(Bits::narrow(static_cast<float>(value))) {}

  static constexpr half from_bits(std::uint16_t bits) noexcept {
    half made(0.0f);
    made.bits_ = bits;
    return made;
  }
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  constexpr operator float() const noexcept { return Bits::widen(bits_); }

  constexpr half operator-() const noexcept {
    return from_bits(static_cast<std::uint16_t>(bits_ ^ 0x8000u));
  }
  friend constexpr half operator+(half a, half b) noexcept { return half(float(a) + float(b)); }
  friend constexpr half operator-(half a, half b) noexcept { return half(float(a) - float(b)); }
  friend constexpr half operator*(half a, half b) noexcept { return half(float(a) * float(b)); }
  friend constexpr half operator/(half a, half b) noexcept { return half(float(a) / float(b)); }
  constexpr half& operator+=(half other) noexcept { return *this = *this + other; }
  constexpr half& operator-=(half other) noexcept { return *this = *this - other; }
  constexpr half& operator*=(half other) noexcept { return *this = *this * other; }
  constexpr half& operator/=(half other) noexcept { return *this = *this / other; }

 private:
  std::uint16_t bits_;
};

template <class T>
inline constexpr bool is_half = false;
template <class Bits>
inline constexpr bool is_half<half<Bits>> = true;

/// Numbers with a fraction.
template <class T>
concept fractional = std::floating_point<T> || is_half<T>;

}  // namespace detail

using float16 = detail::half<detail::float16_bits>;
using bfloat16 = detail::half<detail::bfloat16_bits>;

}  // namespace troupe

template <class Bits>
class std::numeric_limits<troupe::detail::half<Bits>> {
  using half = troupe::detail::half<Bits>;
  static constexpr bool wide = std::is_same_v<Bits, troupe::detail::bfloat16_bits>;
  static constexpr half of(unsigned if_wide, unsigned otherwise) noexcept {
    return half::from_bits(static_cast<std::uint16_t>(wide ? if_wide : otherwise));
  }

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool is_iec559 = !wide;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int radix = 2;
  static constexpr int digits = wide ? 8 : 11;
  static constexpr int digits10 = wide ? 2 : 3;
  static constexpr int max_digits10 = wide ? 4 : 5;
  static constexpr int min_exponent = wide ? -125 : -13;
  static constexpr int max_exponent = wide ? 128 : 16;
  static constexpr int min_exponent10 = wide ? -37 : -4;
  static constexpr int max_exponent10 = wide ? 38 : 4;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  static constexpr half min() noexcept { return of(0x0080, 0x0400); }
  static constexpr half max() noexcept { return of(0x7f7f, 0x7bff); }
  static constexpr half lowest() noexcept { return -max(); }
  static constexpr half denorm_min() noexcept { return of(1, 1); }
  static constexpr half epsilon() noexcept { return of(0x3c00, 0x1400); }
  static constexpr half round_error() noexcept { return half(0.5f); }
  static constexpr half infinity() noexcept { return of(0x7f80, 0x7c00); }
  static constexpr half quiet_NaN() noexcept { return of(0x7fc0, 0x7e00); }
  static constexpr half signaling_NaN() noexcept { return of(0x7fa0, 0x7d00); }
};
