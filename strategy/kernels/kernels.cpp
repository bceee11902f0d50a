// kernels.cpp - which level this machine has, and results that go past the caches.

#include "troupe/strategy/reductions/kernels.hpp"

#include <cstdint>
#include <cstring>

#include "strategy/kernels/table.hpp"
#include "troupe/core/contract.hpp"

namespace troupe::detail {

namespace {

#if defined(TROUPE_X86_KERNELS)
/// Whether the machine has F16C, which Clang 17 cannot be asked for by name.
bool converts_halves() noexcept {
  unsigned a = 1, b = 0, c = 0, d = 0;
  asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (c >> 29 & 1u) != 0;
}
#endif

kernel_level detect() noexcept {
#if defined(TROUPE_X86_KERNELS)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !converts_halves()) return kernel_level::portable;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? kernel_level::avx512 : kernel_level::avx2;
#else
  return kernel_level::portable;
#endif
}

const kernel_table& table_of([[maybe_unused]] kernel_level level) noexcept {
#if defined(TROUPE_X86_KERNELS)
  if (level == kernel_level::avx512) return avx512_kernels;
  if (level == kernel_level::avx2) return avx2_kernels;
#endif
  return portable_kernels;
}

#if defined(__SSE2__)

using packet [[gnu::vector_size(16), gnu::may_alias]] = long long;

/// \pre `to` is aligned to 16 bytes, which size is a multiple of.
void copy_past_caches(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  for (std::size_t i = 0; i < size; i += sizeof(packet)) {
    packet each;
    std::memcpy(&each, from + i, sizeof each);
#if defined(__clang__)
    __builtin_nontemporal_store(each, reinterpret_cast<packet*>(to + i));
#else
    __builtin_ia32_movntdq(reinterpret_cast<packet*>(to + i), each);
#endif
  }
}

/// Before anybody is told that the result is there.
void finish_copies() noexcept { __builtin_ia32_sfence(); }

#endif

}  // namespace

kernel_level best_kernel_level() noexcept {
  static const kernel_level best = detect();
  return best;
}

reduction_kernel find_kernel(kernel_op op, element_kind kind, kernel_level level) noexcept {
  TROUPE_ASSERT(level <= best_kernel_level());
  TROUPE_ASSERT(kind != element_kind::none);
  return table_of(level).of[static_cast<std::size_t>(op)][static_cast<std::size_t>(kind)];
}

reduction_kernel find_kernel(kernel_op op, element_kind kind) noexcept {
  return find_kernel(op, kind, best_kernel_level());
}

void run_streaming(const kernel_call& call, std::size_t first, std::size_t last) noexcept {
  std::byte* out = call.out + first * call.out_size;
#if defined(__SSE2__)
  constexpr std::size_t line = 64;
  constexpr std::size_t block_size = 512;  // Larger ones keep several inputs from being read ahead.
  const std::size_t block = block_size / call.out_size;
  // Whole lines only: those that stretches share are written through the caches.
  const std::size_t past = reinterpret_cast<std::uintptr_t>(out) % line;
  std::size_t head = past == 0 ? 0 : (line - past) / call.out_size;
  if (head > last - first) head = last - first;
  if (head != 0) call.kernel(call.in, call.replicas, out, first, first + head);
  first += head;
  out += head * call.out_size;
  alignas(line) std::byte made[block_size];
  for (; last - first >= block; first += block, out += block_size) {
    call.kernel(call.in, call.replicas, made, first, first + block);
    copy_past_caches(out, made, block_size);
  }
  finish_copies();
#endif
  if (first < last) call.kernel(call.in, call.replicas, out, first, last);
}

}  // namespace troupe::detail
