// programs.hpp - programs that hold under every order of the library as it is, and each of which
// shows bugs that are planted in a copy of it. The lists beside this file say which.

#pragma once

#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include "tests/planted/planted.hpp"

namespace troupe::planted {

// -- rounds.cpp
task<> two_merges(stage& w);
task<> two_places(stage& w);
task<> broken_at_once(stage& w);
task<> late_arrival(stage& w);
task<> broken_twice(stage& w);
task<> run_after_a_failure(stage& w);
task<> merge_fails_in_some_orders(stage& w);
task<> consequence_before_its_cause(stage& w);
task<> failing_in_turn(stage& w);

// -- cancelled_runs.cpp
task<> cancelled_in_a_merge(stage& w);
task<> cancelled_after_a_merge(stage& w);
task<> cancelled_in_turn(stage& w);
task<> cancelled_when_all_is_done(stage& w);
task<> run_after_a_late_cancel(stage& w);
task<> stopped_before_a_run(stage& w);
task<> stopped_between_two_questions(stage& w);
task<> stopped_branches(stage& w);

// -- letters.cpp
task<> letters_in_order(stage& w);
task<> mail_before_stop(stage& w);
task<> mail_after_stop(stage& w);
task<> mail_after_a_failure(stage& w);
task<> question_to_the_stopped(stage& w);

// -- written_variables.cpp
task<> two_writers(stage& w);
task<> read_after_a_write(stage& w);
task<> unwound_in_turn(stage& w);

// -- plans.cpp
task<> read_then_overwritten(stage& w);
task<> halves_that_overlap(stage& w);
task<> result_of_two_steps(stage& w);

// -- what they are made of -----------------------------------------------------------------------

struct knock {
  using answer_type = int;
  explicit knock(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
struct let_in {};

/// Who knocks waits until it is open, which may be never.
class door final : public actor<door, knock, let_in> {
 public:
  explicit door(runtime& on) : actor(on, "door") {}
  void on(knock m) {
    waiting_.push_back(std::move(m));
    answer();
  }
  void on(let_in) {
    open_ = true;
    answer();
  }

 private:
  void answer() {
    if (!open_) return;
    for (auto& each : waiting_) each.to.set(1);
    waiting_.clear();
  }

  bool open_ = false;
  std::vector<knock> waiting_;
};

/// What a program throws on purpose.
struct own_failure : std::exception {
  const char* what() const noexcept override { return "on purpose"; }
};

/// The error's code; none if it is none of the catalogue's.
inline std::error_code code_of(const std::exception_ptr& thrown) {
  if (!thrown) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const error& e) {
    return e.code();
  } catch (...) {
    return {};
  }
}
inline bool is_own(const std::exception_ptr& thrown) {
  if (!thrown) return false;
  try {
    std::rethrow_exception(thrown);
  } catch (const own_failure&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// What awaiting `operation` throws; null if it returns.
template <class Operation>
task<std::exception_ptr> thrown_by(Operation operation) {
  std::exception_ptr thrown;
  try {
    static_cast<void>(co_await std::move(operation));
  } catch (...) {
    thrown = std::current_exception();
  }
  co_return thrown;
}

/// A run that merges twice; its replicas must get what its merges give.
task<> require_a_good_run(stage& w, const strategy* on);

}  // namespace troupe::planted
