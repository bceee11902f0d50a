// error.hpp - what went wrong, on which replica, at which line, and what to do.
//
// Every mistake and every failure of the world that troupe reports is a
// troupe::error with a code from one catalogue. `what()` is the whole story as
// text; the same facts are fields, for tests and services. An exception thrown by
// the user's own function is never wrapped: it surfaces with its own type.
//
//     try { co_await strategy.run(step); }
//     catch (const troupe::error& e) {
//       if (e.code() == errc::merge_mismatch) ...
//       if (e.code() == std::errc::operation_canceled) ...   // conditions work too
//     }
//
// Guarantees
//   shared   copying an error never throws; all copies share one text;
//   stable   a code keeps its number and its meaning from release to release.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "troupe/core/place.hpp"

namespace troupe {

/// The catalogue. docs/errors.md tells each entry's story.
enum class errc {
  missing_replica = 101,         ///< Some replicas wait to merge; another can never arrive.
  replica_failed = 102,          ///< A merge cannot happen because a replica threw.
  cancelled = 103,               ///< The caller cancelled the run.
  merge_mismatch = 104,          ///< Replicas met at different merge points.
  foreign_context = 105,         ///< A replica context was used outside its own replica function.
  deadlock = 106,                ///< Nothing can run and somebody waits.
  runtime_gone = 107,            ///< The runtime or its executor ended under a run.
  broken_reply = 108,            ///< A message was dropped without its answer.
  empty_task = 109,              ///< What was awaited is empty, or was awaited before.
  foreign_runtime = 110,         ///< A run was awaited by a task of another runtime.
  cross_replica_required = 201,  ///< The call needs cross-replica context.
  replica_required = 202,        ///< A replica's call where no replica is.
  scope_required = 203,          ///< The call needs to be inside the strategy's scope.
  strategy_mixed = 204,          ///< Two strategies in one logical task.
  inside_scope = 205,            ///< The call is not for inside a strategy's scope.
  invalid_device = 301,          ///< A device list no strategy can be made of.
  shape_mismatch = 302,          ///< Values, or a value and its place, differ in shape.
  invalid_axis = 303,            ///< An axis the value does not have, or named twice.
  not_per_replica = 304,         ///< A plain value where each replica should have its own.
  structure_mismatch = 305,      ///< The replicas' values cannot be put together.
  variable_mismatch = 306,       ///< Replicas made different variables together.
  not_equivalent = 307,          ///< A program gives different answers under two strategies.
  aggregation_required = 308,    ///< A replica's write to what only an aggregation can write.
  division_by_zero = 309,        ///< Integers were to be divided by zero.
  invalid_hint = 310,            ///< A communication hint no strategy can heed.
  invalid_batch = 311,           ///< A batch or pipeline that cannot be shared out.
  invalid_step = 312,            ///< An order between steps that a graph cannot have.
  invalid_schedule = 401,        ///< A schedule string that cannot be read.
  schedule_diverged = 402,       ///< A schedule that does not fit the program any more.
  too_long = 403,                ///< A simulated run that took more steps than it was allowed.
  injected_fault = 404,          ///< A simulated crash.
  leaked_coroutine = 405,        ///< A simulated run ended, and some of its coroutines are left.
  not_commutative = 406,         ///< Messages that were said to commute do not.
  would_block = 501,             ///< block_on() from inside what it would wait for.
};

/// The one category of troupe's codes; its name is "troupe".
const std::error_category& category() noexcept;

std::error_code make_error_code(errc) noexcept;

/// "TR-104".
std::string tag_of(errc);

/// Where one replica stood when its run broke.
struct replica_place {
  enum class state : std::uint8_t { running, waiting, finished, failed };

  std::uint32_t replica = 0;
  state is = state::running;
  place at;           ///< Where it waits; of one that has ended, its last merge. Line 0 if none.
  std::string doing;  ///< "merge_call(int)", "sleep", "threw after 1 merge: " and a text.
};

std::string_view to_string(replica_place::state) noexcept;

/// Everything an error can tell. Only `code` and `what` are always there.
struct error_facts {
  error_facts(errc c, std::string headline) : code(c), what(std::move(headline)) {}

  errc code;
  std::string what;                     ///< One sentence: what happened.
  std::vector<replica_place> replicas;  ///< One each, in replica order.
  std::uint64_t merges_agreed = 0;      ///< Merges all replicas completed in this run.
  place last_agreed;                    ///< Where the last of them was; line 0 if none.
  std::vector<std::string> waiting;     ///< Deadlocks: one line for each waiting coroutine.
  std::string note;                     ///< What else is worth knowing.
  std::string fix;                      ///< What to do.
  std::string replay;                   ///< In simulation: the schedule up to here.
};

/// Thrown by troupe, never by accident.
class error : public std::system_error {
 public:
  explicit error(error_facts);
  error(errc code, std::string what, std::string fix = {});

  const char* what() const noexcept override { return text_->c_str(); }

  const std::vector<replica_place>& replicas() const noexcept { return facts_->replicas; }
  std::uint64_t merges_agreed() const noexcept { return facts_->merges_agreed; }
  const place& last_agreed() const noexcept { return facts_->last_agreed; }
  const std::vector<std::string>& waiting() const noexcept { return facts_->waiting; }
  std::string_view fix() const noexcept { return facts_->fix; }
  std::string_view replay() const noexcept { return facts_->replay; }
  const error_facts& facts() const noexcept { return *facts_; }

 private:
  std::shared_ptr<const error_facts> facts_;
  std::shared_ptr<const std::string> text_;
};

/// The text of any exception: its what(), or its type where it has none.
std::string describe(const std::exception_ptr&);

}  // namespace troupe

template <>
struct std::is_error_code_enum<troupe::errc> : std::true_type {};
