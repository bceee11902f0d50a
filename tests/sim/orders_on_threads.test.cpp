// The search for partial orders on several threads: what one thread finds, no more and no less.

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>

#include "tests/support/generated_programs.hpp"

namespace troupe::test {
namespace {

namespace fs = std::filesystem;

/// What runs on several threads have shown.
class outcomes {
 public:
  void add(const std::set<std::string>& some) {
    const std::lock_guard lock(mutex_);
    all_.insert(some.begin(), some.end());
  }
  std::set<std::string> all() const { return all_; }

 private:
  std::mutex mutex_;
  std::set<std::string> all_;
};

simulation_options searching(unsigned jobs) {
  simulation_options options;
  options.heed_environment = false;
  options.progress = nullptr;
  options.check_sequences = false;
  options.samples = 0;
  options.jobs = jobs;
  return options;
}

struct told {
  exploration report;
  std::set<std::string> outcomes;
};

using noting_program = std::function<task<>(world&, outcomes*)>;

told explore(const simulation_options& options, const noting_program& body) {
  outcomes seen;
  told all;
  all.report = simulation(options).explore([&](world& w) { return body(w, &seen); });
  all.outcomes = seen.all();
  return all;
}

told explore_whole(const simulation_options& options, const noting_program& body) {
  told all = explore(options, body);
  INFO(all.report.text());
  REQUIRE(all.report.passed());
  REQUIRE(all.report.complete);
  return all;
}

void check_same_on_threads(simulation_options options, const noting_program& body) {
  options.jobs = 1;
  const told alone = explore_whole(options, body);
  CHECK(alone.outcomes.size() > 3);
  for (const unsigned jobs : {2u, 4u}) {
    options.jobs = jobs;
    const told together = explore_whole(options, body);
    CHECK(together.report.orders == alone.report.orders);
    CHECK(together.report.schedules == together.report.orders + together.report.redundant);
    CHECK(together.outcomes == alone.outcomes);
  }
}

task<> play(world& w, const generated_program* program, outcomes* into) {
  std::set<std::string> mine;
  co_await generated::play(w, program, &mine);
  into->add(mine);
}

told play_all(const generated_program& program, unsigned jobs) {
  auto options = searching(jobs);
  options.exhaustive = 2'000;
  return explore(options, [&](world& w, outcomes* into) { return play(w, &program, into); });
}

TEST_CASE("threads find the orders and the outcomes of generated programs that one finds") {
  std::uint64_t orders = 0;
  int compared = 0;
  for (std::uint64_t seed = 1; compared < 60; ++seed) {
    const generated_program program = generated_program::make(seed);
    const told alone = play_all(program, 1);
    if (!alone.report.complete) continue;
    const told two = play_all(program, 2);
    const told four = play_all(program, 4);
    INFO("seed " << seed << ": " << alone.report.text() << two.report.text());
    REQUIRE(two.report.complete);
    REQUIRE(four.report.complete);
    REQUIRE(two.report.orders == alone.report.orders);
    REQUIRE(four.report.orders == alone.report.orders);
    REQUIRE(two.report.trace == four.report.trace);  // The very same ones.
    REQUIRE(two.outcomes == alone.outcomes);
    REQUIRE(four.outcomes == alone.outcomes);
    orders += alone.report.orders;
    ++compared;
  }
  CHECK(orders > 300);
}

task<> tell_twice(replica_context ctx, generated::keeper* with) {
  with->tell(generated::number(ctx.replica_id()));
  with->tell(generated::number(10 + ctx.replica_id()));
  co_return;
}

task<> tell_all(world& w, outcomes* into) {
  generated::keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(tell_twice, &with);
  co_await with.stop();
  into->add({generated::text_of(with.kept)});
}

TEST_CASE("threads find every order of a program that has many") {
  check_same_on_threads(searching(1), tell_all);
}

task<> look_and_change(replica_context ctx, world* w, sim::shared<int>* memory) {
  for (int i = 0; i < 2; ++i) {
    if (w->choose(2) == 1) memory->change([&](int& m) { m = 3 * m + ctx.replica_id() + 1; });
    co_await sleep_for(std::chrono::milliseconds(1 + i));
  }
}

task<> touch_by_choice(world& w, outcomes* into) {
  sim::shared<int> memory(static_cast<int>(w.choose(2)));  // Before every step.
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(look_and_change, &w, &memory);
  into->add({std::to_string(memory.read())});
}

TEST_CASE("a step that touches something under one of its choices only hides no order") {
  check_same_on_threads(searching(1), touch_by_choice);
}

task<> tell_and_merge(replica_context ctx, generated::keeper* with) {
  with->tell(generated::number(ctx.replica_id()));
  co_await ctx.merge_call([] {});
}

task<> suffer(world& w, outcomes* into) {
  w.faults(fault_budget().crashes(1).stalls(1).lasting(std::chrono::milliseconds(5)));
  generated::keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  std::string how = "ended";
  try {
    co_await strategy.run(tell_and_merge, &with);
  } catch (const error& told) {
    how = tag_of(static_cast<errc>(told.code().value()));
  }
  w.heal();
  co_await with.stop();
  into->add({how + generated::text_of(with.kept)});
}

TEST_CASE("threads try every fault") { check_same_on_threads(searching(1), suffer); }

task<> wait_and_tell(replica_context ctx, generated::keeper* with) {
  co_await sleep_for(std::chrono::milliseconds(1 + ctx.replica_id()));
  with->tell(generated::number(ctx.replica_id()));
}

task<> wait_for_all(world& w, outcomes* into) {
  generated::keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(wait_and_tell, &with);
  const int count = co_await with.ask<generated::count>();
  co_await with.stop();
  into->add({generated::text_of(with.kept) + std::to_string(count)});
}

TEST_CASE("threads let every timer end early") {
  auto options = searching(1);
  options.early_timeouts = 2;
  check_same_on_threads(options, wait_for_all);
}

// -- ends ----------------------------------------------------------------------------------------

task<> rarely_wrong(world& w, outcomes* into) {
  generated::keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 3);
  co_await strategy.run(tell_twice, &with);
  co_await with.stop();
  into->add({generated::text_of(with.kept)});
  w.check(generated::text_of(with.kept) != "[2 1 12 0 11 10 ]", "not like this");
}

TEST_CASE("what fails on several threads fails again under its schedule") {
  outcomes seen;
  const auto body = [&](world& w) { return rarely_wrong(w, &seen); };
  const simulation sim(searching(2));
  const auto report = sim.explore(body);
  REQUIRE(report.failure);
  CHECK(report.failure->what.find("not like this") != std::string::npos);
  const auto again = sim.replay(body, report.failure->schedule);
  REQUIRE(again.failure);
  CHECK(again.failure->what == report.failure->what);
}

TEST_CASE("a body that throws at once ends the search on all threads") {
  std::atomic<int> runs = 0;
  outcomes seen;
  const auto report = simulation(searching(4)).explore([&](world& w) {
    if (++runs >= 100) throw std::runtime_error("no more of it");
    return tell_all(w, &seen);
  });
  REQUIRE(report.failure);
  CHECK(report.failure->what.find("no more of it") != std::string::npos);
  CHECK(report.schedules < 200);
}

TEST_CASE("a program that something besides the world orders is noticed on several threads") {
  std::atomic<int> runs = 0;
  outcomes seen;
  const auto report = simulation(searching(2)).explore([&](world& w) {
    if (++runs % 3 == 0) static_cast<void>(w.choose(2));
    return tell_all(w, &seen);
  });
  REQUIRE(report.failure);
  CHECK(report.failure->what.find("TR-402") != std::string::npos);
}

TEST_CASE("threads make as many runs as were asked for, and no more") {
  auto options = searching(4);
  options.exhaustive = 100;
  outcomes seen;
  const auto report = simulation(options).explore([&](world& w) { return tell_all(w, &seen); });
  CHECK(report.passed());
  CHECK_FALSE(report.complete);
  CHECK(report.schedules == 100);
}

// -- and what is left of it ----------------------------------------------------------------------

TEST_CASE("what several threads have left, any number of them goes on with") {
  std::string name = (fs::temp_directory_path() / "troupe-orders-XXXXXX").string();
  const fs::path folder = mkdtemp(name.data());
  auto options = searching(1);
  options.early_timeouts = 2;
  const told alone = explore_whole(options, wait_for_all);
  options.heed_interrupt = true;
  options.frontier = (folder / "of.search").string();
  outcomes seen;
  std::atomic<int> runs = 0;
  std::atomic<int> interrupted_in = 0;
  std::atomic<bool> interrupted = false;
  exploration report;
  int pauses = 0;
  for (const unsigned jobs : {2u, 3u, 1u, 4u, 2u, 1u, 3u, 2u, 2u}) {
    options.jobs = jobs;
    interrupted_in = pauses < 8 ? runs + 200 : std::numeric_limits<int>::max();
    interrupted = false;
    report = simulation(options).explore([&](world& w) {
      const int run = ++runs;
      if (run == interrupted_in) {
        std::raise(SIGINT);
        interrupted = true;
      }
      // Whoever is to interrupt may be kept from it, while the others would find all there is.
      while (run > interrupted_in && !interrupted) std::this_thread::yield();
      return wait_for_all(w, &seen);
    });
    REQUIRE_FALSE(report.failure);
    CHECK(report.saved == report.interrupted);
    if (!report.interrupted) break;
    ++pauses;
  }
  fs::remove_all(folder);
  CHECK(pauses > 4);
  CHECK(report.complete);
  CHECK(report.orders == alone.report.orders);
  CHECK(report.schedules == report.orders + report.redundant);
  CHECK(seen.all() == alone.outcomes);
}

}  // namespace
}  // namespace troupe::test
