// ours_counts.cpp - heap allocations in the steady state, and the heap of a parked replica.
//
// Each count warms up first: what is allocated once and kept is not what C4 asks about.

#include <asio/io_context.hpp>
#include <exception>
#include <functional>
#include <numeric>
#include <thread>
#include <troupe/troupe.hpp>
#include <tuple>
#include <vector>

#include "bench/contenders.hpp"
#include "bench/harness/allocations.hpp"

namespace troupe::bench {

namespace {

constexpr std::uint64_t warm_up = 200;
constexpr std::uint64_t counted_operations = 2'000;
constexpr std::size_t replicas_of_counts = 64;

double per_operation(std::uint64_t allocations) {
  return static_cast<double>(allocations) / static_cast<double>(counted_operations);
}

// --- A merge_call round -------------------------------------------------------------------------

int sum(cross_replica_context, const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

task<std::uint64_t> count_rounds(replica_context ctx, const allocation_count* heap) {
  for (std::uint64_t round = 0; round < warm_up; ++round) {
    co_await ctx.merge_call(sum, 1);
  }
  const std::uint64_t before = heap->so_far().allocations;
  for (std::uint64_t round = 0; round < counted_operations; ++round) {
    co_await ctx.merge_call(sum, 1);
  }
  co_return heap->so_far().allocations - before;
}

double allocations_per_round() {
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, static_cast<int>(replicas_of_counts)};
  const allocation_count heap;
  const per_replica<std::uint64_t> counts = block_on(rt, strategy.run(count_rounds, &heap));
  return per_operation(counts[0]);
}

// --- A run --------------------------------------------------------------------------------------

task<> touch_once(replica_context ctx, replica_slot* slots) {
  ++slots[ctx.replica_id()].runs;
  co_return;
}

task<std::uint64_t> count_runs(mirrored_strategy* strategy, replica_slot* slots,
                               const allocation_count* heap) {
  for (std::uint64_t run = 0; run < warm_up; ++run) {
    co_await strategy->run(touch_once, slots);
  }
  const std::uint64_t before = heap->so_far().allocations;
  for (std::uint64_t run = 0; run < counted_operations; ++run) {
    co_await strategy->run(touch_once, slots);
  }
  co_return heap->so_far().allocations - before;
}

double allocations_per_run() {
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, static_cast<int>(replicas_of_counts)};
  replica_slots slots(replicas_of_counts);
  const allocation_count heap;
  const std::uint64_t allocations = block_on(rt, count_runs(&strategy, slots.data(), &heap));
  expect_every_slot(slots, warm_up + counted_operations);
  return per_operation(allocations);
}

// A program of callbacks: each completion starts the next run.
class run_chain {
 public:
  run_chain(mirrored_strategy& strategy, const allocation_count& heap)
      : strategy_(strategy), heap_(heap), slots_(replicas_of_counts) {}

  void start_next() {
    if (runs_ == warm_up) {
      before_ = heap_.so_far().allocations;
    }
    if (runs_ == warm_up + counted_operations) {
      allocations_ = heap_.so_far().allocations - before_;
      return;
    }
    ++runs_;
    strategy_.async_run(touch_once, std::tuple{slots_.data()},
                        [this](const std::exception_ptr& failure, const auto&...) {
                          failure_ = failure;
                          if (!failure) {
                            start_next();
                          }
                        });
  }

  std::uint64_t allocations() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    expect_every_slot(slots_, warm_up + counted_operations);
    return allocations_;
  }

 private:
  mirrored_strategy& strategy_;
  const allocation_count& heap_;
  replica_slots slots_;
  std::uint64_t runs_ = 0;
  std::uint64_t before_ = 0;
  std::uint64_t allocations_ = 0;
  std::exception_ptr failure_;
};

double allocations_per_async_run() {
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, static_cast<int>(replicas_of_counts)};
  const allocation_count heap;
  run_chain chain(strategy, heap);
  chain.start_next();
  io.run();
  return per_operation(chain.allocations());
}

// --- A parked replica ---------------------------------------------------------------------------

// Measures on a thread of its own: memory that this thread keeps for reuse since an earlier table
// would hide what a replica asks of the heap.
double on_a_new_thread(const std::function<double()>& measure) {
  double result = 0;
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      result = measure();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.join();
  if (failure) {
    std::rethrow_exception(failure);
  }
  return result;
}

struct heap_reading {
  const allocation_count* heap;
  std::int64_t bytes_when_all_are_parked = 0;
};

int read_heap(cross_replica_context, const per_replica<heap_reading*>& readings) {
  heap_reading& reading = *readings[0];
  reading.bytes_when_all_are_parked = reading.heap->so_far().bytes;
  return 0;
}

task<> park(replica_context ctx, heap_reading* reading) {
  co_await ctx.merge_call(read_heap, reading);
}

// What the frame of `park` costs by itself: tasks that nobody starts are frames and nothing else.
task<double> measure_user_frame(replica_context ctx, const allocation_count* heap) {
  constexpr std::size_t frames = 1'000;
  // More than threads and their depot keep for reuse: what follows is asked of the heap.
  constexpr std::size_t kept_for_reuse = 4'096;
  std::vector<task<>> unstarted;
  unstarted.reserve(kept_for_reuse + frames);
  for (std::size_t i = 0; i < kept_for_reuse; ++i) unstarted.push_back(park(ctx, nullptr));
  const std::int64_t before = heap->so_far().bytes;
  for (std::size_t frame = 0; frame < frames; ++frame) {
    unstarted.push_back(park(ctx, nullptr));
  }
  co_return static_cast<double>(heap->so_far().bytes - before) / static_cast<double>(frames);
}

double user_frame_bytes() {
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 1};
  const allocation_count heap;
  return block_on(rt, strategy.run(measure_user_frame, &heap))[0];
}

double parked_replica_bytes(std::size_t replicas) {
  asio::io_context io(1);
  runtime rt{io.get_executor()};
  const allocation_count heap;
  mirrored_strategy strategy{rt, static_cast<int>(replicas)};
  heap_reading reading{.heap = &heap};
  block_on(rt, strategy.run(park, &reading));
  return static_cast<double>(reading.bytes_when_all_are_parked) / static_cast<double>(replicas);
}

}  // namespace

void add_our_allocations(table& contest) {
  contest.contenders.push_back({"round", [](std::uint64_t) { return allocations_per_round(); }});
  contest.contenders.push_back({"run", [](std::uint64_t) { return allocations_per_run(); }});
  contest.contenders.push_back(
      {"async_run", [](std::uint64_t) { return allocations_per_async_run(); }});
}

void add_our_parked_replica(table& contest, std::size_t replicas) {
  const auto parked = [replicas] {
    return on_a_new_thread([replicas] { return parked_replica_bytes(replicas); });
  };
  const auto frame = [] { return on_a_new_thread(user_frame_bytes); };
  contest.contenders.push_back(
      {"troupe", [parked, frame](std::uint64_t) { return parked() - frame(); }});
  contest.contenders.push_back(
      {"troupe_with_user_frame", [parked](std::uint64_t) { return parked(); }});
  contest.contenders.push_back({"user_frame", [frame](std::uint64_t) { return frame(); }});
}

}  // namespace troupe::bench
