// Counts heap calls, so it replaces operator new. Under AddressSanitizer nothing is kept,
// and what is left to claim is that memory goes round without a mistake.

#include "troupe/core/recycling.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <latch>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/support/heap_count.hpp"

namespace troupe::test {
namespace {

#ifdef TROUPE_RECYCLING_OFF
constexpr bool recycling_is_on = false;
#else
constexpr bool recycling_is_on = true;
#endif

/// What heap calls a claim of none comes to where nothing is kept.
void check_none(std::size_t calls) {
  const bool none = calls == 0 || !recycling_is_on;
  INFO(calls << " heap calls");
  CHECK(none);
}

void allocate_and_free(std::size_t bytes, int times) {
  std::vector<void*> blocks;
  blocks.reserve(static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i) blocks.push_back(detail::recycling_allocate(bytes));
  for (void* block : blocks) detail::recycling_free(block, bytes);
}

TEST_CASE("steady: a size that was freed before costs no heap call") {
  allocate_and_free(100, 1);
  check_none(heap_calls_of([] {
    for (int i = 0; i < 1000; ++i) {
      detail::recycling_free(detail::recycling_allocate(100), 100);
    }
  }));
}

TEST_CASE("steady: sizes of one class share their blocks") {
  allocate_and_free(65, 1);
  check_none(heap_calls_of([] { detail::recycling_free(detail::recycling_allocate(128), 128); }));
}

TEST_CASE("aligned: every block begins a line of cache, and every byte of it can be written") {
  for (std::size_t bytes = 0; bytes < 4096; bytes += 61) {
    void* one = detail::recycling_allocate(bytes);
    void* other = detail::recycling_allocate(bytes);
    CHECK(one != other);
    for (void* each : {one, other}) {
      CHECK(reinterpret_cast<std::uintptr_t>(each) % 64 == 0);
      std::memset(each, 0x5a, bytes);
    }
    detail::recycling_free(one, bytes);
    detail::recycling_free(other, bytes);
  }
}

struct alignas(64) line_of_cache {
  unsigned char bytes[64];
};

TEST_CASE("aligned: any number of objects lies at a multiple of their alignment, all writable") {
  recycling_allocator<line_of_cache> memory;
  for (std::size_t n = 1; n < 50; ++n) {
    void* const between = detail::recycling_allocate(16 * n);
    line_of_cache* const all = memory.allocate(n);
    CHECK(reinterpret_cast<std::uintptr_t>(all) % alignof(line_of_cache) == 0);
    std::memset(static_cast<void*>(all), 0x5a, n * sizeof(line_of_cache));
    memory.deallocate(all, n);
    detail::recycling_free(between, 16 * n);
  }
}

struct alignas(64) aligned_object : detail::recycled {
  explicit aligned_object(int v) : value(v) {}
  int value;
};
struct plain_object : detail::recycled {
  explicit plain_object(int v) : value(v) {}
  int value;
};

template <class T>
void check_recycled() {
  const void* first = nullptr;
  {
    const auto once = std::make_unique<T>(1);
    first = once.get();
  }
  check_none(heap_calls_of([&] {
    const auto again = std::make_unique<T>(2);
    CHECK(again->value == 2);
    CHECK((again.get() == first || !recycling_is_on));
    CHECK(reinterpret_cast<std::uintptr_t>(again.get()) % alignof(T) == 0);
  }));
}

TEST_CASE("steady: an object of a recycled class lies where the one before it did") {
  check_recycled<aligned_object>();
  check_recycled<plain_object>();
}

TEST_CASE("plain: a block may be freed on another thread") {
  void* block = detail::recycling_allocate(300);
  std::thread([block] { detail::recycling_free(block, 300); }).join();
  SUCCEED();
}

TEST_CASE("bounded: a thread and the depot keep so many blocks of a size and no more") {
  constexpr std::size_t kept = 2 * detail::recycling_cache::cached_blocks;
  constexpr int many = static_cast<int>(2 * kept);
  allocate_and_free(500, many);
  const auto calls = heap_calls_of([] {
    std::vector<void*> blocks(static_cast<std::size_t>(many));
    for (auto& block : blocks) block = detail::recycling_allocate(500);
    for (void* block : blocks) detail::recycling_free(block, 500);
  });
  CHECK(calls >= kept / detail::recycling_cache::batch_blocks);
}

TEST_CASE("steady: a thread that has run dry gets a batch, from another thread or of the heap") {
  constexpr std::size_t bytes = 700;
  constexpr std::size_t batch = detail::recycling_cache::batch_blocks;
  constexpr std::size_t kept = detail::recycling_cache::cached_blocks;
  std::vector<void*> blocks(2 * kept);
  for (auto& block : blocks) block = detail::recycling_allocate(bytes);
  std::latch brought(1);
  std::latch over(1);
  std::jthread other([&] {
    for (void* block : blocks) detail::recycling_free(block, bytes);
    brought.count_down();
    over.wait();  // What this thread keeps stays with it.
  });
  brought.wait();
  for (std::size_t i = 0; i < kept; ++i) blocks[i] = detail::recycling_allocate(bytes);
  const auto dry = heap_calls_of([&] { blocks[kept] = detail::recycling_allocate(bytes); });
  CHECK(dry >= 1);
  CHECK(dry <= 2);  // A slab, and perhaps a longer list of slabs.
  check_none(heap_calls_of([&] {
    for (std::size_t i = 1; i < batch; ++i) blocks[kept + i] = detail::recycling_allocate(bytes);
  }));
  for (std::size_t i = 0; i < kept + batch; ++i) detail::recycling_free(blocks[i], bytes);
  over.count_down();
}

constexpr std::size_t in_small_slabs = (std::size_t{4} << 20U) / 256;
constexpr std::size_t small_slabs = in_small_slabs / detail::recycling_cache::batch_blocks;
constexpr std::size_t very_many = 3 * in_small_slabs;

TEST_CASE("dense: of very many blocks most need no heap call of their own, all are writable") {
  std::vector<unsigned char*> blocks(very_many);
  const auto calls = heap_calls_of([&] {
    for (auto& block : blocks) {
      block = static_cast<unsigned char*>(detail::recycling_allocate(256));
    }
  });
  CHECK((calls < small_slabs + 50 || !recycling_is_on));
  for (std::size_t i = 0; i < very_many; ++i) {
    std::memset(blocks[i], static_cast<int>(i % 251), 256);
  }
  std::size_t right = 0;
  for (std::size_t i = 0; i < very_many; ++i) {
    if (blocks[i][0] == i % 251 && blocks[i][255] == i % 251) ++right;
  }
  CHECK(right == very_many);
  for (auto* block : blocks) detail::recycling_free(block, 256);
}

TEST_CASE("bounded: what very many blocks took goes back, whichever thread frees them") {
  std::vector<void*> blocks(very_many);
  const auto take_all = [&] {
    for (auto& block : blocks) block = detail::recycling_allocate(256);
  };
  take_all();
  std::thread([&] {
    for (void* block : blocks) detail::recycling_free(block, 256);
  }).join();
  const auto calls = heap_calls_of(take_all);
  CHECK(calls > small_slabs / 2);
  for (void* block : blocks) detail::recycling_free(block, 256);
}

TEST_CASE("plain: a block of many megabytes can be written, and is not kept") {
  constexpr std::size_t bytes = std::size_t{9} << 20U;
  const auto calls = heap_calls_of([] {
    for (int i = 0; i < 3; ++i) {
      void* const block = detail::recycling_allocate(bytes);
      std::memset(block, 0x5a, bytes);
      detail::recycling_free(block, bytes);
    }
  });
  CHECK(calls == 3);
}

TEST_CASE("bounded: large blocks are not kept") {
  constexpr std::size_t large = 100'000;
  allocate_and_free(large, 1);
  CHECK(heap_calls_of([] { detail::recycling_free(detail::recycling_allocate(large), large); }) ==
        1);
}

TEST_CASE("an allocation larger than memory is refused") {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  recycling_allocator<int> memory;
  CHECK_THROWS_AS(memory.allocate(most), std::bad_array_new_length);
  recycling_allocator<char> of_bytes;  // Rounded up to whole blocks it would be nothing.
  CHECK_THROWS_AS(of_bytes.allocate(most), std::bad_array_new_length);
  recycling_allocator<line_of_cache> of_lines;  // Room to align it comes on top.
  CHECK_THROWS_AS(of_lines.allocate(most / sizeof(line_of_cache)), std::bad_array_new_length);
}

// -- what stands on it ----------------------------------------------------------------------------

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 4};
};

task<int> one() { co_return 1; }

task<std::size_t> heap_calls_of_awaits(int n) {
  static_cast<void>(co_await one());
  const std::size_t before = heap_calls.load();
  for (int i = 0; i < n; ++i) static_cast<void>(co_await one());
  co_return heap_calls.load() - before;
}

TEST_CASE_METHOD(fixture, "steady: a repeated task asks the heap for nothing") {
  check_none(block_on(rt, heap_calls_of_awaits(1000)));
}

int first_of(const per_replica<int>& values) { return values[0]; }

task<> merge_in_a_loop(replica_context ctx, int warm, int rounds, std::size_t* calls) {
  for (int i = 0; i < warm; ++i) static_cast<void>(co_await ctx.merge_call(first_of, i));
  const std::size_t before = heap_calls.load();
  for (int i = 0; i < rounds; ++i) static_cast<void>(co_await ctx.merge_call(first_of, i));
  *calls = heap_calls.load() - before;
}

TEST_CASE_METHOD(fixture, "steady: a round of merges asks the heap for nothing") {
  std::size_t calls = 1;
  block_on(rt, strategy.run(merge_in_a_loop, 10, 1000, &calls));
  check_none(calls);
}

task<int> step(replica_context ctx, int value) {
  co_return co_await ctx.merge_call(first_of, value);
}

task<std::size_t> heap_calls_of_runs(const mirrored_strategy* strategy, int n) {
  for (int i = 0; i < 10; ++i) static_cast<void>(co_await strategy->run(step, i));
  const std::size_t before = heap_calls.load();
  for (int i = 0; i < n; ++i) static_cast<void>(co_await strategy->run(step, i));
  co_return heap_calls.load() - before;
}

TEST_CASE_METHOD(fixture, "steady: a repeated run asks the heap for nothing") {
  check_none(block_on(rt, heap_calls_of_runs(&strategy, 1000)));
}

task<std::size_t> heap_calls_of_operations(int n) {
  const auto yield = [](auto handler) {
    const auto where = asio::get_associated_executor(handler);
    asio::post(where, std::move(handler));
  };
  using signature = void();
  for (int i = 0; i < 10; ++i)
    co_await asio::async_initiate<const use_task_t&, signature>(yield, use_task);
  const std::size_t before = heap_calls.load();
  for (int i = 0; i < n; ++i)
    co_await asio::async_initiate<const use_task_t&, signature>(yield, use_task);
  co_return heap_calls.load() - before;
}

TEST_CASE_METHOD(fixture, "steady: a repeated Asio operation asks the heap for nothing") {
  check_none(block_on(rt, heap_calls_of_operations(1000)));
}

}  // namespace
}  // namespace troupe::test
