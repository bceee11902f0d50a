// What a schedule calls the parties of a run: it must find them again when others came or went.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/outcome.hpp"
#include "tests/support/walkers.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

simulation isolated() {
  simulation_options options;
  options.why = false;
  options.heed_environment = false;
  return simulation(options);
}

/// What an author changes beside the walkers in question.
struct setting {
  int others = 0;         ///< Walkers made before them, who walk meanwhile.
  int merges = 1;         ///< Of replicas that have gone before the walkers are made.
  int earlier_steps = 1;  ///< Of walkers with the same numbers, who have gone, too.
  int steps_of_others = 1;
};

task<> meet(replica_context ctx, int merges) {
  for (int i = 0; i < merges; ++i) co_await ctx.merge_call([] {});
}

task<> replicas_that_go(world& w, int merges) {
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(meet, merges);
}

/// Two walkers of three steps; the second one must not come first and let the first one in.
task<> of_two_walkers(world& w, setting beside) {
  footprints unseen;
  std::vector<std::unique_ptr<walker>> others;
  std::vector<std::unique_ptr<answer<int>>> ends;
  co_await replicas_that_go(w, beside.merges);
  co_await walk_all(w, 2, beside.earlier_steps);
  for (int i = 0; i < beside.others; ++i) {
    others.push_back(std::make_unique<walker>(w.runtime(), 10 + i, &unseen));
    ends.push_back(std::make_unique<answer<int>>());
    others.back()->tell(walk(beside.steps_of_others, ends.back()->to()));
  }
  const footprints seen = co_await walk_all(w, 2, 3);
  w.check(!(seen[0] == 1 && seen[1] == 0), "the second one lets the first one in");
  for (auto& each : ends) co_await *each;
}

simulation::program in(setting beside) {
  return [beside](world& w) { return of_two_walkers(w, beside); };
}

failure found_in(setting beside) {
  const exploration report = isolated().explore(in(beside));
  REQUIRE(report.failure);
  return report.failure.value_or(failure());
}

/// Strictly: every entry of the schedule is met.
void require_same_failure(setting beside, const failure& first) {
  const exploration report = isolated().replay(in(beside), first.schedule);
  INFO(report.text());
  REQUIRE(report.failure);
  CHECK(report.failure->what == first.what);
}

TEST_CASE("a schedule finds its parties again when others are made before them") {
  setting more;
  more.others = 3;
  require_same_failure(more, found_in(setting()));
}

TEST_CASE("a schedule finds its parties again when others take more steps") {
  setting few;
  few.others = 2;
  setting many = few;
  many.steps_of_others = 9;
  require_same_failure(many, found_in(few));
  require_same_failure(few, found_in(many));
}

TEST_CASE("who comes after others have gone has steps of its own, whatever those did") {
  setting more;
  more.merges = 4;
  require_same_failure(more, found_in(setting()));
  more.earlier_steps = 7;
  require_same_failure(more, found_in(setting()));
}

TEST_CASE("parties of one kind and index are told apart by how many came before") {
  const failure first = found_in(setting());
  const std::uint32_t walkers = schedule::kind_of("walker");
  std::size_t named = 0;
  for (const auto& each : parse_schedule(first.schedule).deviations) {
    for (const auto& name : {each.after, each.then}) {
      if (name.kind != walkers) continue;
      ++named;
      CHECK(name.life == 1);
    }
  }
  CHECK(named > 0);
}

task<> many_lives(world& w, int lives) {
  for (int i = 0; i < lives; ++i) co_await walk_all(w, 1, 1);
  const footprints seen = co_await walk_all(w, 2, 1);
  w.check(seen[0] == 0, "the first one is first");
}

TEST_CASE("a party that came after a thousand others of its name is named and found") {
  const auto body = [](world& w) { return many_lives(w, 1'000); };
  const exploration report = isolated().explore(body);
  REQUIRE(report.failure);
  INFO(report.failure->schedule);
  const exploration again = isolated().replay(body, report.failure->schedule);
  REQUIRE(again.failure);
  CHECK(again.failure->what == report.failure->what);
}

std::string refusal(const simulation::program& body, const schedule& given) {
  const exploration report = isolated().replay(body, to_string(given));
  REQUIRE(report.failure);
  REQUIRE(is(report.failure->exception, errc::schedule_diverged));
  return report.failure->what;
}

TEST_CASE("a strict replay says who should step next, and cannot") {
  schedule given = parse_schedule(found_in(setting()).schedule);
  given.deviations.back().then = {schedule::kind_of("task"), 0, 0};
  CHECK(refusal(in(setting()), given).find("task/0 should step next, but it cannot") !=
        std::string::npos);
}

TEST_CASE("a strict replay says that it does not have who should step next") {
  schedule given = parse_schedule(found_in(setting()).schedule);
  given.deviations.back().then.index = 77;
  CHECK(refusal(in(setting()), given)
            .find("somebody with index 77 should step next, whom this "
                  "run does not have") != std::string::npos);
}

TEST_CASE("a strict replay says that a value is none of those to choose from") {
  const auto body = [](world& w) -> task<> {
    w.check(w.choose(3) != 2, "not two");
    co_return;
  };
  const exploration report = isolated().explore(body);
  REQUIRE(report.failure);
  schedule given = parse_schedule(report.failure->schedule);
  given.deviations.back().then.index = 5;
  CHECK(refusal(body, given).find("choose() should give 5, but it has 3 values only") !=
        std::string::npos);
}

}  // namespace
}  // namespace troupe::test
