// TR-108 and following: what cannot be awaited, or gets no answer.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/catalogue/example.hpp"

namespace troupe::test {
namespace {

void reset_statistics() {}

// -- 108 ------------------------------------------------------------------------------------------

struct question {
  using answer_type = int;
  explicit question(reply<int> r) : to(std::move(r)) {}
  reply<int> to;
};

class forgetful final : public actor<forgetful, question> {
 public:
  explicit forgetful(runtime& rt) : actor(rt, "forgetful") {}
  void on(question) {}
};

TEST_CASE_METHOD(on_an_io_context, "TR-108 broken_reply: an actor drops a question unanswered") {
  forgetful who(rt);
  show(raised({.code = errc::broken_reply,
               .what = "a message was dropped without its answer",
               .fix = "answer every message that carries a reply; an actor that failed, was "
                      "stopped or is gone drops its mail"},
              thrown_on(who.ask<question>())));
}

// -- 109 ------------------------------------------------------------------------------------------

// NOLINTBEGIN(bugprone-use-after-move)
constexpr unsigned above_twice = __LINE__ + 1;
// [twice]
task<int> one() { co_return 1; }
task<int> twice() {
  task<int> once = one();
  const int first = co_await std::move(once);
  co_return first + co_await std::move(once);
}
// [/twice]
// NOLINTEND(bugprone-use-after-move)

task<> sleep_twice() {
  auto pause = sleep_for(std::chrono::nanoseconds(1));
  for (int i = 0; i < 2; ++i) co_await pause;
}

TEST_CASE_METHOD(on_an_io_context, "TR-109 empty_task: a task is awaited a second time") {
  const wanted refusal{
      .code = errc::empty_task,
      .what = "a task was awaited that is empty",
      .fix = "await a task once; one that was moved from or awaited before has nothing left"};
  raised(refusal, thrown_on(task<>()));
  const wanted too_late{.code = errc::empty_task,
                        .what = "a sleep_for() was awaited that has been awaited before",
                        .fix = "make it anew for each co_await: what it was given went with the "
                               "first"};
  raised(too_late, thrown_on(sleep_twice()));
  show(raised(refusal, thrown_on(twice())), above_twice);
}

// -- 110 ------------------------------------------------------------------------------------------

task<> run_from_elsewhere(const mirrored_strategy* strategy) {
  co_await strategy->run(reset_statistics);
}

task<> as_the_fix_says(runtime* its_runtime, const mirrored_strategy* strategy) {
  co_await launch(*its_runtime, strategy->run(reset_statistics), use_task);
}

TEST_CASE_METHOD(on_an_io_context, "TR-110 foreign_runtime: a task awaits a run on another one") {
  runtime elsewhere{pool_size{1}};
  const mirrored_strategy strategy(elsewhere, 2);
  CHECK(thrown_on(as_the_fix_says(&elsewhere, &strategy)) == nullptr);
  show(raised({.code = errc::foreign_runtime,
               .what = "run() from a task of another runtime than the strategy's",
               .fix = "co_await launch(its_runtime, operation, use_task)"},
              thrown_on(run_from_elsewhere(&strategy))));
}

}  // namespace
}  // namespace troupe::test
