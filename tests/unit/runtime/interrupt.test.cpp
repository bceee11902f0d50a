// How far an exploration is, and Ctrl-C while it goes on.

#include <signal.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>

#include "tests/support/explore.hpp"
#include "tests/support/walkers.hpp"

namespace troupe::test {
namespace {

simulation_options heeding() {
  simulation_options options;
  options.heed_environment = false;
  options.progress = nullptr;
  options.heed_interrupt = true;
  return options;
}

/// Presses Ctrl-C in run number `when`, and walks.
simulation::program interrupted_in(int when, int* runs) {
  return [when, runs](world& w) {
    if (++*runs == when) std::raise(SIGINT);
    return [](world& in) -> task<> { co_await walk_all(in, 3, 3); }(w);
  };
}

int heard = 0;
void hear(int) { ++heard; }

/// Hears Ctrl-C instead of the process, for the length of a test.
class listener {
 public:
  listener() : before_(std::signal(SIGINT, hear)) { heard = 0; }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;
  ~listener() { std::signal(SIGINT, before_); }

 private:
  void (*before_)(int);
};

bool listened_to() {
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  return now.sa_handler == hear;
}

TEST_CASE("Ctrl-C ends an exploration after the run under way, with what is known") {
  const listener outside;
  int runs = 0;
  const auto report = simulation(heeding()).explore(interrupted_in(40, &runs));
  CHECK(report.interrupted);
  CHECK_FALSE(report.passed());
  CHECK_FALSE(report.failure);
  CHECK_FALSE(report.complete);
  CHECK(runs == 40);
  CHECK(report.text() == "interrupted: holds under the " + std::to_string(report.schedules) +
                             " schedules tried; there are more");
  CHECK(heard == 0);
}

TEST_CASE("Ctrl-C while schedules are drawn ends it as well") {
  const listener outside;
  auto options = heeding();
  options.exhaustive = 1;
  int runs = 0;
  const auto report = simulation(options).explore(interrupted_in(40, &runs));
  CHECK(report.interrupted);
  CHECK(runs == 40);
}

TEST_CASE("after an exploration Ctrl-C is what it was before") {
  const listener outside;
  int runs = 0;
  simulation(heeding()).explore(interrupted_in(7, &runs));
  CHECK(listened_to());
  simulation(heeding()).explore([](world&) -> task<> { co_return; });
  CHECK(listened_to());
  std::raise(SIGINT);
  CHECK(heard == 1);
}

TEST_CASE("an interrupted exploration does not interrupt the next one") {
  const listener outside;
  int runs = 0;
  simulation(heeding()).explore(interrupted_in(7, &runs));
  CHECK(simulation(heeding()).explore([](world&) -> task<> { co_return; }).passed());
}

TEST_CASE("an exploration that does not heed Ctrl-C leaves it to whoever does") {
  const listener outside;
  auto options = heeding();
  options.heed_interrupt = false;
  options.exhaustive = 50;
  options.samples = 0;
  int runs = 0;
  CHECK_FALSE(simulation(options).explore(interrupted_in(7, &runs)).interrupted);
  CHECK(heard == 1);
}

TEST_CASE("Ctrl-C is left alone where no progress is shown, unless it is asked for") {
  const listener outside;
  auto options = heeding();
  options.heed_interrupt.reset();
  options.exhaustive = 50;
  options.samples = 0;
  int runs = 0;
  CHECK_FALSE(simulation(options).explore(interrupted_in(7, &runs)).interrupted);
  CHECK(heard == 1);
}

TEST_CASE("who is told to ignore Ctrl-C goes on ignoring it") {
  const listener outside;
  std::signal(SIGINT, SIG_IGN);
  auto options = heeding();
  options.exhaustive = 50;
  options.samples = 0;
  int runs = 0;
  CHECK_FALSE(simulation(options).explore(interrupted_in(7, &runs)).interrupted);
}

/// Presses Ctrl-C in its third failing run.
task<> fails_and_interrupts(world& w, int* failures) {
  const footprints seen = co_await walk_all(w, 3, 8);
  int back = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) back += seen[i] < seen[i - 1] ? 1 : 0;
  // Found, made again, and then the first smaller one.
  if (back >= 3 && ++*failures == 3) std::raise(SIGINT);
  w.check(back < 3, "in order");
}

TEST_CASE("Ctrl-C while a failing schedule shrinks leaves the smallest one so far") {
  const listener outside;
  auto options = heeding();
  options.exhaustive = 1;
  int failures = 0;
  const auto report = simulation(options).explore(
      [&failures](world& w) { return fails_and_interrupts(w, &failures); });
  REQUIRE(report.failure);
  CHECK(report.interrupted);
  CHECK(report.failure->replays < 10);
  CHECK(report.text().find("interrupted: there may be a smaller one") != std::string::npos);
}

// -- progress ------------------------------------------------------------------------------------

task<> takes_a_while(world& w, std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  static_cast<void>(w.choose(100));
  co_return;
}

/// An exploration of a hundred such runs.
std::string shown(std::chrono::milliseconds each, std::uint64_t exhaustive) {
  std::ostringstream out;
  auto options = heeding();
  options.progress = &out;
  options.exhaustive = exhaustive;
  options.samples = 99;
  simulation(options).explore([each](world& w) { return takes_a_while(w, each); });
  return out.str();
}

TEST_CASE("a long exploration rewrites one line, and wipes it in the end") {
  const std::string line = shown(std::chrono::milliseconds(20), 1'000);
  INFO(line);
  CHECK(line.find("\r\x1b[Ksimulation: ") == 0);
  CHECK(line.find(" schedules, ") != std::string::npos);
  CHECK(line.find("/s, about ") != std::string::npos);
  CHECK(line.find(" % of all") != std::string::npos);
  CHECK(line.find(" s to go") != std::string::npos);
  CHECK(line.ends_with("\r\x1b[K"));
  CHECK(line.find('\n') == std::string::npos);
}

TEST_CASE("while schedules are drawn the line says how many of how many") {
  const std::string line = shown(std::chrono::milliseconds(15), 1);
  CHECK(line.find(" of 99 drawn, about ") != std::string::npos);
  CHECK(line.find(" s to go") != std::string::npos);
}

TEST_CASE("an exploration of less than a second shows nothing") {
  CHECK(shown(std::chrono::milliseconds(0), 1'000).empty());
}

}  // namespace
}  // namespace troupe::test
