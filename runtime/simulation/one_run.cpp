// one_run.cpp - a fresh world, run to its end.

#include "runtime/simulation/one_run.hpp"

#include <cstddef>
#include <sstream>
#include <typeinfo>
#include <utility>

#include "runtime/simulation/partial_order/every_order.hpp"
#include "troupe/core/recycling.hpp"

namespace troupe::detail {

const step_record* record_of_step(const std::vector<step_record>& journal, std::uint64_t step) {
  std::uint64_t steps = 0;
  for (const auto& record : journal) {
    if (record.owner != step_record::no_owner && ++steps == step) return &record;
  }
  return nullptr;
}

namespace {

[[noreturn]] void throw_leaked(std::int64_t frames) {
  throw error(errc::leaked_coroutine,
              "the world has ended, and " + std::to_string(frames) +
                  (frames == 1 ? " coroutine of it is" : " coroutines of it are") + " left",
              "look for a task that is kept outside of the program and was never awaited");
}

/// Of what goes on and on, the end will do.
void keep_end(recording& shown) {
  constexpr std::size_t most = 50;
  if (shown.events.size() <= most) return;
  const std::size_t more = shown.events.size() - most;
  shown.events.erase(shown.events.begin(),
                     shown.events.begin() + static_cast<std::ptrdiff_t>(more));
  shown.lost += more;
}

}  // namespace

one_run run_once(const simulation_options& options, choice_policy& policy,
                 const simulation::program& body, const run_wishes& wishes) {
  const auto engine = std::allocate_shared<sim_engine>(recycling_allocator<sim_engine>(), options,
                                                       policy, wishes.log);
  // All lines write one ring: virtual time stands still, and would not order several.
  const auto clock = [](const void* source) noexcept {
    return static_cast<const sim_engine*>(source)->now();
  };
  std::optional<tracer> ring;
  if (wishes.picture) {
    ring.emplace(4096, clock, engine.get());
    for (std::size_t i = 0; i < engine->lines(); ++i) engine->line(i).trace_to(&*ring);
  }
  one_run result;
  if (wishes.journal || wishes.mark != 0) {
    engine->keep_journal(result.journal, ring ? &*ring : nullptr);
  }
  try {
    const std::int64_t frames = frames_alive;
    engine->run(body);
    if (wishes.check) wishes.check();
    if (frames_alive > frames) throw_leaked(frames_alive - frames);
  } catch (const seen_before&) {
    result.broken_off = true;
  } catch (...) {
    auto& failed = result.failure.emplace();
    failed.exception = std::current_exception();
    failed.what = describe(failed.exception);
    failed.schedule = to_string(engine->taken());
    failed.steps = engine->steps();
  }
  result.steps = engine->steps();
  result.choices = engine->choices();
  const bool swapped_next = wishes.log && wishes.log->has_lanes();
  if (result.failure || wishes.journal || wishes.picture || swapped_next) {
    result.taken = engine->taken();
    result.participants = engine->participants();
  }
  engine->claims().take_sometimes(result.sometimes, result.sometimes_met);
  if (result.failure && wishes.picture) {
    std::ostringstream out;
    recording shown{ring->events(), result.participants, ring->lost()};
    if (is_a(*result.failure, errc::too_long)) keep_end(shown);
    const auto* const step = record_of_step(result.journal, wishes.mark);
    if (step && step->shown >= shown.lost) shown.marked = step->shown - shown.lost;
    write_trace(out, shown);
    result.failure->picture = out.str();
  }
  // Whoever holds on to the world finds nobody listening.
  for (std::size_t i = 0; i < engine->lines(); ++i) engine->line(i).trace_to(nullptr);
  return result;
}

namespace {

/// What a failure is, as text: a claim's place, an error's code, or another exception's type.
std::string identity(const failure& of) {
  try {
    std::rethrow_exception(of.exception);
  } catch (const check_failed& claim) {
    const place& at = claim.at();
    return std::string(at.file_name()) + ":" + std::to_string(at.line()) + ":" +
           std::to_string(at.column());
  } catch (const error& told) {
    return tag_of(static_cast<errc>(told.code().value()));
  } catch (const std::exception& other) {
    return typeid(other).name();
  } catch (...) {
    return "?";
  }
}

}  // namespace

bool is_a(const failure& found, errc code) {
  try {
    std::rethrow_exception(found.exception);
  } catch (const error& told) {
    return told.code() == code;
  } catch (...) {
    return false;
  }
}

bool same_failure(const failure& a, const failure& b) { return identity(a) == identity(b); }

}  // namespace troupe::detail
