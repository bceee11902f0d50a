// all_reduce_gloo.cpp - two processes that all-reduce with Gloo, over TCP on the loopback device.
//
//     troupe_bench_gloo BYTES ROUNDS FOLDER    # prints the nanoseconds of so many rounds
//
// They meet through files in FOLDER. In place and with a tag that grows, as callers are told to.

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>

#include <memory>
#include <string>

#include "bench/peers/all_reduce_program.hpp"

namespace {

using namespace troupe::bench;

double run_process(int rank, const all_reduce_plan& plan, const std::string& folder) {
  end_in_time();
  gloo::transport::tcp::attr address;
  address.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(address);
  gloo::rendezvous::FileStore store(folder);
  const auto context = std::make_shared<gloo::rendezvous::Context>(rank, 2);
  context->connectFullMesh(store, device);

  void (*const sum)(void*, const void*, const void*, std::size_t) = &gloo::sum<float>;
  std::uint32_t tag = 0;
  return run_rounds(plan, static_cast<std::size_t>(rank), [&](float* values, std::size_t size) {
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setReduceFunction(sum);
    options.setOutput(values, size);
    options.setTag(tag++);
    gloo::allreduce(options);
  });
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    const all_reduce_plan plan = plan_of(argument_count, arguments);
    if (argument_count != 4) throw wrong_result("usage: troupe_bench_gloo BYTES ROUNDS FOLDER");
    const pid_t second = fork();
    if (second < 0) throw wrong_result("no second process");
    const double nanoseconds = run_process(second == 0 ? 1 : 0, plan, arguments[3]);
    if (second == 0) return 0;
    int status = 0;
    if (waitpid(second, &status, 0) != second || status != 0) {
      throw wrong_result("the second process has failed");
    }
    std::printf("%.0f\n", nanoseconds);
    return 0;
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "troupe_bench_gloo: %s\n", wrong.what());
    return 1;
  }
}
