// error.cpp - the catalogue's one category, and how an error tells its story.

#include "troupe/core/error.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "runtime/core/wording.hpp"

namespace troupe {

namespace {

struct entry {
  errc code;
  const char* meaning;
  std::errc condition;
};

constexpr std::array catalogue{
    entry{errc::missing_replica, "a replica can never arrive at the others' merge",
          std::errc::state_not_recoverable},
    entry{errc::replica_failed, "a merge cannot happen because a replica failed",
          std::errc::state_not_recoverable},
    entry{errc::cancelled, "the run was cancelled", std::errc::operation_canceled},
    entry{errc::merge_mismatch, "replicas met at different merge points",
          std::errc::state_not_recoverable},
    entry{errc::foreign_context, "a replica context was used outside its replica function",
          std::errc::operation_not_permitted},
    entry{errc::deadlock, "nothing can run and somebody waits",
          std::errc::resource_deadlock_would_occur},
    entry{errc::runtime_gone, "the runtime or its executor has ended",
          std::errc::operation_canceled},
    entry{errc::broken_reply, "a message was dropped without its answer", std::errc::broken_pipe},
    entry{errc::empty_task, "there was nothing to await", std::errc::invalid_argument},
    entry{errc::foreign_runtime, "a run was awaited by a task of another runtime",
          std::errc::operation_not_permitted},
    entry{errc::cross_replica_required, "the call needs cross-replica context",
          std::errc::operation_not_permitted},
    entry{errc::replica_required, "the call needs a replica context",
          std::errc::operation_not_permitted},
    entry{errc::scope_required, "the call needs the strategy's scope",
          std::errc::operation_not_permitted},
    entry{errc::strategy_mixed, "two strategies in one logical task",
          std::errc::operation_not_permitted},
    entry{errc::inside_scope, "the call is not for inside a strategy's scope",
          std::errc::operation_not_permitted},
    entry{errc::invalid_device, "an argument no strategy or runtime can be made of",
          std::errc::invalid_argument},
    entry{errc::shape_mismatch, "shapes differ", std::errc::invalid_argument},
    entry{errc::invalid_axis, "an axis the value does not have", std::errc::invalid_argument},
    entry{errc::not_per_replica, "a plain value has no sum over replicas",
          std::errc::invalid_argument},
    entry{errc::structure_mismatch, "the replicas' values cannot be put together",
          std::errc::invalid_argument},
    entry{errc::variable_mismatch, "replicas made different variables together",
          std::errc::invalid_argument},
    entry{errc::not_equivalent, "a program gives different answers under two strategies",
          std::errc::invalid_argument},
    entry{errc::aggregation_required, "only an aggregation could write this variable",
          std::errc::operation_not_permitted},
    entry{errc::division_by_zero, "integers were to be divided by zero",
          std::errc::argument_out_of_domain},
    entry{errc::invalid_hint, "a communication hint that cannot be heeded",
          std::errc::invalid_argument},
    entry{errc::invalid_batch, "a batch or pipeline that cannot be shared out",
          std::errc::invalid_argument},
    entry{errc::invalid_step, "an order of steps that a graph cannot have",
          std::errc::invalid_argument},
    entry{errc::invalid_schedule, "a schedule string that cannot be read",
          std::errc::invalid_argument},
    entry{errc::schedule_diverged, "a schedule that does not fit the program",
          std::errc::invalid_argument},
    entry{errc::too_long, "a simulated run took too many steps", std::errc::timed_out},
    entry{errc::injected_fault, "a replica crashed, as its simulated world allowed",
          std::errc::owner_dead},
    entry{errc::leaked_coroutine, "a simulated run left coroutines behind",
          std::errc::resource_unavailable_try_again},
    entry{errc::not_commutative, "messages that were said to commute do not",
          std::errc::invalid_argument},
    entry{errc::would_block, "blocking here would wait for itself",
          std::errc::resource_deadlock_would_occur},
};

const entry* find(int code) noexcept {
  for (const auto& e : catalogue) {
    if (static_cast<int>(e.code) == code) return &e;
  }
  return nullptr;
}

class troupe_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "troupe"; }
  std::string message(int code) const override {
    const auto* e = find(code);
    return e ? e->meaning : "unknown troupe error";
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    const auto* e = find(code);
    return e ? std::make_error_condition(e->condition) : std::error_condition(code, *this);
  }
};

std::string pad(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

/// What some replicas have in common.
struct row {
  std::vector<std::uint32_t> who;
  std::string_view state;
  std::string at;
  std::string doing;
};

/// One each for a handful of replicas; of more, one for all that say the same.
std::vector<row> rows_of(const std::vector<replica_place>& replicas) {
  std::vector<place> places;
  for (const auto& r : replicas) places.push_back(r.at);
  const std::vector<std::string> told = detail::told_apart(places);
  std::vector<row> rows;
  std::map<std::tuple<std::string_view, std::string, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const auto& r = replicas[i];
    std::size_t at = rows.size();
    if (replicas.size() > detail::handful)
      at = known.try_emplace({to_string(r.is), told[i], r.doing}, at).first->second;
    if (at == rows.size()) rows.push_back({{}, to_string(r.is), told[i], r.doing});
    rows[at].who.push_back(r.replica);
  }
  return rows;
}

constexpr std::size_t most_rows = 50;

std::string picture_of(const std::vector<replica_place>& replicas) {
  const std::vector<row> rows = rows_of(replicas);
  const std::size_t shown = std::min(rows.size(), most_rows);
  std::vector<std::string> names;
  std::size_t name_width = 12, place_width = 0, left = replicas.size();
  for (std::size_t i = 0; i < shown; ++i) {
    names.push_back(detail::list_of(rows[i].who));
    name_width = std::max(name_width, names[i].size() + 2);
    place_width = std::max(place_width, rows[i].at.size());
    left -= rows[i].who.size();
  }
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    text += "\n  " + pad(names[i], name_width) + pad(std::string(rows[i].state), 9) +
            pad(rows[i].at, place_width + 2) + rows[i].doing;
    while (text.back() == ' ') text.pop_back();
  }
  if (left > 0) text += "\n  ... and " + detail::count_of(left, "replica") + " more";
  return text;
}

std::string tell(const error_facts& facts) {
  std::string text = tag_of(facts.code) + ": " + facts.what + picture_of(facts.replicas);
  const std::size_t lines = std::min(facts.waiting.size(), most_rows);
  for (std::size_t i = 0; i < lines; ++i) text += "\n  " + facts.waiting[i];
  if (facts.waiting.size() > lines)
    text += "\n  ... and " + detail::with_commas(facts.waiting.size() - lines) + " more";
  if (!facts.replicas.empty()) {
    text += facts.merges_agreed == 0
                ? "\n  They had not merged before in this run."
                : "\n  They last agreed at merge #" + std::to_string(facts.merges_agreed) + " (" +
                      to_string(facts.last_agreed) + ").";
  }
  if (!facts.note.empty()) text += "\n  " + facts.note;
  if (!facts.fix.empty()) text += "\n  fix: " + facts.fix;
  if (!facts.replay.empty()) text += "\n  replay: TROUPE_SIM_SCHEDULE=" + facts.replay;
  return text;
}

}  // namespace

const std::error_category& category() noexcept {
  static const troupe_category one;
  return one;
}

std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), category()}; }

std::string tag_of(errc code) { return "TR-" + std::to_string(static_cast<int>(code)); }

std::string_view to_string(replica_place::state state) noexcept {
  switch (state) {
    case replica_place::state::running: return "running";
    case replica_place::state::waiting: return "waiting";
    case replica_place::state::finished: return "finished";
    case replica_place::state::failed: return "failed";
  }
  return "?";
}

error::error(error_facts facts)
    : std::system_error(make_error_code(facts.code)),
      facts_(std::make_shared<const error_facts>(std::move(facts))),
      text_(std::make_shared<const std::string>(tell(*facts_))) {}

error::error(errc code, std::string what, std::string fix)
    : error([&] {
        error_facts facts(code, std::move(what));
        facts.fix = std::move(fix);
        return facts;
      }()) {}

std::string describe(const std::exception_ptr& failure) {
  if (!failure) return "no exception";
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace troupe
