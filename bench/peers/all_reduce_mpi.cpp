// all_reduce_mpi.cpp - processes that all-reduce with MPI, over whatever it chooses between them.
//
//     mpirun -n 2 troupe_bench_mpi BYTES ROUNDS    # prints the nanoseconds of so many rounds

#include <mpi.h>

#include "bench/peers/all_reduce_program.hpp"

namespace {

using namespace troupe::bench;

void run_process(const all_reduce_plan& plan) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) throw wrong_result("not two processes");
  const double nanoseconds =
      run_rounds(plan, static_cast<std::size_t>(rank), [](float* values, std::size_t count) {
        MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
      });
  if (rank == 0) std::printf("%.0f\n", nanoseconds);
}

}  // namespace

// A failure inside of MPI ends all processes by itself.
int main(int argument_count, char** arguments) {
  end_in_time();
  MPI_Init(&argument_count, &arguments);
  try {
    run_process(plan_of(argument_count, arguments));
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "troupe_bench_mpi: %s\n", wrong.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
