// Each bug runs in a process of its own, which it may hang or end.

#include "tests/planted_live.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace troupe::planted {
namespace {

/// A run that takes longer hangs: they take milliseconds.
constexpr unsigned seconds_for_a_run = 3;

/// What a process tells of its runs; shared with the one that waits for it.
struct account {
  volatile int begun = 0;
  volatile bool failed = false;
};

account* make_account() {
  void* const room =
      mmap(nullptr, sizeof(account), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::runtime_error("no memory to share");
  return new (room) account();
}

task<> on_stage(runtime& live, std::uint64_t seed, program body) {
  stage here(live, seed);
  co_await body(here);
}

/// Nothing of the runtime is left to unwind after a failure: the process ends as it is.
[[noreturn]] void run_in_child(const bug& b, int runs, account& tells) {
  active = b.mutant;
  if (!std::freopen("/dev/null", "w", stderr)) _exit(1);
  runtime live(pool_size(2));
  for (int i = 1; i <= runs; ++i) {
    tells.begun = i;
    alarm(seconds_for_a_run);
    try {
      block_on(live, on_stage(live, static_cast<std::uint64_t>(i), b.body));
    } catch (...) {
      tells.failed = true;
      _exit(0);
    }
  }
  _exit(0);
}

const char* verdict(int status, const account& told) {
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? "hangs" : "ends its process";
  return told.failed ? "fails" : nullptr;
}

}  // namespace

void run_live(const bugs& all, int runs) {
  std::size_t found = 0;
  std::uint64_t made = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (const bug& b : all) {
    account& told = *make_account();
    std::fflush(stdout);  // Or else the child would print it again.
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process to run in");
    if (child == 0) run_in_child(b, runs, told);
    int status = 0;
    if (waitpid(child, &status, 0) != child) throw std::runtime_error("a process is lost");
    made += static_cast<std::uint64_t>(told.begun);
    const char* const how = verdict(status, told);
    if (how) {
      ++found;
      std::printf("%-56s depth %d  %s in run %d\n", b.name, b.depth, how, told.begun);
    } else {
      std::printf("%-56s depth %d  not found in %d runs\n", b.name, b.depth, told.begun);
    }
    munmap(&told, sizeof(account));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%zu of %zu found in %llu live runs, %.0f s\n", found, all.size(),
              static_cast<unsigned long long>(made), taken.count());
}

}  // namespace troupe::planted
