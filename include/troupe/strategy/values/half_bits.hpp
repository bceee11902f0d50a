// half_bits.hpp - floating-point numbers of 16 bits as bits: what float16.hpp and the compiled
// reductions convert them by.
//
// Guarantees
//   exact    to float nothing is lost; from float it is rounded to nearest, ties to even. A NaN
//            stays one, and is quiet afterwards;
//   inlined  always: the reductions are compiled for other machines than their callers.

#pragma once

#include <cstdint>

#if defined(__GNUC__)
#define TROUPE_ALWAYS_INLINE [[gnu::always_inline]] inline
#else
#define TROUPE_ALWAYS_INLINE inline
#endif

namespace troupe::detail {

/// Eight bits of exponent and seven of fraction: the upper half of a float.
struct bfloat16_bits {
  static constexpr bool is_machines = false;

  /// Cheaper: a signalling NaN keeps signalling.
  TROUPE_ALWAYS_INLINE static constexpr float widen_as_is(std::uint16_t bits) noexcept {
    return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
  }
  TROUPE_ALWAYS_INLINE static constexpr float widen(std::uint16_t bits) noexcept {
    const std::uint32_t wide = std::uint32_t{bits} << 16;
    const bool nan = (wide & 0x7fff'ffffu) > 0x7f80'0000u;
    return __builtin_bit_cast(float, nan ? wide | 0x0040'0000u : wide);
  }

  TROUPE_ALWAYS_INLINE static constexpr std::uint16_t narrow(float value) noexcept {
    const auto wide = __builtin_bit_cast(std::uint32_t, value);
    const bool nan = (wide & 0x7fff'ffffu) > 0x7f80'0000u;
    const std::uint32_t rounded = (wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16;
    return static_cast<std::uint16_t>(nan ? (wide >> 16) | 0x0040u : rounded);
  }
};

/// Five bits of exponent and ten of fraction: binary16 of IEEE 754.
struct float16_bits {
  static constexpr bool is_machines = true;  ///< x86 converts them itself, to the same bits.

  TROUPE_ALWAYS_INLINE static constexpr float widen_as_is(std::uint16_t bits) noexcept {
    return widen(bits);
  }
  TROUPE_ALWAYS_INLINE static constexpr float widen(std::uint16_t bits) noexcept {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t exponent = bits & 0x7c00u;
    const std::uint32_t fraction = bits & 0x03ffu;
    // Exponents begin 112 higher; the last one stays the last.
    const std::uint32_t normal = ((exponent | fraction) << 13) + (112u << 23);
    const std::uint32_t last = (normal + (112u << 23)) | (fraction != 0 ? 0x0040'0000u : 0u);
    const float small = static_cast<float>(static_cast<std::int32_t>(fraction)) * 0x1p-24f;
    const std::uint32_t magnitude = exponent == 0         ? __builtin_bit_cast(std::uint32_t, small)
                                    : exponent == 0x7c00u ? last
                                                          : normal;
    return __builtin_bit_cast(float, sign | magnitude);
  }

  TROUPE_ALWAYS_INLINE static constexpr std::uint16_t narrow(float value) noexcept {
    const auto wide = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t sign = (wide >> 16) & 0x8000u;
    const std::uint32_t magnitude = wide & 0x7fff'ffffu;
    const std::uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x03ffu);
    const std::uint32_t normal =
        ((magnitude + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
    // Added to a half, the last bit of the sum is the last bit that there is.
    const float small = __builtin_bit_cast(float, magnitude) + 0.5f;
    const std::uint32_t tiny = __builtin_bit_cast(std::uint32_t, small) - 0x3f00'0000u;
    const std::uint32_t rounded = magnitude > 0x7f80'0000u    ? nan
                                  : magnitude >= 0x477f'f000u ? 0x7c00u
                                  : magnitude < 0x3880'0000u  ? tiny
                                                              : normal;
    return static_cast<std::uint16_t>(sign | rounded);
  }
};

}  // namespace troupe::detail

#undef TROUPE_ALWAYS_INLINE
