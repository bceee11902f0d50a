#include "bench/tables.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders.hpp"
#include "bench/harness/neighbour.hpp"
#include "bench/simulation/tables.hpp"

namespace troupe::bench {

namespace {

std::string replicas_text(std::size_t replicas) { return std::to_string(replicas) + " replicas"; }

table merge_call_table(std::size_t replicas) {
  table contest{
      .title = "a merge_call round, " + replicas_text(replicas) + " on the caller's thread",
      .unit = "ns per round"};
  add_our_merge_call(contest, replicas);
  add_hand_barriers(contest, replicas);
  add_asio_barrier(contest, replicas);
  add_caf_barrier(contest, replicas);
  if (replicas == 2) {
    add_openmp_barrier(contest, replicas);
  }
  const double bound = replicas == 2 ? 4 : 2.5;  // The fewer, the more is the round's own.
  contest.goals.push_back(
      {"A1." + std::to_string(replicas),
       contest.title + ": at most " + (replicas == 2 ? "4" : "2.5") + " x the hand-written barrier",
       "troupe", "hand_barrier", bound});
  if (replicas == 64) {
    contest.goals.push_back({"A1.asio", contest.title + ": at least 10 x faster than channels",
                             "troupe", "asio_counter_and_channels", 0.1});
    contest.goals.push_back({"A1.caf", contest.title + ": at least 100 x faster than CAF's actors",
                             "troupe", "caf_barrier_actor", 0.01});
  }
  return contest;
}

table merge_call_on_threads_table(std::size_t replicas) {
  table contest{
      .title = "a merge_call round, " + replicas_text(replicas) + " on a pool of 2 threads",
      .unit = "ns per round"};
  add_our_merge_call_on_threads(contest, replicas);
  add_hand_rendezvous(contest, replicas);
  add_openmp_barrier(contest, replicas);
  if (replicas == 2) {
    contest.goals.push_back({"A2.2", contest.title + ": at most 0.6 x a barrier of OpenMP's",
                             "troupe", "openmp_barrier_2_threads", 0.6});
  } else {
    contest.goals.push_back({"A2." + std::to_string(replicas),
                             contest.title + ": at most 5 x the hand-written rendezvous", "troupe",
                             "hand_rendezvous", 5});
  }
  return contest;
}

table stream_table() {
  table contest{.title = "messages from one actor to another, on a pool of 2 threads",
                .unit = "ns per message"};
  add_our_stream(contest, 2);
  add_concurrentqueue_stream(contest);
  add_caf_stream(contest);
  contest.goals.push_back({"C1", contest.title + ": at most 2 x a bare queue with tokens", "troupe",
                           "concurrentqueue_tokens", 2});
  contest.goals.push_back({"C1.caf", contest.title + ": at least 8 x faster than CAF", "troupe",
                           "caf_2_workers", 0.125});
  return contest;
}

table local_stream_table() {
  table contest{.title = "messages from one actor to another, on one thread",
                .unit = "ns per message"};
  add_our_stream(contest, 1);
  add_hand_stream(contest);
  contest.goals.push_back({"C2", contest.title + ": at most 2.5 x a hand-written mailbox", "troupe",
                           "hand_mailbox", 2.5});
  return contest;
}

/// `quiet` once more, with one of the processors busy. Nobody's names change otherwise.
table beside_neighbour(table quiet, const std::string& id, double unit_bound) {
  quiet.title += ", with and without a busy neighbour";
  quiet.goals.clear();
  quiet.absent.clear();
  for (std::size_t i = 0, alone = quiet.contenders.size(); i < alone; ++i) {
    contender loaded = quiet.contenders[i];
    loaded.name += "_beside_neighbour";
    loaded.run = [run = std::move(loaded.run)](std::uint64_t operations) {
      const busy_neighbour neighbour;
      return run(operations);
    };
    quiet.contenders.push_back(std::move(loaded));
  }
  if (unit_bound != 0) {
    quiet.goals.push_back({"L1." + id, quiet.title + ": below a millisecond",
                           "troupe_beside_neighbour", "", unit_bound});
  } else {
    quiet.goals.push_back({"L1." + id, quiet.title + ": at most 3 x as much beside it",
                           "troupe_beside_neighbour", "troupe", 3});
  }
  return quiet;
}

/// What a neighbour on one processor does to us, and to the limits.
std::vector<table> neighbour_tables() {
  table rounds{.title = "a merge_call round, 64 replicas on the caller's thread",
               .unit = "ns per round"};
  add_our_merge_call(rounds, 64);
  add_hand_barriers(rounds, 64);
  table runs{.title = "run(empty coroutine), 64 replicas on the caller's thread",
             .unit = "ns per run"};
  add_our_run(runs, 64);
  table sums{.title = "the sum of 64 KiB of floats, 2 replicas, on one thread",
             .unit = "ns per sum"};
  add_our_reduce_call(sums, 2, 64 << 10U);
  table meetings{.title = "a merge_call round, 2 replicas on a pool of 2 threads",
                 .unit = "ns per round"};
  add_our_merge_call_on_threads(meetings, 2);
  add_hand_rendezvous(meetings, 2);
  add_openmp_barrier(meetings, 2);
  return {beside_neighbour(std::move(rounds), "A1", 0), beside_neighbour(std::move(runs), "B1", 0),
          beside_neighbour(local_stream_table(), "C2", 0),
          beside_neighbour(std::move(sums), "D1", 0),
          beside_neighbour(std::move(meetings), "A2", 1e6)};
}

table run_table(std::size_t replicas) {
  table contest{
      .title = "run(empty coroutine), " + replicas_text(replicas) + " on the caller's thread",
      .unit = "ns per run"};
  add_our_run(contest, replicas);
  add_hand_runs(contest, replicas);
  add_asio_runs(contest, replicas);
  add_taskflow_run(contest, replicas);
  add_tbb_run(contest, replicas);
  add_openmp_run(contest, replicas);
  contest.goals.push_back({"B1." + std::to_string(replicas),
                           contest.title + ": at most 1.5 x fresh coroutines joined by hand",
                           "troupe", "fresh_coroutines", 1.5});
  return contest;
}

table sleepers_table() {
  table contest{.title = "run(empty coroutine), 2 replicas on a pool of 2 threads that sleep",
                .unit = "us per run"};
  contest.unit_nanoseconds = 1e3;
  add_our_run_beside_sleepers(contest);
  add_sleeping_thread(contest);
  contest.goals.push_back({"B3", contest.title + ": at most 3 us, or else", "troupe", "", 3});
  contest.goals.push_back({"B3.sleeper", "0.15 x a thread that is woken and answers", "troupe",
                           "sleeping_thread", 0.15});
  return contest;
}

// Asio and CAF would need minutes here and decide nothing.
table many_replicas_table() {
  constexpr std::size_t replicas = 100'000;
  table contest{.title = "a merge_call round, 100,000 replicas on the caller's thread",
                .unit = "ns per round"};
  add_our_merge_call(contest, replicas);
  add_hand_barriers(contest, replicas);
  contest.goals.push_back({"F1", contest.title + ": at most 2.5 x the hand-written barrier",
                           "troupe", "hand_barrier", 2.5});
  return contest;
}

table shuffled_replicas_table() {
  constexpr std::size_t replicas = 100'000;
  table contest{.title = "a merge_call round, 100,000 replicas whose frames are in random order",
                .unit = "ns per round"};
  add_our_shuffled_merge_call(contest, replicas);
  contest.goals.push_back(
      {"F1.shuffled", contest.title + ": at most 25 ns a replica", "troupe", "", 25.0 * replicas});
  return contest;
}

table allocations_table() {
  table contest{.title = "heap allocations in the steady state",
                .unit = "per operation",
                .judge = judged_by::maximum};
  add_our_allocations(contest);
  add_our_message_allocations(contest);
  for (const char* what : {"round", "run", "async_run", "message", "message_one_way"}) {
    contest.goals.push_back(
        {std::string("C4.") + what,
         std::string("heap allocations per ") + what + " in the steady state: none", what, "", 0});
  }
  return contest;
}

table parked_replica_table() {
  table contest{.title = "heap of a replica parked in merge_call, one of 10,000",
                .unit = "bytes",
                .judge = judged_by::maximum};
  add_our_parked_replica(contest, 10'000);
  contest.contenders.push_back({"hand_barrier_frame", [](std::uint64_t) {
                                  return static_cast<double>(hand_frame_bytes());
                                }});
  contest.goals.push_back(
      {"F2", contest.title + ", the user's frame aside: at most 512 bytes", "troupe", "", 512});
  return contest;
}

table wake_up_table(std::size_t replicas) {
  table contest{
      .title = "wake-ups of merge_call, " + replicas_text(replicas) + " on a pool of 2 threads",
      .unit = "wake-ups per thread and round",
      .judge = judged_by::maximum};
  add_our_wake_ups(contest, replicas);
  contest.goals.push_back(
      {"G1." + std::to_string(replicas), contest.title + ": at most 1", "troupe", "", 1});
  return contest;
}

table assign_add_table() {
  table contest{.title = "an aggregating assign_add of a float, 2 replicas on the caller's thread",
                .unit = "ns per write"};
  add_our_assign_add(contest);
  contest.goals.push_back({"V1", contest.title + ": at most 3 x a bare merge_call with that sum",
                           "assign_add", "merge_call", 3});
  return contest;
}

table sync_on_read_table() {
  table contest{.title = "an update of what is synchronised on read, in a replica",
                .unit = "ns per update"};
  add_our_sync_on_read(contest);
  contest.goals.push_back({"V2", contest.title + ": at most 5 ns over a plain member's increment",
                           "assign_add", "plain_increment", 1, 5});
  return contest;
}

table update_messages_table() {
  table contest{.title = "an update of 100 variables in one merge, 4 replicas on 2 threads",
                .unit = "messages to an owner",
                .judge = judged_by::maximum};
  add_our_update_messages(contest);
  contest.goals.push_back({"V3", contest.title + ": one message to each owner", "messages", "", 1});
  return contest;
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t mebibyte = 1 << 20;
  return bytes < mebibyte ? std::to_string(bytes >> 10U) + " KiB"
                          : std::to_string(bytes >> 20U) + " MiB";
}

table small_reduction_table(std::size_t bytes) {
  constexpr std::size_t replicas = 2;
  table contest{.title = "the sum of " + size_text(bytes) + " of floats, " +
                         replicas_text(replicas) + ", on one thread",
                .unit = "ns per sum"};
  add_our_reduce_call(contest, replicas, bytes);
  add_hand_reductions(contest, replicas, bytes);
  contest.goals.push_back({"D1." + std::to_string(bytes >> 10U) + "k",
                           contest.title + ": at most 1.2 x the hand-written loop and 150 ns",
                           "troupe", "hand_fused", 1.2, 150});
  return contest;
}

table large_reduction_table(std::size_t replicas, std::size_t mebibytes) {
  const std::size_t bytes = mebibytes << 20U;
  const bool past_caches = mebibytes >= 32;
  table contest{.title = "the sum of " + size_text(bytes) + " of floats, " +
                         replicas_text(replicas) + ", on a pool of 2 threads",
                .unit = "us per sum",
                .unit_nanoseconds = 1000};
  add_our_reductions(contest, replicas, bytes);
  add_hand_reductions(contest, replicas, bytes);
  add_openmp_reductions(contest, replicas, bytes, past_caches);
  const std::string suffix = "." + std::to_string(replicas);
  if (past_caches) {
    add_openmp_bandwidth(contest, replicas, bytes);
    contest.goals.push_back({"D3" + suffix, contest.title + ": at least 0.9 of what memory allows",
                             "troupe", "bandwidth", 1 / 0.9});
  } else {
    contest.goals.push_back({"D2" + suffix, contest.title + ": at most 1.3 x OpenMP's", "troupe",
                             "openmp_fused_2_threads", 1.3});
    contest.goals.push_back({"D2.naive" + suffix,
                             contest.title + ": at least 4 x faster than a naive all-reduce",
                             "troupe", "naive_all_reduce", 0.25});
  }
  return contest;
}

table many_tensors_table() {
  constexpr std::size_t replicas = 2;
  constexpr std::size_t tensors = 100;
  constexpr std::size_t bytes = tensors * (16U << 10U);
  table contest{.title = "the sums of 100 tensors of 16 KiB, " + replicas_text(replicas) +
                         ", on a pool of 2 threads",
                .unit = "us for all",
                .unit_nanoseconds = 1000};
  add_our_tensor_reductions(contest, replicas, tensors, bytes);
  add_hand_reductions(contest, replicas, bytes);
  add_openmp_reductions(contest, replicas, bytes, false);
  contest.goals.push_back(
      {"D5", contest.title + ": at most 1.15 x one pass over the bytes and 30 ns a tensor",
       "troupe", "openmp_fused_2_threads", 1.15, 3});  // Microseconds, as the table's.
  return contest;
}

table processes_table(std::size_t bytes) {
  table contest{.title = "an all-reduce of " + size_text(bytes) +
                         " of floats, 2 replicas on a pool of 2 threads, or 2 processes",
                .unit = "us per all-reduce",
                .unit_nanoseconds = 1000};
  add_our_all_reduce(contest, bytes);
  add_gloo_all_reduce(contest, bytes);
  add_mpi_all_reduce(contest, bytes);
  const std::size_t kibibytes = bytes >> 10U;
  const std::string suffix =
      kibibytes < 1024 ? std::to_string(kibibytes) + "k" : std::to_string(kibibytes >> 10U) + "m";
  contest.goals.push_back({"D6.gloo." + suffix, contest.title + ": at least 10 x faster than Gloo",
                           "troupe", "gloo_2_processes", 0.1});
  contest.goals.push_back({"D6.mpi." + suffix,
                           contest.title + ": at least 3 x faster than Open MPI", "troupe",
                           "open_mpi_2_processes", 1 / 3.0});
  return contest;
}

table training_table(std::size_t width) {
  table contest{.title = "a training step of 2 replicas on 2 threads, " + std::to_string(width) +
                         " hidden units",
                .unit = "us per step",
                .unit_nanoseconds = 1000};
  const std::uint64_t steps = (std::uint64_t{1} << 25U) / (width * width);
  add_our_training(contest, width, steps);
  add_openmp_training(contest, width, steps);
  contest.goals.push_back({"E." + std::to_string(width),
                           contest.title + ", over independent ones: at most 2 x OpenMP's",
                           "troupe_overhead", "openmp_overhead", 2});
  return contest;
}

}  // namespace

std::vector<table> all_tables() {
  std::vector<table> tables;
  for (const std::size_t replicas : {2U, 8U, 64U, 1024U}) {
    tables.push_back(merge_call_table(replicas));
  }
  for (const std::size_t replicas : {2U, 64U}) {
    tables.push_back(merge_call_on_threads_table(replicas));
  }
  for (const std::size_t replicas : {2U, 64U}) {
    tables.push_back(run_table(replicas));
  }
  tables.push_back(sleepers_table());
  tables.push_back(stream_table());
  tables.push_back(local_stream_table());
  tables.push_back(allocations_table());
  tables.push_back(many_replicas_table());
  tables.push_back(shuffled_replicas_table());
  tables.push_back(parked_replica_table());
  for (const std::size_t replicas : {2U, 64U}) {
    tables.push_back(wake_up_table(replicas));
  }
  tables.push_back(assign_add_table());
  tables.push_back(sync_on_read_table());
  tables.push_back(update_messages_table());
  for (const std::size_t kibibytes : {1U, 64U}) {
    tables.push_back(small_reduction_table(kibibytes << 10U));
  }
  for (const std::size_t replicas : {2U, 4U}) {
    tables.push_back(large_reduction_table(replicas, 1));
  }
  for (const std::size_t replicas : {2U, 4U, 8U}) {
    tables.push_back(large_reduction_table(replicas, 100));
  }
  tables.push_back(many_tensors_table());
  for (const std::size_t kibibytes : {1U, 1U << 10U, 100U << 10U}) {
    tables.push_back(processes_table(kibibytes << 10U));
  }
  for (const std::size_t width : {64U, 256U, 1024U}) {
    tables.push_back(training_table(width));
  }
  std::ranges::move(neighbour_tables(), std::back_inserter(tables));
  std::ranges::move(simulation_tables(), std::back_inserter(tables));
  return tables;
}

}  // namespace troupe::bench
