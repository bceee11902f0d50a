// processes.cpp - all-reduces of two processes on this machine, each peer in a program of its own:
// troupe has its two replicas in one process.

#include "bench/contenders.hpp"
#include "bench/harness/program.hpp"

namespace troupe::bench {

namespace {

[[maybe_unused]] std::string plan_text(std::size_t bytes, std::uint64_t rounds) {
  return ' ' + std::to_string(bytes) + ' ' + std::to_string(rounds);
}

#ifdef TROUPE_BENCH_GLOO
double run_gloo(std::size_t bytes, std::uint64_t rounds) {
  const scratch_folder meeting_place;
  return number_printed_by(quoted_for_shell(TROUPE_BENCH_GLOO) + plan_text(bytes, rounds) + ' ' +
                           quoted_for_shell(meeting_place.path()));
}
#endif

#ifdef TROUPE_BENCH_MPI
// Open MPI counts cores, not hardware threads, and is wary of root; neither matters here. Its
// daemon listens to the loopback device alone, and leaves its files where they are removed.
double run_mpi(std::size_t bytes, std::uint64_t rounds) {
  const scratch_folder files;
  return number_printed_by(quoted_for_shell(TROUPE_BENCH_MPIRUN) +
                           " --oversubscribe --allow-run-as-root --mca oob_tcp_if_include lo"
                           " --mca orte_tmpdir_base " +
                           quoted_for_shell(files.path()) + " -n 2 " +
                           quoted_for_shell(TROUPE_BENCH_MPI) + plan_text(bytes, rounds));
}
#endif

}  // namespace

void add_gloo_all_reduce(table& contest, [[maybe_unused]] std::size_t bytes) {
#ifdef TROUPE_BENCH_GLOO
  contest.contenders.push_back(
      {"gloo_2_processes", [bytes](std::uint64_t rounds) { return run_gloo(bytes, rounds); }});
#else
  skip(contest, "gloo_2_processes", "Gloo is not installed");
#endif
}

void add_mpi_all_reduce(table& contest, [[maybe_unused]] std::size_t bytes) {
#ifdef TROUPE_BENCH_MPI
  contest.contenders.push_back(
      {"open_mpi_2_processes", [bytes](std::uint64_t rounds) { return run_mpi(bytes, rounds); }});
#else
  skip(contest, "open_mpi_2_processes", "Open MPI is not installed");
#endif
}

}  // namespace troupe::bench
