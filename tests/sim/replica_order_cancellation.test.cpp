// A cancelled run whose replicas take turns: who is entered, and who is unwound in which order.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>

#include "tests/support/explore.hpp"
#include "tests/support/turns.hpp"

namespace troupe::test {
namespace {

using std::chrono::milliseconds;

using step = task<int> (*)(replica_context, turn_plan*);

/// How a run of three replicas ends that is cancelled at a moment of virtual time, given in
/// microseconds.
task<std::string> ending_of_cancelled(world* w, step fn, turn_plan* p, std::uint32_t moment) {
  mirrored_strategy strategy(w->runtime(), 3, in_turns);
  asio::cancellation_signal cancel;
  int ended = 0;
  std::string ending;
  const auto on_end = [&](std::exception_ptr thrown, per_replica<int>) {
    ++ended;
    ending = thrown ? told(thrown) : "";
  };
  strategy.async_run(fn, std::tuple(p), asio::bind_cancellation_slot(cancel.slot(), on_end));
  co_await sleep_for(std::chrono::microseconds(moment));
  cancel.emit(asio::cancellation_type::terminal);
  co_await sleep_for(std::chrono::hours(1));
  w->check(ended == 1, "it ends exactly once");
  if (const auto report = strategy.last_failure()) {
    for (const replica_place& r : report->replicas()) {
      const bool entered = p->journal.find(std::to_string(r.replica) + "+") != std::string::npos;
      w->check(entered != (r.doing == "has not begun"), "the picture is the last word");
    }
  }
  turn_plan good;
  static_cast<void>(co_await strategy.run(in_turn, &good));
  w->check(good.journal == "0+ 1+ 2+ m 0. 0- 1. 1- 2. 2-", "the next run is whole");
  co_return ending;
}

task<> compare_cancelled(world* w, std::uint32_t moment, std::string journal) {
  turn_plan p{.merges = 2, .sleep = milliseconds(1)};  // Three, then two, then one.
  const std::string ending = co_await ending_of_cancelled(w, in_turn, &p, moment);
  w->check(ending == "TR-103", "cancelled");
  w->check(p.journal == journal, "goes: " + p.journal);
}

/// Requires that a run of two merges, cancelled at that moment, goes exactly so.
void expect_cancelled_at(std::uint32_t moment, const std::string& journal) {
  explore_lines([&](world& w) { return compare_cancelled(&w, moment, journal); });
}

TEST_CASE("a run cancelled while replica 0 sleeps never enters the others") {
  expect_cancelled_at(1500, "0+ 0-");
}

TEST_CASE("a run cancelled while a later replica sleeps unwinds that, then the others by id") {
  expect_cancelled_at(4500, "0+ 0z 1+ 1- 0!TR-103 0-");
  expect_cancelled_at(5500, "0+ 0z 1+ 1z 2+ 2- 0!TR-103 0- 1!TR-103 1-");
}

TEST_CASE("a run cancelled after a merge gives its result to those alone whose turn has come") {
  expect_cancelled_at(6500, "0+ 0z 1+ 1z 2+ 2z m 0. 0- 1!TR-103 1- 2!TR-103 2-");
  expect_cancelled_at(9500, "0+ 0z 1+ 1z 2+ 2z m 0. 0z 1. 1- 0!TR-103 0- 2!TR-103 2-");
}

task<> sleep_in_merge() { co_await sleep_for(milliseconds(5)); }

task<int> merge_slowly(replica_context ctx, turn_plan* p) {
  const visit here(*p, std::to_string(ctx.replica_id()));
  co_await ctx.merge_call(sleep_in_merge);
  co_return 0;
}

TEST_CASE("a run cancelled in its merge function unwinds its replicas by id") {
  explore_lines([](world& w) -> task<> {
    turn_plan p;
    const std::string ending = co_await ending_of_cancelled(&w, merge_slowly, &p, 2500);
    w.check(ending == "TR-103", "cancelled");
    w.check(p.journal == "0+ 1+ 2+ 0- 1- 2-", p.journal);
  });
}

TEST_CASE("a run cancelled at the moment of a change of turns ends once, whoever was first") {
  explore_lines([](world& w) -> task<> {
    turn_plan p{.merges = 2, .sleep = milliseconds(1)};
    const std::uint32_t moments[] = {0, 3000, 5000, 6000, 9000};
    const std::string ending = co_await ending_of_cancelled(&w, in_turn, &p, moments[w.choose(5)]);
    w.check(ending == "TR-103" || ending.empty(), "cancelled, or with its result");
    for (const std::string name : {"0", "1", "2"}) {
      const bool entered = p.journal.find(name + "+") != std::string::npos;
      const bool left = p.journal.find(name + "-") != std::string::npos;
      w.check(entered == left, "who was entered was unwound");
      w.check(entered || !ending.empty(), "and a whole run has entered all");
    }
  });
}

}  // namespace
}  // namespace troupe::test
