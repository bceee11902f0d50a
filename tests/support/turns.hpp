// turns.hpp - a step whose replicas leave one journal, for replica_order::one_by_one.
//
// The journal is no atomic and has no lock: that replicas never run at the same time is what
// makes it whole.

#pragma once

#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/outcome.hpp"

namespace troupe::test {

inline constexpr mirrored_options in_turns{.order = replica_order::one_by_one};

struct own_failure : std::runtime_error {
  explicit own_failure(int r) : runtime_error("replica " + std::to_string(r)) {}
};

/// What the replicas of a run do, and the text they leave, a word for each deed: "1+" replica 1
/// enters, "1-" it leaves, "1!TR-102" its merge throws that, "1." it was given a merge's result,
/// "1z" it has slept, "m" a merge.
struct turn_plan {
  int merges = 1;
  int fails = -1;                      ///< This replica throws …
  int returns = -1;                    ///< … or this one returns …
  int after = 0;                       ///< … when it has merged so often.
  std::chrono::microseconds sleep{0};  ///< Before each merge; the later replicas sleep less.
  bool merge_throws = false;
  std::string journal = {};

  void note(const std::string& what) { journal += (journal.empty() ? "" : " ") + what; }
};

inline std::string told(const std::exception_ptr& thrown) {
  const auto e = as<error>(thrown);
  return e ? tag_of(static_cast<errc>(e->code().value())) : describe(thrown);
}

/// Notes that a replica enters and leaves.
class visit {
 public:
  visit(turn_plan& p, std::string name) : plan_(&p), name_(std::move(name)) {
    plan_->note(name_ + "+");
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() { plan_->note(name_ + "-"); }

 private:
  turn_plan* plan_;
  std::string name_;
};

inline void merge_in_turn(turn_plan* p) {
  p->note("m");
  if (p->merge_throws) throw own_failure(9);
}

inline task<int> in_turn(replica_context ctx, turn_plan* p) {
  const int me = ctx.replica_id();
  const std::string name = std::to_string(me);
  const visit here(*p, name);
  const auto merge_fn = [p] { merge_in_turn(p); };
  for (int i = 0; i <= p->merges; ++i) {
    if (me == p->fails && i == p->after) throw own_failure(me);
    if (i == p->merges || (me == p->returns && i == p->after)) break;
    if (p->sleep.count() != 0) {
      co_await sleep_for(p->sleep * (ctx.num_replicas_in_sync() - me));
      p->note(name + "z");
    }
    const std::exception_ptr thrown = co_await outcome_of(ctx.merge_call(merge_fn));
    p->note(name + (thrown ? "!" + told(thrown) : "."));
    if (thrown) std::rethrow_exception(thrown);
  }
  co_return me;
}

}  // namespace troupe::test
