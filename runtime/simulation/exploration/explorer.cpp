// explorer.cpp - which schedules are run, which runs are repeated, and what is told of a failure.

#include "runtime/simulation/exploration/explorer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/simulation/exploration/interrupt.hpp"
#include "runtime/simulation/exploration/progress.hpp"
#include "runtime/simulation/exploration/saved_search.hpp"
#include "runtime/simulation/exploration/stirred_heap.hpp"
#include "runtime/simulation/one_run.hpp"
#include "runtime/simulation/partial_order/every_order.hpp"
#include "runtime/simulation/policies.hpp"
#include "runtime/simulation/sim_engine.hpp"
#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

/// How the first step differs that a repetition took, as a sentence.
std::string difference(const one_run& first, const one_run& second) {
  const auto& a = first.journal;
  const auto& b = second.journal;
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto told = [](const one_run& run, auto step) {
    if (step == run.journal.end()) return std::string("had ended");
    if (step->owner == step_record::no_owner) {
      return "was a choose(" + std::to_string(step->ready) + ")";
    }
    return "was " + run.participants[step->owner] + "'s, one of " + std::to_string(step->ready) +
           " that could be taken";
  };
  return "step " + std::to_string(at - a.begin() + 1) + " " + told(first, at) +
         ", and in a repetition it " + told(second, other);
}

bool is_another_course(const failure& found) {
  try {
    std::rethrow_exception(found.exception);
  } catch (const error& told) {
    return told.code() == errc::schedule_diverged;
  } catch (...) {
    return false;
  }
}

/// One exploration under way.
class explorer {
 public:
  explorer(const simulation_options& options, const simulation::program& body)
      : options_(options),
        body_(body),
        watch_(options.heed_interrupt.value_or(options.progress != nullptr)),
        line_(options.progress),
        tell_orders_(options.partial_orders) {}

  exploration explore() && {
    if (options_.partial_orders) try_orders();
    // Where orders do not tell runs apart, only sequences do.
    if (may_go_on() && orders_.empty()) try_all();
    if (may_go_on()) draw();
    result_.orders = orders_.size();
    for (const auto& claim : made_) {
      const bool never = std::find(met_.begin(), met_.end(), claim) == met_.end();
      if (never && !over()) result_.never.push_back(claim);
    }
    note_time();
    return std::move(result_);
  }

 private:
  /// One schedule of each partial order, then others of theirs, which should make no difference.
  void try_orders() {
    all_orders_ = run_orders();
    if (over() || !all_orders_) return;
    if (!options_.check_sequences) {
      result_.complete = true;
    } else if (sequences_known_ && result_.sequences <= static_cast<double>(options_.exhaustive)) {
      try_all();
    } else {
      draw();
      result_.complete = all_orders_ && !over();
    }
  }

  bool run_orders() {
    every_order policy(log_);
    const search_state state{policy,
                             result_,
                             orders_,
                             sequences_known_,
                             made_,
                             met_,
                             mixed(options_.lines, options_.early_timeouts)};
    const bool resumed = !options_.frontier.empty() && load_search(options_.frontier, state);
    resumed_after_ = result_.taken;
    bool more = !resumed || policy.has_more();
    for (std::uint64_t i = 0; more && i < std::max<std::uint64_t>(options_.exhaustive, 1); ++i) {
      holds_under(policy);
      if (result_.failure) return false;
      const bool fresh = policy.learn();
      result_.trace = mixed(result_.trace, policy.order().fingerprint());
      if (policy.order().sequence_matters()) {
        forget_orders();
        return false;
      }
      if (!fresh || !note_order(policy.order())) ++result_.redundant;
      if (line_.due()) {
        const auto percent = static_cast<std::uint64_t>(100 * policy.done());
        line_.show(result_.schedules, "about " + std::to_string(percent) + " % of all orders");
      }
      more = policy.next();
      if (result_.interrupted) {
        note_time();
        if (!options_.frontier.empty()) {
          result_.saved = save_search(options_.frontier, state);
          result_.not_saved = !result_.saved;
        }
        return !more;
      }
    }
    if (!more && resumed) forget_search(options_.frontier);
    return !more;
  }

  void try_all() {
    if (std::exchange(tried_all_, true)) return;
    every_choice all;
    std::uint64_t tried = 0;
    do {
      if (!holds_under(all)) return;
      if (all_orders_ && !orders_.contains(read_order())) forget_orders();
      result_.complete = !all.next();
      if (line_.due()) {
        const auto percent = static_cast<std::uint64_t>(100 * all.done());
        line_.show(result_.schedules, "about " + std::to_string(percent) + " % of all");
      }
    } while (++tried < options_.exhaustive && !result_.complete);
    result_.every_sequence = result_.complete;
    if (result_.complete) result_.sequences = static_cast<double>(tried);
  }

  void draw() {
    if (options_.jobs > 1) {
      draw_on_threads();
    } else {
      for (std::uint64_t i = 0; i < options_.samples; ++i) {
        if (!holds_under(*drawn_policy(options_.seed, i, length_))) return;
        if (tell_orders_ && !heed_drawn(fingerprint_of_run())) return;
        show_drawn(i + 1);
      }
    }
    if (drawn_ > 0) result_.unseen = static_cast<double>(singles_) / static_cast<double>(drawn_);
  }

  /// Of several failures the one that one thread would have met.
  void draw_on_threads() {
    std::mutex mutex;
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint64_t> end{options_.samples};
    std::optional<failure> found;
    const bool recorded = tell_orders_;  // Which changes while the others run.
    const auto work = [&] {
      step_log log;
      partial_order order;
      for (std::uint64_t i = next++; i < end && !watch_.interrupted(); i = next++) {
        run_wishes wishes;
        if (recorded) wishes.log = &log;
        one_run run = run_once(options_, *drawn_policy(options_.seed, i, length_), body_, wishes);
        if (wishes.log) order.read(log, log.steps().size());
        const std::lock_guard lock(mutex);
        ++result_.schedules;
        result_.steps += run.steps;
        note(made_, run.sometimes);
        note(met_, run.sometimes_met);
        if (run.failure && i < end) {
          found = std::move(run.failure);
          end = i;
        }
        if (!run.failure && tell_orders_ && !heed_drawn(order.fingerprint())) end = 0;
        show_drawn(i + 1);
      }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < options_.jobs; ++i) others.emplace_back(work);
    work();
    for (auto& each : others) each.join();
    if (watch_.interrupted()) result_.interrupted = true;
    if (found) report_found(*std::move(found));
  }

  /// \return false if orders turn out to tell nothing.
  bool heed_drawn(std::uint64_t order) {
    if (!all_orders_) {
      count_drawn(order);
    } else if (!orders_.contains(order)) {
      forget_orders();
      return false;
    }
    return true;
  }

  void show_drawn(std::uint64_t count) {
    if (!line_.due()) return;
    line_.show(result_.schedules,
               with_commas(count) + " of " + with_commas(options_.samples) + " drawn");
  }

  /// Of its order. A small program takes few sequences, each of them often.
  std::uint64_t fingerprint_of_run() {
    const std::uint64_t sequence = log_.sequence();
    if (const auto known = order_of_.find(sequence); known != order_of_.end()) {
      return known->second;
    }
    const std::uint64_t order = read_order();
    if (order_of_.size() < most_told_apart) order_of_.emplace(sequence, order);
    return order;
  }
  std::uint64_t read_order() {
    order_.read(log_, log_.steps().size());
    return order_.fingerprint();
  }

  /// \return whether it is a new one.
  bool note_order(const partial_order& order) {
    if (!orders_.emplace(order.fingerprint(), met_by_search).second) return false;
    const double sequences = sequences_known_ ? order.sequences(countable_) : 0;
    result_.sequences += sequences;
    sequences_known_ = sequences > 0;
    if (!sequences_known_) result_.sequences = 0;
    return true;
  }

  /// What was drawn once only tells how much there is that was not drawn yet (Good and Turing).
  void count_drawn(std::uint64_t order) {
    const std::uint32_t times = ++orders_[order];
    if (times == 1) ++singles_;
    if (times == 2) --singles_;
    tell_orders_ = ++drawn_ < most_told_apart;
  }

  /// They do not tell what makes a difference in this program.
  void forget_orders() {
    orders_.clear();
    all_orders_ = tell_orders_ = sequences_known_ = false;
    result_.redundant = 0;
    result_.sequences = 0;
  }

  bool holds_under(choice_policy& policy) {
    ++result_.schedules;
    run_wishes wishes;
    wishes.journal = std::has_single_bit(result_.schedules);
    if (tell_orders_) wishes.log = &log_;
    one_run run = run_once(options_, policy, body_, wishes);
    length_ = std::max(length_, run.steps);
    result_.steps += run.steps;
    note(made_, run.sometimes);
    note(met_, run.sometimes_met);
    if (run.failure) {
      report_found(*std::move(run.failure));
    } else if (wishes.journal && !run.broken_off) {
      // The first one more often: a small program may have no other.
      const int times = result_.schedules == 1 ? 4 : 1;
      for (int i = 0; i < times && !result_.failure && !watch_.interrupted(); ++i) repeat(run);
    }
    if (watch_.interrupted()) result_.interrupted = true;
    return !over();
  }

  void note_time() { result_.taken = resumed_after_ + (std::chrono::steady_clock::now() - begin_); }

  bool may_go_on() const noexcept { return !over() && !result_.complete; }
  bool over() const noexcept { return result_.failure || result_.interrupted; }

  static void note(std::vector<std::string>& all, const std::vector<std::string>& some) {
    for (const auto& claim : some) {
      if (std::find(all.begin(), all.end(), claim) == all.end()) all.push_back(claim);
    }
  }

  /// Makes the same run again: what the world orders must be all there is.
  void repeat(const one_run& run) {
    const stirred_heap elsewhere(++stirs_);  // For what is ordered by addresses.
    given_choice again(run.taken, given_choice::fit::nearest);
    run_wishes wishes;
    wishes.journal = true;
    const one_run second = run_once(options_, again, body_, wishes);
    std::string how;
    if (run.journal != second.journal) {
      how = difference(run, second);
    } else if (second.failure) {
      how = "it held, and in a repetition it failed: " + second.failure->what;
    } else {
      return;
    }
    auto& failed = result_.failure.emplace();
    failed.exception = std::make_exception_ptr(error(
        errc::schedule_diverged, "the program took another course under the same schedule: " + how,
        "let nothing but the world order it: no pointers, clocks, threads, statics"));
    failed.what = describe(failed.exception);
    failed.schedule = to_string(run.taken);
    failed.steps = run.steps;
  }

  /// The search has met another course than before. At which step, a few repetitions may show.
  void report_another_course(failure found) {
    const schedule taken = parse_schedule(found.schedule);
    for (int i = 0; i < 4 && !result_.failure; ++i) {
      given_choice policy(taken, given_choice::fit::nearest);
      run_wishes wishes;
      wishes.journal = true;
      const one_run first = run_once(options_, policy, body_, wishes);
      if (!first.failure) repeat(first);
    }
    if (!result_.failure) result_.failure = std::move(found);
  }

  void report_found(failure found) {
    report(std::move(found));
    if (result_.failure) result_.failure->same_order_held = all_orders_;
  }

  void report(failure found) {
    if (is_another_course(found)) {
      report_another_course(std::move(found));
      return;
    }
    if (!fails_again(found)) {
      found.what += "\n  Under the same schedule it did not fail again: the program is ordered by "
                    "something besides the world.";
      result_.failure = std::move(found);
      return;
    }
    if (options_.shrink) found = shrink(options_, body_, std::move(found), watch_);
    if (options_.why) explain(options_, body_, found, watch_);
    fails_again(found);
    result_.failure = std::move(found);
  }

  /// Runs it again, recorded: pictures cost nothing while all is well.
  bool fails_again(failure& found) {
    const stirred_heap elsewhere(++stirs_);
    given_choice again(parse_schedule(found.schedule), given_choice::fit::strict);
    run_wishes wishes;
    wishes.picture = true;
    wishes.mark = found.unavoidable.value_or(0);
    one_run recorded = run_once(options_, again, body_, wishes);
    if (!recorded.failure || !same_failure(*recorded.failure, found)) return false;
    found.picture = std::move(recorded.failure->picture);
    return true;
  }

  simulation_options options_;
  const simulation::program& body_;
  exploration result_;
  interrupt_watch watch_;
  progress_line line_;
  std::uint64_t length_ = 0;  // Steps of the longest run so far.

  static constexpr std::uint64_t most_told_apart = 10'000;

  step_log log_;
  partial_order order_;
  std::unordered_map<std::uint64_t, std::uint64_t> order_of_;  // By the sequence of a run.
  order_counts orders_;                                        // How often each was drawn.
  bool tell_orders_ = false;
  bool all_orders_ = false;  // There are no others, if what is shared is seen.
  bool sequences_known_ = true;
  std::size_t countable_ = 1'000'000;  // States of sequences, of all orders.
  bool tried_all_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds resumed_after_{0};
  std::uint64_t drawn_ = 0;
  std::uint64_t singles_ = 0;

  std::uint64_t stirs_ = 0;
  std::vector<std::string> made_;
  std::vector<std::string> met_;
};

}  // namespace

exploration explore(const simulation_options& options, const simulation::program& body) {
  return explorer(options, body).explore();
}

}  // namespace troupe::detail
