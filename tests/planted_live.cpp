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
#include <set>
#include <stdexcept>
#include <string>

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

struct outcome {
  const char* failed = nullptr;  ///< How; null: not at all.
  int runs = 0;
};

outcome run_in_process(const bug& b, int runs) {
  account& told = *make_account();
  std::fflush(stdout);  // Or else the child would print it again.
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process to run in");
  if (child == 0) run_in_child(b, runs, told);
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("a process is lost");
  outcome ended;
  ended.runs = told.begun;
  if (WIFSIGNALED(status)) {
    ended.failed = WTERMSIG(status) == SIGALRM ? "hangs" : "ends its process";
  } else if (told.failed) {
    ended.failed = "fails";
  }
  munmap(&told, sizeof(account));
  return ended;
}

/// What shows a change to the library holds without it: what is found is the change.
void require_hold_unchanged(const bugs& all, int runs) {
  std::set<program> seen;
  for (bug b : all) {
    if (b.mutant == 0 || !seen.insert(b.body).second) continue;
    b.mutant = 0;
    const outcome ended = run_in_process(b, runs);
    if (!ended.failed) continue;
    throw std::runtime_error(std::string(b.name) + ": without it, its program " + ended.failed +
                             " in live run " + std::to_string(ended.runs));
  }
}

}  // namespace

void run_live(const bugs& all, int runs) {
  require_hold_unchanged(all, runs);
  std::size_t found = 0;
  std::uint64_t made = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (const bug& b : all) {
    const outcome ended = run_in_process(b, runs);
    made += static_cast<std::uint64_t>(ended.runs);
    if (ended.failed) {
      ++found;
      std::printf("%-56s depth %d  %s in run %d\n", b.name, b.depth, ended.failed, ended.runs);
    } else {
      std::printf("%-56s depth %d  not found in %d runs\n", b.name, b.depth, ended.runs);
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("%zu of %zu found in %llu live runs, %.0f s\n", found, all.size(),
              static_cast<unsigned long long>(made), taken.count());
}

}  // namespace troupe::planted
