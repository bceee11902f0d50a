// contenders.hpp - everybody who takes part, and what they share.
//
// `hand/` holds limits: what this machine does when nothing but the task at hand is written down.
// `peers/` are what users would reach for instead. `ours_*.cpp` is troupe, used as a user would
// use it. The peers that are packages are compiled where CMake finds them; elsewhere
// their place in a table says so. `training/` is what several contenders compute.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

// --- A merge_call round: participants with a value each, one sum for all of them ----------------

constexpr std::uint64_t replica_value(std::size_t id) { return 3 + id; }

/// What every participant gets from a round.
constexpr std::uint64_t sum_of_values(std::size_t participants) {
  return 3 * participants + participants * (participants - 1) / 2;
}

void add_hand_barriers(table& contest, std::size_t participants);
void add_asio_barrier(table& contest, std::size_t participants);
void add_caf_barrier(table& contest, std::size_t participants);
void add_openmp_barrier(table& contest, std::size_t participants);
void add_our_merge_call(table& contest, std::size_t replicas);
/// The same, where replicas do not go on in the order of their frames.
void add_our_shuffled_merge_call(table& contest, std::size_t replicas);

// The same on two threads.
void add_hand_rendezvous(table& contest, std::size_t participants);
void add_our_merge_call_on_threads(table& contest, std::size_t replicas);

// --- A stream of messages from one actor to another; see stream.hpp -----------------------------

void add_hand_stream(table& contest);             // On one thread.
void add_concurrentqueue_stream(table& contest);  // On two threads.
void add_caf_stream(table& contest);              // On two threads.
void add_our_stream(table& contest, std::size_t threads);

// --- A run of an empty replica function ---------------------------------------------------------

/// What a replica touches to prove that it ran; two lines apart from its neighbour.
struct alignas(128) replica_slot {
  std::uint64_t runs = 0;
};
using replica_slots = std::vector<replica_slot>;

/// \throws wrong_result unless every replica ran once in each of `runs` runs.
void expect_every_slot(const replica_slots& slots, std::uint64_t runs);

void add_hand_runs(table& contest, std::size_t replicas);
void add_asio_runs(table& contest, std::size_t replicas);
void add_taskflow_run(table& contest, std::size_t replicas);
void add_tbb_run(table& contest, std::size_t replicas);
void add_openmp_run(table& contest, std::size_t replicas);
void add_our_run(table& contest, std::size_t replicas);

// The same of two replicas on a pool of two threads, asked by another thread, once in a while.
inline constexpr std::chrono::microseconds long_enough_to_sleep{300};
inline constexpr std::uint64_t runs_beside_sleepers = 512;  // In a sample, at most.
void add_our_run_beside_sleepers(table& contest);
/// A thread that sleeps is woken and answers.
void add_sleeping_thread(table& contest);

// --- Counts -------------------------------------------------------------------------------------

/// Heap the frame of a participant at the hand-written barrier takes.
std::size_t hand_frame_bytes();

void add_our_allocations(table& contest);
void add_our_message_allocations(table& contest);
void add_our_parked_replica(table& contest, std::size_t replicas);
void add_our_wake_ups(table& contest, std::size_t replicas);

// --- Variables ----------------------------------------------------------------------------------

void add_our_assign_add(table& contest);
void add_our_sync_on_read(table& contest);
void add_our_update_messages(table& contest);

// --- Reductions ---------------------------------------------------------------------------------

void add_hand_reductions(table& contest, std::size_t replicas, std::size_t bytes);
/// `past` the caches: where that is faster.
void add_openmp_reductions(table& contest, std::size_t replicas, std::size_t bytes, bool past);
/// Reads all inputs and writes as much as a result.
void add_openmp_bandwidth(table& contest, std::size_t replicas, std::size_t bytes);
void add_our_reduce_call(table& contest, std::size_t replicas, std::size_t bytes);
/// With a remark: from which size on the pool's threads share a reduction, and should here.
void add_our_reductions(table& contest, std::size_t replicas, std::size_t bytes);
/// `tensors` of them together have so many bytes for each replica.
void add_our_tensor_reductions(table& contest, std::size_t replicas, std::size_t tensors,
                               std::size_t bytes);

/// All-reduces in place: of two replicas on two threads, and of two processes.
void add_our_all_reduce(table& contest, std::size_t bytes);
void add_gloo_all_reduce(table& contest, std::size_t bytes);
void add_mpi_all_reduce(table& contest, std::size_t bytes);

// --- Training -----------------------------------------------------------------------------------

/// A step of two replicas of mlp, so wide; and what of it is due to sharing, told by so many steps.
void add_openmp_training(table& contest, std::size_t width, std::uint64_t steps);
void add_our_training(table& contest, std::size_t width, std::uint64_t steps);

// --- Peers that are not there -------------------------------------------------------------------

inline void skip(table& contest, std::string name, std::string reason) {
  contest.absent.push_back({std::move(name), std::move(reason)});
}

#ifndef TROUPE_BENCH_CAF
inline void add_caf_barrier(table& contest, std::size_t) {
  skip(contest, "caf_barrier_actor", "CAF 0.17 is not installed");
}
inline void add_caf_stream(table& contest) {
  skip(contest, "caf_2_workers", "CAF 0.17 is not installed");
}
#endif

#ifndef TROUPE_BENCH_OPENMP
inline void add_openmp_barrier(table& contest, std::size_t) {
  skip(contest, "openmp_barrier", "OpenMP is not installed");
}
inline void add_openmp_run(table& contest, std::size_t) {
  skip(contest, "openmp_parallel_for", "OpenMP is not installed");
}
inline void add_openmp_reductions(table& contest, std::size_t, std::size_t, bool) {
  skip(contest, "openmp_fused", "OpenMP is not installed");
}
inline void add_openmp_bandwidth(table& contest, std::size_t, std::size_t) {
  skip(contest, "bandwidth", "OpenMP is not installed");
}
#endif

#ifndef TROUPE_BENCH_TBB
inline void add_tbb_run(table& contest, std::size_t) {
  skip(contest, "tbb_parallel_for", "TBB is not installed");
}
#endif

#ifndef TROUPE_BENCH_TRAINING
inline void add_openmp_training(table& contest, std::size_t, std::uint64_t) {
  skip(contest, "openmp_overhead", "OpenBLAS or OpenMP is not installed");
}
inline void add_our_training(table& contest, std::size_t, std::uint64_t) {
  skip(contest, "troupe_overhead", "OpenBLAS or OpenMP is not installed");
}
#endif

}  // namespace troupe::bench
