// Replay of what no longer fits, and what the environment says about an exploration.

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/environment.hpp"
#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/walkers.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

task<> in_another_order(world& w) {
  const footprints seen = co_await walk_all(w, 3, 3);
  w.check(!(seen[0] == 2 && seen[1] == 1), "2 and 1 do not come first");
}

simulation isolated() {
  simulation_options options;
  options.why = false;
  options.heed_environment = false;
  return simulation(options);
}

failure found() {
  const auto report = isolated().explore(in_another_order);
  REQUIRE(report.failure);
  return report.failure.value_or(failure());
}

/// Of walkers, by their numbers.
schedule::deviation entry(std::uint32_t after, std::uint32_t own_step, std::uint32_t then) {
  const std::uint32_t kind = schedule::kind_of("walker");
  schedule::deviation d;
  d.after = {kind, after, 0};
  d.own_step = own_step;
  d.then = {kind, then, 0};
  return d;
}

/// A failing schedule with two entries that fit nowhere: a place that is never reached, and a
/// party that does not exist.
std::string with_two_that_do_not_fit(const failure& f) {
  schedule s = parse_schedule(f.schedule);
  s.deviations.insert(s.deviations.begin(), entry(0, 1'000, 0));
  s.deviations.push_back(entry(0, 1, 1'000));
  return to_string(s);
}

TEST_CASE("nearest: a schedule that fits leaves nothing out and fails alike") {
  const failure first = found();
  const auto report = isolated().replay_nearest(in_another_order, first.schedule);
  REQUIRE(report.failure);
  CHECK(report.failure->what == first.what);
  CHECK(report.failure->picture == first.picture);
  CHECK(report.left_out == 0);
  CHECK(report.replayed);
  CHECK(report.schedules == 1);
  CHECK(report.text().find("left out") == std::string::npos);
}

TEST_CASE("nearest: entries that do not fit are left out and counted, and it fails alike") {
  const failure first = found();
  const auto report = isolated().replay_nearest(in_another_order, with_two_that_do_not_fit(first));
  REQUIRE(report.failure);
  CHECK(report.failure->what == first.what);
  CHECK(report.failure->schedule == first.schedule);
  CHECK(report.left_out == 2);
  CHECK(report.text().find("; 2 of its entries did not fit and were left out") !=
        std::string::npos);
}

TEST_CASE("nearest: a second entry for one place is left out") {
  const failure first = found();
  schedule s = parse_schedule(first.schedule);
  s.deviations.push_back(s.deviations.front());
  CHECK(isolated().replay_nearest(in_another_order, to_string(s)).left_out == 1);
}

TEST_CASE("nearest: of another program's schedule all may be left out, and the run holds") {
  const auto report =
      isolated().replay_nearest([](world&) -> task<> { co_return; }, found().schedule);
  CHECK(report.passed());
  CHECK(report.left_out == parse_schedule(found().schedule).deviations.size());
  CHECK(report.text().find("replayed: holds under the given schedule; ") == 0);
}

TEST_CASE("nearest: an unreadable schedule is refused") {
  CHECK(is(thrown_by([] { return isolated().replay_nearest(in_another_order, "tr1:nonsense"); }),
           errc::invalid_schedule));
}

TEST_CASE("a strict replay that does not fit says how to leave out what does not") {
  const auto report = isolated().replay(in_another_order, with_two_that_do_not_fit(found()));
  REQUIRE(report.failure);
  CHECK(is(report.failure->exception, errc::schedule_diverged));
  CHECK(report.failure->what.find("TROUPE_SIM_REPLAY=nearest") != std::string::npos);
}

TEST_CASE("a strict replay that fails before it came to an entry is that failure, and says so") {
  const failure first = found();
  schedule s = parse_schedule(first.schedule);
  s.deviations.push_back(entry(0, 1'000, 0));
  const auto report = isolated().replay(in_another_order, to_string(s));
  REQUIRE(report.failure);
  CHECK(report.failure->what == first.what);
  CHECK(report.left_out == 1);
}

// -- the environment ----------------------------------------------------------------------------

TEST_CASE("TROUPE_SIM_REPLAY=nearest makes the given schedule fit") {
  const environment schedule("TROUPE_SIM_SCHEDULE", with_two_that_do_not_fit(found()));
  const auto strict = simulation().explore(in_another_order);
  INFO(strict.text());
  REQUIRE(strict.failure);
  CHECK(is(strict.failure->exception, errc::schedule_diverged));
  const environment how("TROUPE_SIM_REPLAY", "nearest");
  const auto report = simulation().explore(in_another_order);
  REQUIRE(report.failure);
  CHECK(is_a<check_failed>(report.failure->exception));
  CHECK(report.left_out == 2);
}

TEST_CASE("TROUPE_SIM_REPLAY without a schedule changes nothing") {
  const environment how("TROUPE_SIM_REPLAY", "nearest");
  CHECK_FALSE(simulation().explore([](world&) -> task<> { co_return; }).replayed);
}

TEST_CASE("a TROUPE_SIM_REPLAY that is neither strict nor nearest is refused") {
  const environment schedule("TROUPE_SIM_SCHEDULE", found().schedule);
  const environment how("TROUPE_SIM_REPLAY", "nearets");
  CHECK(
      is(thrown_by([] { return simulation().explore(in_another_order); }), errc::invalid_schedule));
}

std::vector<footprints> drawn(std::uint64_t seed, std::uint64_t samples, bool heed) {
  std::vector<footprints> all;
  simulation_options options;
  options.heed_environment = heed;
  options.exhaustive = 1;
  options.samples = samples;
  options.seed = seed;
  const auto body = [](world& w, std::vector<footprints>* into) -> task<> {
    into->push_back(co_await walk_all(w, 3, 5));
  };
  REQUIRE(simulation(options).explore([&](world& w) { return body(w, &all); }).passed());
  return all;
}

TEST_CASE("TROUPE_SIM_SEED takes the place of the seed") {
  const auto wanted = drawn(77, 20, false);
  const environment seed("TROUPE_SIM_SEED", "77");
  CHECK(drawn(1, 20, true) == wanted);
  CHECK(drawn(1, 20, false) != wanted);
}

TEST_CASE("TROUPE_SIM_SAMPLES takes the place of the number of samples") {
  const environment samples("TROUPE_SIM_SAMPLES", "5");
  simulation_options options;
  options.exhaustive = 1;
  const auto body = [](world& w) -> task<> { co_await walk_all(w, 3, 3); };
  CHECK(simulation(options).explore(body).schedules == 6);
}

TEST_CASE("a TROUPE_SIM_SEED or TROUPE_SIM_SAMPLES that is no number is refused") {
  for (const char* name : {"TROUPE_SIM_SEED", "TROUPE_SIM_SAMPLES"}) {
    for (const char* value : {"many", "-1", "1.5", "7 ", "99999999999999999999999"}) {
      INFO(name << "=" << value);
      const environment set(name, value);
      CHECK(is(thrown_by([] { return simulation().explore(in_another_order); }),
               errc::invalid_schedule));
    }
  }
}

TEST_CASE("an empty TROUPE_SIM_SEED changes nothing") {
  const environment set("TROUPE_SIM_SEED", "");
  CHECK(drawn(7, 10, true) == drawn(7, 10, false));
}

}  // namespace
}  // namespace troupe::test
