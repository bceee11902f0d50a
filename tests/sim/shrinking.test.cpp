// A failing schedule is made as small as it gets before it is reported, and stays that failure.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/walkers.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

simulation_options drawing(std::uint64_t seed = 1) {
  simulation_options options;
  options.why = false;
  options.heed_environment = false;
  options.exhaustive = 1;
  options.samples = 20'000;
  options.seed = seed;
  return options;
}

failure fails(const simulation::program& body, const simulation_options& options) {
  const exploration report = simulation(options).explore(body);
  REQUIRE_FALSE(report.passed());
  REQUIRE(report.failure);
  return report.failure.value_or(failure());
}

std::size_t deviations_of(const failure& f) { return parse_schedule(f.schedule).deviations.size(); }

/// Whether some schedule with one deviation less breaks `body` alike.
bool can_spare_one(const simulation::program& body, const failure& f) {
  const schedule whole = parse_schedule(f.schedule);
  for (std::size_t i = 0; i < whole.deviations.size(); ++i) {
    schedule less = whole;
    less.deviations.erase(less.deviations.begin() + static_cast<std::ptrdiff_t>(i));
    const auto report = simulation(drawing()).replay_nearest(body, to_string(less));
    if (report.failure && report.failure->what == f.what) return true;
  }
  return false;
}

// Depth 1 to 3: so often walker 2, 1, 0 must come in that order against the default.
template <int Depth>
task<> against_the_order(world& w) {
  const footprints seen = co_await walk_all(w, 3, 8);
  int met = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) met += seen[i] < seen[i - 1] ? 1 : 0;
  w.check(met < Depth, "in order");
}

TEST_CASE("a shrunk schedule has no single deviation to spare") {
  const simulation::program bodies[] = {against_the_order<1>, against_the_order<2>,
                                        against_the_order<3>};
  for (const auto& body : bodies) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const failure found = fails(body, drawing(seed));
      INFO(found.schedule);
      CHECK(deviations_of(found) <= found.deviations_found);
      CHECK_FALSE(can_spare_one(body, found));
    }
  }
}

TEST_CASE("a long failing schedule of a shallow bug shrinks to a handful of deviations") {
  const failure found = fails(against_the_order<2>, drawing());
  CHECK(found.deviations_found > 5);
  CHECK(deviations_of(found) <= 3);
}

/// The one bug needs one deviation; what was drawn often comes to it by way of others.
task<> last_before_first(world& w) {
  const footprints seen = co_await walk_all(w, 5, 4);
  const auto last = std::find(seen.begin(), seen.end(), 4);
  w.check(std::count(seen.begin(), last, 0) > 0, "the last one comes after the first one");
}

TEST_CASE("where one party lets the other in and that one a third, one deviation remains") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const failure found = fails(last_before_first, drawing(seed));
    INFO(found.schedule);
    CHECK(deviations_of(found) == 1);
  }
}

TEST_CASE("a shrunk schedule replays strictly 1,000 times out of 1,000") {
  const failure found = fails(against_the_order<3>, drawing());
  const simulation sim(drawing());
  for (int i = 0; i < 1'000; ++i) {
    const auto again = sim.replay(against_the_order<3>, found.schedule);
    REQUIRE(again.failure);
    REQUIRE(again.failure->what == found.what);
    REQUIRE(again.failure->schedule == found.schedule);
    REQUIRE(again.failure->steps == found.steps);
  }
}

// Most schedules fail with a claim that needs both values; without the second value it is
// another claim's failure, with the first one missing too it holds.
task<> two_claims(world& w) {
  const auto a = w.choose(8);
  const auto b = w.choose(8);
  if (a != 0 && b == 0) throw std::runtime_error("another failure");
  w.check(a == 0 || b == 0, "both");
  co_return;
}

TEST_CASE("a schedule that fails in another way is not a smaller one of this failure") {
  const failure found = fails(two_claims, drawing());
  CHECK(is_a<check_failed>(found.exception));
  CHECK(deviations_of(found) == 2);
}

task<> two_places(world& w) {
  const auto a = w.choose(8);
  const auto b = w.choose(8);
  w.check(a == 0 || b != 0, "one claim");
  w.check(a == 0 || b == 0, "another claim");
  co_return;
}

TEST_CASE("two claims at two places are two failures") {
  const failure found = fails(two_places, drawing());
  CHECK(found.what.find("another claim") != std::string::npos);
  CHECK(deviations_of(found) == 2);
}

task<> two_codes(world& w) {
  const auto a = w.choose(8);
  const auto b = w.choose(8);
  if (a == 0) co_return;
  if (b == 0) throw error(errc::cancelled, "another code", "");
  throw error(errc::too_long, "this code", "");
}

TEST_CASE("two codes of the library are two failures") {
  const failure found = fails(two_codes, drawing());
  CHECK(is(found.exception, errc::too_long));
  CHECK(deviations_of(found) == 2);
}

TEST_CASE("the values in a failure's text may change while it shrinks") {
  const failure found = fails(
      [](world& w) -> task<> {
        const auto a = w.choose(8);
        const auto b = w.choose(8);
        w.check(a < 4, "a is " + std::to_string(a) + ", b is " + std::to_string(b));
        co_return;
      },
      drawing());
  CHECK(deviations_of(found) == 1);
  CHECK(found.what.find("b is 0") != std::string::npos);
}

TEST_CASE("a program that fails under the default order has nothing to shrink") {
  const failure found = fails(
      [](world& w) -> task<> {
        static_cast<void>(w.choose(3));
        w.check(false, "never");
        co_return;
      },
      drawing());
  CHECK(deviations_of(found) == 0);
  CHECK(found.deviations_found == 0);
  CHECK(found.replays == 0);
}

/// How often the program is run until it has been reported.
std::uint64_t runs_until_reported(bool shrunk, failure* found) {
  std::uint64_t runs = 0;
  simulation_options options = drawing();
  options.shrink = shrunk;
  *found = fails(
      [&runs](world& w) {
        ++runs;
        return against_the_order<2>(w);
      },
      options);
  return runs;
}

TEST_CASE("the replays that shrinking took are counted, each a run of the program") {
  failure whole;
  failure small;
  const auto without = runs_until_reported(false, &whole);
  const auto with = runs_until_reported(true, &small);
  CHECK(whole.replays == 0);
  CHECK(deviations_of(whole) == small.deviations_found);
  CHECK(small.replays > 0);
  CHECK(with - without == small.replays);
}

TEST_CASE("a shrunk failure's text and picture are those of the shrunk run") {
  const exploration report = simulation(drawing()).explore(against_the_order<2>);
  REQUIRE(report.failure);
  const auto again = simulation(drawing()).replay(against_the_order<2>, report.failure->schedule);
  REQUIRE(again.failure);
  CHECK(report.failure->picture == again.failure->picture);
  CHECK(report.text().find("shrunk:   from " + std::to_string(report.failure->deviations_found)) !=
        std::string::npos);
}

}  // namespace
}  // namespace troupe::test
