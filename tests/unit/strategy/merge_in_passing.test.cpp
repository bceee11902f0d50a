// Rounds that a line takes in one piece with the replicas it resumes: who else has something to do
// there has its turn.

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>

namespace troupe::test {
namespace {

constexpr int replicas = 3;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, replicas};
};

task<> merge_and_note(replica_context ctx, std::string* notes, char who, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const auto note_who = [notes, who] { *notes += who; };
    co_await ctx.merge_call(note_who);
  }
}

task<> run_and_note(const mirrored_strategy* strategy, std::string* notes, char who, int rounds) {
  co_await strategy->run(merge_and_note, notes, who, rounds);
}

TEST_CASE_METHOD(fixture, "two runs on one line merge in turn") {
  const mirrored_strategy other{rt, replicas};
  std::string notes;
  constexpr int rounds = 1000;
  const auto ignore = [](std::exception_ptr) {};
  launch(rt, run_and_note(&strategy, &notes, 'a', rounds), ignore);
  launch(rt, run_and_note(&other, &notes, 'b', rounds), ignore);
  io.run();
  REQUIRE(notes.size() == 2 * rounds);
  const std::size_t at_first_end = std::min(notes.rfind('a'), notes.rfind('b'));
  CHECK(at_first_end > 2 * rounds - 5);
  CHECK(notes.find("aaa") >= at_first_end - 3);
  CHECK(notes.find("bbb") >= at_first_end - 3);
}

task<> merge_until(replica_context ctx, asio::io_context* io, int* rounds) {
  bool rung = false;
  for (bool go_on = true; go_on;) {
    const auto count = [&rung, io, rounds] {
      if (++*rounds == 100) asio::post(*io, [&rung] { rung = true; });
      return !rung && *rounds < 1'000'000;
    };
    go_on = co_await ctx.merge_call(count);
  }
}

TEST_CASE_METHOD(fixture, "a handler of the same executor has its turn between two rounds") {
  int rounds = 0;
  block_on(rt, strategy.run(merge_until, &io, &rounds));
  CHECK(rounds > 100);
  CHECK(rounds < 10'000);
}

task<> note(std::string* notes, char what) {
  *notes += what;
  co_return;
}

task<> launch_and_note(replica_context ctx, runtime* rt, std::string* notes) {
  for (int i = 0; i < 3; ++i) {
    const auto launch_once = [rt, notes, i] {
      if (i == 1) launch(*rt, note(notes, 'l'), [](std::exception_ptr) {});
      *notes += 'm';
    };
    co_await ctx.merge_call(launch_once);
    *notes += 'r';
  }
}

TEST_CASE_METHOD(fixture, "what a merge function makes ready comes before the replicas go on") {
  std::string notes;
  block_on(rt, strategy.run(launch_and_note, &rt, &notes));
  CHECK(notes == "mrrrmlrrrmrrr");
}

/// Ends the runtime when it is destroyed where it was moved to last.
class farewell {
 public:
  explicit farewell(std::optional<runtime>* ends) : ends_(ends) {}
  farewell(farewell&& other) noexcept : ends_(std::exchange(other.ends_, nullptr)) {}
  farewell(const farewell&) = default;
  ~farewell() {
    if (ends_ && armed) ends_->reset();
  }
  static inline bool armed = false;

 private:
  std::optional<runtime>* ends_;
};

task<> merge_and_say_farewell(replica_context ctx, farewell) {
  for (int i = 0; i < 3; ++i) {
    const auto arm = [i] { farewell::armed = i == 2; };
    co_await ctx.merge_call(arm);
  }
}

task<> run_with_farewell(const mirrored_strategy* strategy, std::optional<runtime>* ends) {
  co_await strategy->run(merge_and_say_farewell, farewell(ends));
}

TEST_CASE("what a frame that ends destroys may end the runtime") {
  asio::io_context io;
  std::optional<runtime> rt(io.get_executor());
  const mirrored_strategy strategy{*rt, replicas};
  int ended = 0;
  farewell::armed = false;
  launch(*rt, run_with_farewell(&strategy, &rt), [&](std::exception_ptr) { ++ended; });
  io.run();
  CHECK_FALSE(rt.has_value());
  CHECK(ended == 1);
}

task<> merge_and_end(replica_context ctx, std::optional<runtime>* ends, bool throws) {
  for (int i = 0; i < 3; ++i) {
    const auto end_it = [ends, throws, i] {
      if (i != 1) return;
      const bool fails = throws;
      ends->reset();  // From here on there is no frame, and nothing in it.
      if (fails) throw std::runtime_error("the end");
    };
    co_await ctx.merge_call(end_it);
  }
}

task<> run_and_end(const mirrored_strategy* strategy, std::optional<runtime>* ends, bool throws) {
  co_await strategy->run(merge_and_end, ends, throws);
}

TEST_CASE("a merge function that looks at nothing any more may end the runtime") {
  for (const bool throws : {false, true}) {
    asio::io_context io;
    std::optional<runtime> rt(io.get_executor());
    const mirrored_strategy strategy{*rt, replicas};
    int ended = 0;
    launch(*rt, run_and_end(&strategy, &rt, throws), [&](std::exception_ptr) { ++ended; });
    io.run();
    CHECK_FALSE(rt.has_value());
    CHECK(ended == 1);
  }
}

}  // namespace
}  // namespace troupe::test
