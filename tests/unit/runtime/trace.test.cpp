#include "troupe/runtime/trace.hpp"

#include <algorithm>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <sstream>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

namespace troupe::test {
namespace {

// A clock that is read: each look at it is one tick later.
struct ticks {
  mutable std::uint64_t now = 0;
};
std::uint64_t ticking_clock(const void* source) noexcept {
  return ++static_cast<const ticks*>(source)->now;
}

struct fixture {
  ticks clock;
  tracer ring{3, &ticking_clock, &clock};

  void record(int n) {
    for (int i = 0; i < n; ++i) {
      ring.record(trace_kind::resume, 0, place{}, static_cast<std::uint64_t>(i));
    }
  }
  std::vector<std::uint64_t> details() const {
    std::vector<std::uint64_t> all;
    for (const auto& e : ring.events()) all.push_back(e.detail);
    return all;
  }
};

TEST_CASE_METHOD(fixture, "a new ring is empty") {
  CHECK(ring.events().empty());
  CHECK(ring.lost() == 0);
}

TEST_CASE_METHOD(fixture, "a ring keeps what fits, in the order of happening") {
  record(3);
  CHECK(details() == std::vector<std::uint64_t>({0, 1, 2}));
  CHECK(ring.lost() == 0);
}

TEST_CASE_METHOD(fixture, "a full ring overwrites the oldest and counts what was lost") {
  record(5);
  CHECK(details() == std::vector<std::uint64_t>({2, 3, 4}));
  CHECK(ring.lost() == 2);
}

TEST_CASE_METHOD(fixture, "events carry the time of the ring's clock") {
  record(2);
  CHECK(ring.events().front().time == 1);
  CHECK(ring.events().back().time == 2);
}

TEST_CASE("a ring has room for one event at least") {
  ticks clock;
  tracer ring(0, &ticking_clock, &clock);
  ring.record(trace_kind::start, 7, place{}, 0);
  CHECK(ring.events().size() == 1);
}

TEST_CASE("every kind of event has a name") {
  for (int k = 0; k <= static_cast<int>(trace_kind::cancel); ++k) {
    CHECK(to_string(static_cast<trace_kind>(k)) != "?");
  }
}

task<> merge_once(replica_context ctx) {
  co_await ctx.merge_call([] {});
}

recording recorded_run(std::size_t events) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  rt.trace(events);
  mirrored_strategy strategy(rt, 2);
  block_on(rt, strategy.run(merge_once));
  return rt.traced();
}

std::size_t count(const recording& r, trace_kind kind) {
  return static_cast<std::size_t>(std::count_if(r.events.begin(), r.events.end(),
                                                [&](const auto& e) { return e.kind == kind; }));
}

TEST_CASE("off: a runtime that was not asked to trace records nothing") {
  CHECK(recorded_run(0).events.empty());
}

TEST_CASE("a traced run has a start, an arrival and an end of every replica and one merge") {
  const auto r = recorded_run(100);
  CHECK(count(r, trace_kind::start) == 2);
  CHECK(count(r, trace_kind::arrive) == 2);
  CHECK(count(r, trace_kind::merge_begin) == 1);
  CHECK(count(r, trace_kind::merge_end) == 1);
  CHECK(count(r, trace_kind::finish) == 2);
}

TEST_CASE("ordered: a replica starts before it arrives, and the merge begins after both") {
  const auto r = recorded_run(100);
  const auto first = [&](trace_kind kind) {
    return std::find_if(r.events.begin(), r.events.end(),
                        [&](const auto& e) { return e.kind == kind; });
  };
  CHECK(first(trace_kind::start) < first(trace_kind::arrive));
  CHECK(first(trace_kind::arrive) < first(trace_kind::merge_begin));
  CHECK(first(trace_kind::merge_begin) < first(trace_kind::merge_end));
  CHECK(first(trace_kind::merge_end) < first(trace_kind::finish));
}

TEST_CASE("an arrival names the line of its merge") {
  const auto r = recorded_run(100);
  for (const auto& e : r.events) {
    if (e.kind == trace_kind::arrive) CHECK(std::string(e.at.file_name()) == __FILE__);
  }
}

TEST_CASE("a recording names everybody in it") {
  const auto r = recorded_run(100);
  for (const auto& e : r.events) REQUIRE(e.who < r.names.size());
  CHECK(std::find(r.names.begin(), r.names.end(), "replica/1") != r.names.end());
}

TEST_CASE("a small ring keeps the end of a run") {
  const auto r = recorded_run(2);
  CHECK(r.events.size() == 2);
  CHECK(r.lost > 0);
  CHECK(r.events.back().kind == trace_kind::finish);
}

TEST_CASE("tracing can be switched off again") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  rt.trace(100);
  rt.trace(0);
  mirrored_strategy strategy(rt, 2);
  block_on(rt, strategy.run(merge_once));
  CHECK(rt.traced().events.empty());
}

TEST_CASE("a written trace has a line for each event and a column for each party") {
  const auto r = recorded_run(100);
  std::ostringstream out;
  write_trace(out, r);
  const std::string text = out.str();
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  CHECK(lines == r.events.size() + 1);
  CHECK(text.find("replica/0") != text.npos);
  CHECK(text.find("replica/1") != text.npos);
  CHECK(text.find("barrier/0") != text.npos);
}

}  // namespace
}  // namespace troupe::test
