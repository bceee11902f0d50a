// loops.hpp - the loops of all kernels, written for the compiler to vectorise. Included once by
// the file of each level.
//
// All that is here has internal linkage, and nothing is included that has not: a function that
// two levels shared would be linked from either, and the machine may lack its instructions.

#pragma once

#include <cstddef>
#include <cstdint>

#include "strategy/kernels/table.hpp"
#include "troupe/strategy/values/half_bits.hpp"

// Iterations are independent even where the result is the first input: each element is read
// before it is written.
#if defined(__clang__)
#define TROUPE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TROUPE_INDEPENDENT _Pragma("GCC ivdep")
#else
#define TROUPE_INDEPENDENT
#endif

namespace troupe::detail {

namespace {

// -- arithmetic on one element --------------------------------------------------------------------
// A scheme has the types in, acc and out; widen(in), combine(acc, acc), finish(acc, replicas).

template <class T>
struct as_it_is {
  using in = T;
  using acc = T;
  using out = T;
  static acc widen(in x) noexcept { return x; }
  static out finish(acc x, std::size_t) noexcept { return x; }
};

float settle(float x) noexcept { return x == x ? x : __builtin_nanf(""); }
double settle(double x) noexcept { return x == x ? x : __builtin_nan(""); }

/// Sums, products, minima and maxima that are not a number are always the same one.
template <class T>
struct settled : as_it_is<T> {
  static T finish(T x, std::size_t) noexcept { return settle(x); }
};
template <>
struct settled<std::uint8_t> : as_it_is<std::uint8_t> {};
template <>
struct settled<std::uint16_t> : as_it_is<std::uint16_t> {};
template <>
struct settled<std::uint32_t> : as_it_is<std::uint32_t> {};
template <>
struct settled<std::uint64_t> : as_it_is<std::uint64_t> {};
template <>
struct settled<std::int8_t> : as_it_is<std::int8_t> {};
template <>
struct settled<std::int16_t> : as_it_is<std::int16_t> {};
template <>
struct settled<std::int32_t> : as_it_is<std::int32_t> {};
template <>
struct settled<std::int64_t> : as_it_is<std::int64_t> {};

/// Of integers only the unsigned ones, which wrap around: the signed have the same bits.
template <class T>
struct summed : settled<T> {
  static T combine(T a, T b) noexcept { return static_cast<T>(a + b); }
};

template <class T>
struct multiplied : settled<T> {
  static T combine(T a, T b) noexcept { return static_cast<T>(a * b); }
};
template <>
struct multiplied<std::uint16_t> : settled<std::uint16_t> {
  static std::uint16_t combine(std::uint16_t a, std::uint16_t b) noexcept {
    return static_cast<std::uint16_t>(std::uint32_t{a} * b);  // An int would overflow.
  }
};

/// Which of two goes on: `a` where it is no number or stays before b, otherwise b. One choice with
/// two conditions becomes branches, and no vectors, where several follow each other.
template <class T>
T choose(T a, T b, bool is_number, bool stays) noexcept {
  const T chosen = stays ? a : b;
  return is_number ? chosen : a;
}
template <class Bits, class T>
T choose_bits(T a, T b, bool second) noexcept {
  const Bits mask = Bits{0} - Bits{second};
  return __builtin_bit_cast(
      T, (__builtin_bit_cast(Bits, a) & ~mask) | (__builtin_bit_cast(Bits, b) & mask));
}
float choose(float a, float b, bool is_number, bool stays) noexcept {
  return choose_bits<std::uint32_t>(a, b, is_number & !stays);
}
#if !defined(__SSE2__) || defined(__SSE4_1__)  // SSE2 has no vectors of such masks.
double choose(double a, double b, bool is_number, bool stays) noexcept {
  return choose_bits<std::uint64_t>(a, b, is_number & !stays);
}
#endif

// The first of equals stays, a NaN stays, and a NaN that comes is taken.
template <class T>
struct least : settled<T> {
  static T combine(T a, T b) noexcept { return choose(a, b, a == a, b >= a); }
};
template <class T>
struct most : settled<T> {
  static T combine(T a, T b) noexcept { return choose(a, b, a == a, b <= a); }
};

template <class T>
struct averaged {
  using in = T;
  using acc = T;
  using out = T;
  static acc widen(in x) noexcept { return x; }
  static acc combine(acc a, acc b) noexcept { return a + b; }
  static out finish(acc x, std::size_t n) noexcept { return settle(x / static_cast<T>(n)); }
};

/// Of bytes. Both numbers are exact as float, so that the quotient is rounded once, as if a
/// double had been made a float.
template <class T>
struct averaged_byte {
  using in = T;
  using acc = std::int32_t;
  using out = float;
  static acc widen(in x) noexcept { return x; }
  static acc combine(acc a, acc b) noexcept { return a + b; }
  static out finish(acc x, std::size_t n) noexcept {
    return static_cast<float>(x) / static_cast<float>(n);
  }
};

/// Of integers of 16 bits; 32,768 of them have room in 32.
template <class T>
struct averaged_short {
  using in = T;
  using acc = std::int32_t;
  using out = float;
  static acc widen(in x) noexcept { return x; }
  static acc combine(acc a, acc b) noexcept { return a + b; }
  static out finish(acc x, std::size_t n) noexcept {
    return static_cast<float>(static_cast<double>(x) / static_cast<double>(n));
  }
};

/// Of the others: so many numbers of 32 bits are exact in a double, those of 64 as it is.
template <class T>
struct averaged_long {
  using in = T;
  using acc = double;
  using out = double;
  static acc widen(in x) noexcept { return static_cast<double>(x); }
  static acc combine(acc a, acc b) noexcept { return a + b; }
  static out finish(acc x, std::size_t n) noexcept { return x / static_cast<double>(n); }
};

// -- passes ---------------------------------------------------------------------------------------

/// n elements of all inputs, at once.
template <class S, class... In>
void whole(typename S::out* out, std::size_t n, std::size_t replicas, const typename S::in* head,
           const In*... more) noexcept {
  TROUPE_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    typename S::acc all = S::widen(head[j]);
    ((all = S::combine(all, S::widen(more[j]))), ...);
    out[j] = S::finish(all, replicas);
  }
}

template <class S, class... In>
void begin(typename S::acc* total, std::size_t n, const typename S::in* head,
           const In*... more) noexcept {
  TROUPE_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    typename S::acc all = S::widen(head[j]);
    ((all = S::combine(all, S::widen(more[j]))), ...);
    total[j] = all;
  }
}

template <class S, class... In>
void go_on(typename S::acc* total, std::size_t n, const In*... more) noexcept {
  TROUPE_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    typename S::acc all = total[j];
    ((all = S::combine(all, S::widen(more[j]))), ...);
    total[j] = all;
  }
}

template <class S, class... In>
void end(typename S::out* out, const typename S::acc* total, std::size_t n, std::size_t replicas,
         const In*... more) noexcept {
  TROUPE_INDEPENDENT
  for (std::size_t j = 0; j < n; ++j) {
    typename S::acc all = total[j];
    ((all = S::combine(all, S::widen(more[j]))), ...);
    out[j] = S::finish(all, replicas);
  }
}

template <class S>
const typename S::in* input(const void* const* in, std::size_t i) noexcept {
  return static_cast<const typename S::in*>(in[i]);
}

/// More replicas than are read at once: totals wait in a block that stays in the first cache.
template <class S>
void in_blocks(const void* const* in, std::size_t k, typename S::out* out, std::size_t first,
               std::size_t last) noexcept {
  constexpr std::size_t block = 4096 / sizeof(typename S::acc);
  alignas(64) typename S::acc total[block];
  for (std::size_t j = first; j < last; j += block, out += block) {
    const std::size_t n = last - j < block ? last - j : block;
    const auto at = [&](std::size_t i) { return input<S>(in, i) + j; };
    begin<S>(total, n, at(0), at(1), at(2), at(3));
    std::size_t i = 4;
    for (; k - i > 4; i += 4) go_on<S>(total, n, at(i), at(i + 1), at(i + 2), at(i + 3));
    switch (k - i) {
      case 1: end<S>(out, total, n, k, at(i)); break;
      case 2: end<S>(out, total, n, k, at(i), at(i + 1)); break;
      case 3: end<S>(out, total, n, k, at(i), at(i + 1), at(i + 2)); break;
      default: end<S>(out, total, n, k, at(i), at(i + 1), at(i + 2), at(i + 3));
    }
  }
}

template <class S>
void kernel(const void* const* in, std::size_t k, void* result, std::size_t first,
            std::size_t last) noexcept {
  const std::size_t n = last - first;
  auto* const out = static_cast<typename S::out*>(result);
  const auto at = [&](std::size_t i) { return input<S>(in, i) + first; };
  switch (k) {
    case 1: return whole<S>(out, n, k, at(0));
    case 2: return whole<S>(out, n, k, at(0), at(1));
    case 3: return whole<S>(out, n, k, at(0), at(1), at(2));
    case 4: return whole<S>(out, n, k, at(0), at(1), at(2), at(3));
    case 8: return whole<S>(out, n, k, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
    default: return in_blocks<S>(in, k, out, first, last);
  }
}

// -- numbers of 16 bits ---------------------------------------------------------------------------

template <class Bits>
void widen(const std::uint16_t* from, float* to, std::size_t n) noexcept {
  std::size_t j = 0;
#if defined(__F16C__)
  if constexpr (Bits::is_machines) {
    using eight_halves [[gnu::vector_size(16)]] = short;
    using eight_floats [[gnu::vector_size(32)]] = float;
    for (; j + 8 <= n; j += 8) {
      eight_halves halves;
      __builtin_memcpy(&halves, from + j, sizeof halves);
      const eight_floats floats = __builtin_ia32_vcvtph2ps256(halves);
      __builtin_memcpy(to + j, &floats, sizeof floats);
    }
  }
#endif
  TROUPE_INDEPENDENT
  for (std::size_t i = j; i < n; ++i) to[i] = Bits::widen_as_is(from[i]);
}

template <class Bits>
void narrow(const float* from, std::uint16_t* to, std::size_t n) noexcept {
  std::size_t j = 0;
#if defined(__F16C__)
  if constexpr (Bits::is_machines) {
    using eight_halves [[gnu::vector_size(16)]] = short;
    using eight_floats [[gnu::vector_size(32)]] = float;
    constexpr int to_nearest = 0;
    for (; j + 8 <= n; j += 8) {
      eight_floats floats;
      __builtin_memcpy(&floats, from + j, sizeof floats);
      const eight_halves halves = __builtin_ia32_vcvtps2ph256(floats, to_nearest);
      __builtin_memcpy(to + j, &halves, sizeof halves);
    }
  }
#endif
  TROUPE_INDEPENDENT
  for (std::size_t i = j; i < n; ++i) to[i] = Bits::narrow(from[i]);
}

/// What Scheme does of float, in blocks that stay in the first cache, and rounded when all is
/// done.
template <class Bits, class Scheme>
void kernel_by_float(const void* const* in, std::size_t k, void* result, std::size_t first,
                     std::size_t last) noexcept {
  constexpr std::size_t block = 1024;
  alignas(64) float total[block];
  alignas(64) float more[block];
  auto* out = static_cast<std::uint16_t*>(result);
  for (std::size_t j = first; j < last; j += block, out += block) {
    const std::size_t n = last - j < block ? last - j : block;
    widen<Bits>(static_cast<const std::uint16_t*>(in[0]) + j, total, n);
    for (std::size_t i = 1; i < k; ++i) {
      widen<Bits>(static_cast<const std::uint16_t*>(in[i]) + j, more, n);
      TROUPE_INDEPENDENT
      for (std::size_t x = 0; x < n; ++x) total[x] = Scheme::combine(total[x], more[x]);
    }
    TROUPE_INDEPENDENT
    for (std::size_t x = 0; x < n; ++x) total[x] = Scheme::finish(total[x], k);
    narrow<Bits>(total, out, n);
  }
}

// -- the table ------------------------------------------------------------------------------------

// In the order of element_kind: f32, f64, i8 to i64, u8 to u64, bf16, f16.
template <template <class> class S>
constexpr void fill_wrapping(reduction_kernel* of) noexcept {
  const reduction_kernel row[element_kinds] = {kernel<S<float>>,
                                               kernel<S<double>>,
                                               kernel<S<std::uint8_t>>,
                                               kernel<S<std::uint16_t>>,
                                               kernel<S<std::uint32_t>>,
                                               kernel<S<std::uint64_t>>,
                                               kernel<S<std::uint8_t>>,
                                               kernel<S<std::uint16_t>>,
                                               kernel<S<std::uint32_t>>,
                                               kernel<S<std::uint64_t>>,
                                               kernel_by_float<bfloat16_bits, S<float>>,
                                               kernel_by_float<float16_bits, S<float>>};
  for (std::size_t i = 0; i < element_kinds; ++i) of[i] = row[i];
}

template <template <class> class S>
constexpr void fill_ordered(reduction_kernel* of) noexcept {
  const reduction_kernel row[element_kinds] = {kernel<S<float>>,
                                               kernel<S<double>>,
                                               kernel<S<std::int8_t>>,
                                               kernel<S<std::int16_t>>,
                                               kernel<S<std::int32_t>>,
                                               kernel<S<std::int64_t>>,
                                               kernel<S<std::uint8_t>>,
                                               kernel<S<std::uint16_t>>,
                                               kernel<S<std::uint32_t>>,
                                               kernel<S<std::uint64_t>>,
                                               kernel_by_float<bfloat16_bits, S<float>>,
                                               kernel_by_float<float16_bits, S<float>>};
  for (std::size_t i = 0; i < element_kinds; ++i) of[i] = row[i];
}

constexpr void fill_means(reduction_kernel* of) noexcept {
  const reduction_kernel row[element_kinds] = {kernel<averaged<float>>,
                                               kernel<averaged<double>>,
                                               kernel<averaged_byte<std::int8_t>>,
                                               kernel<averaged_short<std::int16_t>>,
                                               kernel<averaged_long<std::int32_t>>,
                                               kernel<averaged_long<std::int64_t>>,
                                               kernel<averaged_byte<std::uint8_t>>,
                                               kernel<averaged_short<std::uint16_t>>,
                                               kernel<averaged_long<std::uint32_t>>,
                                               kernel<averaged_long<std::uint64_t>>,
                                               kernel_by_float<bfloat16_bits, averaged<float>>,
                                               kernel_by_float<float16_bits, averaged<float>>};
  for (std::size_t i = 0; i < element_kinds; ++i) of[i] = row[i];
}

constexpr kernel_table kernels_compiled_here() noexcept {
  kernel_table made{};
  fill_wrapping<summed>(made.of[static_cast<std::size_t>(kernel_op::sum)]);
  fill_means(made.of[static_cast<std::size_t>(kernel_op::mean)]);
  fill_ordered<least>(made.of[static_cast<std::size_t>(kernel_op::min)]);
  fill_ordered<most>(made.of[static_cast<std::size_t>(kernel_op::max)]);
  fill_wrapping<multiplied>(made.of[static_cast<std::size_t>(kernel_op::product)]);
  return made;
}

}  // namespace

}  // namespace troupe::detail
