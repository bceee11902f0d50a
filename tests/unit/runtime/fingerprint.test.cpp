// A schedule knows whose it is: replaying it on a program with other participants says so.

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>
#include <troupe/troupe.hpp>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"
#include "tests/support/walkers.hpp"
#include "troupe/runtime/schedule.hpp"

namespace troupe::test {
namespace {

constexpr const char* changed = "the program has changed since: its participants are others";

struct change {
  bool repaired = false;
  bool has_one_more = false;
};

class bystander final : public actor<bystander, one_more> {
 public:
  explicit bystander(runtime& rt) : actor(rt, "bystander") {}
  void on(one_more) {}
};

task<> in_order(world& w, change how) {
  const footprints seen = co_await walk_all(w, 2, 2);
  // It takes no step: every entry fits as before.
  std::optional<bystander> somebody;
  if (how.has_one_more) somebody.emplace(w.runtime());
  w.check(how.repaired || seen[0] == 0, "walker 0 comes first");
}

simulation::program with(change how) {
  return [how](world& w) { return in_order(w, how); };
}

simulation isolated() {
  simulation_options options;
  options.heed_environment = false;
  return simulation(options);
}

std::string failing_schedule() {
  const auto report = isolated().explore(with({}));
  REQUIRE(report.failure);
  return report.failure ? report.failure->schedule : "";
}

bool says_changed(const exploration& report) {
  return report.text().find(changed) != std::string::npos;
}

TEST_CASE("a failure replayed on its own program says nothing of a change") {
  const auto report = isolated().replay(with({}), failing_schedule());
  CHECK(report.failure);
  CHECK_FALSE(report.program_changed);
  CHECK_FALSE(says_changed(report));
}

TEST_CASE("a failure replayed on the repaired program holds, and says nothing of a change") {
  const auto report = isolated().replay(with({.repaired = true}), failing_schedule());
  CHECK(report.passed());
  CHECK_FALSE(report.program_changed);
}

TEST_CASE("a failure replayed on a program with other participants fails and says so") {
  for (const bool nearest : {false, true}) {
    const auto program = with({.has_one_more = true});
    const auto report = nearest ? isolated().replay_nearest(program, failing_schedule())
                                : isolated().replay(program, failing_schedule());
    REQUIRE(report.failure);
    CHECK(is_a<check_failed>(report.failure->exception));
    CHECK(report.program_changed);
    CHECK(says_changed(report));
  }
}

TEST_CASE("a schedule that fits a program with other participants holds, and says so") {
  const auto report =
      isolated().replay(with({.repaired = true, .has_one_more = true}), failing_schedule());
  CHECK(report.passed());
  CHECK(report.program_changed);
  CHECK(says_changed(report));
}

TEST_CASE("a schedule that does not fit says that the participants are others") {
  const auto report = isolated().replay([](world&) -> task<> { co_return; }, failing_schedule());
  REQUIRE(report.failure);
  CHECK(is(report.failure->exception, errc::schedule_diverged));
  CHECK(says_changed(report));
}

TEST_CASE("a schedule made by hand is anybody's") {
  const auto report = isolated().replay(with({}), to_string(schedule{}));
  CHECK(report.passed());
  CHECK_FALSE(report.program_changed);
}

// The run's error is written before all participants have come.
task<> fails_early(world& w, std::string* hint) {
  mirrored_strategy strategy(w.runtime(), 2);
  const auto body = [](replica_context ctx) -> task<> {
    if (ctx.replica_id() == 0) co_return;
    co_await ctx.merge_call([] {});
  };
  static_cast<void>(co_await outcome_of(strategy.run(body)));
  const std::optional<error> told = strategy.last_failure();
  if (told) *hint = told->replay();
  co_await walk_all(w, 2, 1);
}

TEST_CASE("the schedule in an error's text says nothing of a change, whoever comes later") {
  std::string hint;
  const auto program = [&hint](world& w) { return fails_early(w, &hint); };
  explore_all(program);
  REQUIRE_FALSE(hint.empty());
  const auto report = isolated().replay(program, std::string(hint));
  CHECK_FALSE(report.program_changed);
  CHECK(parse_schedule(hint).program == 0);
}

}  // namespace
}  // namespace troupe::test
