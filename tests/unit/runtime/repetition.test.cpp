// Runs are repeated: a program that something besides the world orders is reported, with the
// step at which it takes another course.

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/walkers.hpp"
#include "troupe/core/recycling.hpp"

namespace troupe::test {
namespace {

exploration explored(const simulation::program& body) {
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 50;
  options.samples = 50;
  return simulation(options).explore(body);
}

/// Requires the verdict, and that it names a step.
void takes_another_course(const exploration& report) {
  INFO(report.text());
  REQUIRE(report.failure);
  CHECK(is(report.failure->exception, errc::schedule_diverged));
  CHECK(report.failure->what.find("another course under the same schedule: step ") !=
        std::string::npos);
  CHECK(report.failure->what.find("in a repetition it ") != std::string::npos);
}

/// Sends two walkers, one after the other, the second one first if `swapped`.
task<> walk_in_order(world& w, bool swapped) {
  footprints seen;
  walker first(w.runtime(), 0, &seen);
  walker second(w.runtime(), 1, &seen);
  for (int i = 0; i < 2; ++i) {
    answer<int> end;
    (swapped ? second : first).tell(walk(1, end.to()));
    co_await end;
    swapped = !swapped;
  }
}

TEST_CASE("a program ordered by a static counter is reported with the step that differs") {
  static int runs = 0;
  takes_another_course(explored([](world& w) -> task<> {
    if (++runs % 2 == 0) co_await sleep_for(std::chrono::milliseconds(1));
    co_await walk_all(w, 2, 1);
  }));
}

TEST_CASE("a counter that changes nothing but whose turn it is is reported, too") {
  static int runs = 0;
  takes_another_course(explored([](world& w) { return walk_in_order(w, ++runs % 2 == 0); }));
}

TEST_CASE("a program that takes another course after many runs only is reported") {
  static int runs = 0;
  const auto report = explored([](world& w) -> task<> {
    // By then the first run has been repeated often enough.
    if (++runs > 20 && runs % 2 == 0) co_await sleep_for(std::chrono::milliseconds(1));
    co_await walk_all(w, 3, 3);
  });
  REQUIRE(report.failure);
  CHECK(is(report.failure->exception, errc::schedule_diverged));
}

TEST_CASE("a program that chooses among other values in a repetition is reported") {
  static std::uint32_t runs = 0;
  const auto report = explored([](world& w) -> task<> {
    static_cast<void>(w.choose(2 + ++runs % 2));
    co_return;
  });
  takes_another_course(report);
  CHECK(report.failure->what.find("a choose(") != std::string::npos);
}

TEST_CASE("what is drawn on several threads is repeated, too") {
  static std::atomic<std::uint32_t> runs = 0;
  simulation_options options;
  options.heed_environment = false;
  options.partial_orders = false;
  options.exhaustive = 1;
  options.samples = 300;
  options.jobs = 2;
  takes_another_course(simulation(options).explore([](world& w) -> task<> {
    const std::uint32_t run = ++runs;
    static_cast<void>(w.choose(run > 20 ? 2 + run % 7 : 2));
    co_return;
  }));
}

TEST_CASE("a program that holds, and fails when repeated, is reported with that failure") {
  static int runs = 0;
  const auto report = explored([](world& w) -> task<> {
    w.check(++runs % 2 != 0, "odd");
    co_return;
  });
  REQUIRE(report.failure);
  CHECK(report.failure->what.find("in a repetition it failed: does not hold: odd") !=
        std::string::npos);
}

TEST_CASE(
    "a program that fails, and holds when repeated, is reported as its failure, with a note") {
  static int runs = 0;
  const auto report = explored([](world& w) -> task<> {
    w.check(++runs != 1, "not the first");
    co_return;
  });
  REQUIRE(report.failure);
  CHECK(is_a<check_failed>(report.failure->exception));
  CHECK(report.failure->what.find("it did not fail again") != std::string::npos);
}

// -- order by addresses --------------------------------------------------------------------------

/// Lets walkers walk one after the other, in the order of the addresses of what they own.
template <class Owned>
task<> walk_by_address(world& w) {
  footprints seen;
  std::vector<std::unique_ptr<walker>> all;
  std::map<const Owned*, std::size_t> by_address;
  std::vector<std::unique_ptr<Owned>> owned;
  for (std::size_t i = 0; i < 3; ++i) {
    all.push_back(std::make_unique<walker>(w.runtime(), static_cast<int>(i), &seen));
    owned.push_back(std::make_unique<Owned>());
    by_address.emplace(owned.back().get(), i);
  }
  co_await walk_all(w, 2, 2);  // Has several schedules.
  for (const auto& [address, i] : by_address) {
    answer<int> end;
    all[i]->tell(walk(1, end.to()));
    co_await end;
  }
}

template <std::size_t Size>
struct block {
  char bytes[Size] = {};
};

struct alignas(64) recycled_block : detail::recycled {
  char bytes[200] = {};
};

TEST_CASE("a program ordered by addresses is reported with the step that differs") {
#if defined(TROUPE_RECYCLING_OFF)
  SKIP("under AddressSanitizer, new memory is always given out in the order of addresses");
#endif
  for (int i = 0; i < 20; ++i) {
    takes_another_course(explored(walk_by_address<block<16>>));
    takes_another_course(explored(walk_by_address<block<100>>));
    takes_another_course(explored(walk_by_address<block<1000>>));
    takes_another_course(explored(walk_by_address<block<5000>>));
    takes_another_course(explored(walk_by_address<recycled_block>));
  }
}

TEST_CASE("a program that keeps addresses and is not ordered by them holds") {
  const auto report = explored([](world& w) -> task<> {
    std::set<std::unique_ptr<int>> owned;
    for (int i = 0; i < 4; ++i) owned.insert(std::make_unique<int>(i));
    co_await walk_all(w, 2, 2);
  });
  CHECK(report.passed());
}

}  // namespace
}  // namespace troupe::test
