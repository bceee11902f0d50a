// No single way of drawing schedules finds everything. Each of these bugs is out of reach for
// some of the ways, and the portfolio finds all of them.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/walkers.hpp"

namespace troupe::test {
namespace {

constexpr int slow_steps = 20;

/// Requires that 2,000 drawn schedules find the bug, whatever the seed.
void found_by_samples(const simulation::program& body) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    INFO("seed " << seed);
    simulation_options options;
    options.exhaustive = 1;
    options.samples = 2'000;
    options.seed = seed;
    CHECK(is_a<check_failed>(explore_to_failure(body, options).exception));
  }
}

// Walker 1 takes all of its steps before walker 0 takes its first.
task<> one_is_slow(world& w) {
  const footprints seen = co_await walk_all(w, 4, slow_steps);
  const auto first = std::find(seen.begin(), seen.end(), 0);
  w.check(std::count(seen.begin(), first, 1) < slow_steps, "nobody is that slow");
}

TEST_CASE("a bug that needs one party to be slow for 20 steps is found by samples") {
  // In the default order walker 0 comes first: its own steps go before.
  found_by_samples(one_is_slow);
}

/// The longest strict alternation of walkers 0 and 1, whatever walker 2 does between.
int longest_alternation(footprints seen) {
  std::erase(seen, 2);
  int longest = 0;
  int now = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) {
    now = seen[i] != seen[i - 1] ? now + 1 : 0;
    longest = std::max(longest, now);
  }
  return longest;
}

task<> two_alternate(world& w) {
  const footprints seen = co_await walk_all(w, 3, slow_steps);
  w.check(longest_alternation(seen) < 10, "no two alternate for long");
}

TEST_CASE("a bug that needs two parties to alternate ten times is found by samples") {
  found_by_samples(two_alternate);
}

// Walker 2 comes last of all, while the two others mix: neither priorities nor chance do both.
task<> one_is_starved(world& w) {
  const footprints seen = co_await walk_all(w, 3, slow_steps);
  const auto first = std::find(seen.begin(), seen.end(), 2);
  int changes = 0;
  for (auto at = seen.begin() + 1; at < first; ++at) changes += *at != *(at - 1) ? 1 : 0;
  w.check(first - seen.begin() < 2 * slow_steps || changes < 12, "nobody is left out that long");
}

TEST_CASE("a bug that needs a party to be starved while the others mix is found by samples") {
  found_by_samples(one_is_starved);
}

std::vector<footprints> drawn(std::uint64_t seed) {
  std::vector<footprints> all;
  simulation_options options;
  options.heed_environment = false;
  options.exhaustive = 1;
  options.samples = 64;
  options.seed = seed;
  const auto body = [](world& w, std::vector<footprints>* into) -> task<> {
    into->push_back(co_await walk_all(w, 3, 6));
  };
  REQUIRE(simulation(options).explore([&](world& w) { return body(w, &all); }).passed());
  return all;
}

TEST_CASE("a seed draws the same schedules every time, of every kind") {
  const auto first = drawn(11);
  CHECK(first == drawn(11));
  CHECK(first != drawn(12));
}

TEST_CASE("drawn schedules differ from each other") {
  auto all = drawn(3);
  std::sort(all.begin(), all.end());
  const auto distinct = std::unique(all.begin(), all.end()) - all.begin();
  CHECK(distinct > 40);
}

}  // namespace
}  // namespace troupe::test
