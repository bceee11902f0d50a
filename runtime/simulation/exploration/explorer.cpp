// explorer.cpp - which schedules are run, on which threads, and which runs are repeated.

#include "runtime/simulation/exploration/explorer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/core/wording.hpp"
#include "runtime/simulation/exploration/inquiry.hpp"
#include "runtime/simulation/exploration/interrupt.hpp"
#include "runtime/simulation/exploration/progress.hpp"
#include "runtime/simulation/exploration/saved_search.hpp"
#include "runtime/simulation/exploration/swapped_letters.hpp"
#include "runtime/simulation/one_run.hpp"
#include "runtime/simulation/partial_order/every_order.hpp"
#include "runtime/simulation/policies.hpp"
#include "runtime/simulation/sim_engine.hpp"

namespace troupe::detail {

namespace {

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
    frontier left(options_.jobs > 1);
    const search_state state{left,
                             result_,
                             orders_,
                             sequences_known_,
                             made_,
                             met_,
                             mixed(options_.lines, options_.early_timeouts)};
    const bool resumed = !options_.frontier.empty() && load_search(options_.frontier, state);
    resumed_after_ = result_.taken;
    if (resumed) line_.begin_after(result_.schedules, left.done());
    const std::uint64_t most = result_.schedules + std::max<std::uint64_t>(options_.exhaustive, 1);
    on_threads([&](step_log& log) { search(left, log, most); });
    report_what_was_found();
    if (result_.failure || !tell_orders_) return false;
    const bool more = left.has_more();
    if (result_.interrupted) {
      note_time();
      if (!options_.frontier.empty()) {
        result_.saved = save_search(options_.frontier, state);
        result_.not_saved = !result_.saved;
      }
    } else if (!more && resumed) {
      forget_search(options_.frontier);
    }
    return !more;
  }

  /// What each thread does. All that is not its own it does under the frontier's lock.
  void search(frontier& left, step_log& log, std::uint64_t most) {
    auto lock = left.lock();
    every_order policy(left, log);
    const auto require_this_run = [&] { policy.require_this_run(); };
    while (policy.next(lock)) {
      const std::uint64_t number = ++result_.schedules;
      if (number == most) left.stop();
      lock = {};
      attempt made = try_under(policy, &log, number, require_this_run);
      if (made.held()) policy.read();
      lock = left.lock();
      if (!heed(made) || !heed_order(policy, left)) left.stop();
    }
  }

  /// \return false if the search is over.
  bool heed_order(every_order& policy, const frontier& left) {
    const bool fresh = policy.learn();
    if (!tell_orders_) return false;
    const std::uint64_t order = policy.order().fingerprint();
    if (options_.jobs <= 1) result_.trace = mixed(result_.trace, order);
    if (policy.order().sequence_matters()) {
      forget_orders();
      return false;
    }
    if (!fresh || !note_order(policy.order())) {
      ++result_.redundant;
    } else if (options_.jobs > 1) {
      result_.trace += order;  // In whatever sequence they come.
    }
    if (line_.due()) {
      line_.show(result_.schedules, left.done(),
                 " orders, " + with_commas(orders_.size()) + " met");
    }
    return !result_.interrupted;
  }

  void try_all() {
    if (std::exchange(tried_all_, true)) return;
    line_.begin_after(result_.schedules, 0);
    every_choice all;
    std::uint64_t tried = 0;
    do {
      if (!holds_under(all)) return;
      if (all_orders_ && !orders_.contains(read_order())) forget_orders();
      result_.complete = !all.next();
      if (line_.due()) line_.show(result_.schedules, all.done(), "");
    } while (++tried < options_.exhaustive && !result_.complete);
    result_.every_sequence = result_.complete;
    if (result_.complete) result_.sequences = static_cast<double>(tried);
  }

  void draw() {
    line_.begin_after(result_.schedules, 0);
    if (options_.jobs > 1) {
      draw_on_threads();
    } else {
      for (std::uint64_t i = 0; i < options_.samples; ++i) {
        if (!draw(i)) return;
        show_drawn(i + 1);
      }
    }
    if (drawn_ > 0) result_.unseen = static_cast<double>(singles_) / static_cast<double>(drawn_);
  }

  /// A small program takes few sequences, each of them often: of one that is known the order is
  /// known, too, and need not be recorded. What turns out to be new without a record is run again.
  bool draw(std::uint64_t i) {
    const std::uint64_t length = length_;
    const bool recorded = tell_orders_ && known_in_a_row_ < trusted_from;
    const std::uint64_t number = ++result_.schedules;
    attempt made = try_under(*drawn_policy(options_.draw, options_.seed, i, length),
                             recorded ? &log_ : nullptr, number);
    if (!goes_on_after(made)) return false;
    if (!tell_orders_) return true;
    if (const auto known = order_of_.find(made.run.choices); known != order_of_.end()) {
      ++known_in_a_row_;
      return heed_drawn(known->second);
    }
    known_in_a_row_ = 0;
    if (!recorded) {
      attempt again =
          try_under(*drawn_policy(options_.draw, options_.seed, i, length), &log_, not_repeated);
      if (again.run.failure && !goes_on_after(again)) return false;
    }
    const std::uint64_t order = read_order();
    if (order_of_.size() < most_told_apart) order_of_.emplace(made.run.choices, order);
    return heed_drawn(order);
  }

  /// Of several failures the one that one thread would have met.
  void draw_on_threads() {
    std::mutex mutex;
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint64_t> end{options_.samples};
    const bool recorded = tell_orders_;  // Which changes while the others run.
    const std::uint64_t length = length_;
    const std::uint64_t before = result_.schedules;
    std::optional<failure> differs;
    on_threads([&](step_log& log) {
      partial_order order;
      for (std::uint64_t i = next++; i < end && !watch_.interrupted(); i = next++) {
        const auto policy = drawn_policy(options_.draw, options_.seed, i, length);
        attempt made = try_under(*policy, recorded ? &log : nullptr, before + i + 1);
        if (recorded) order.read(log, log.steps().size());
        const std::lock_guard lock(mutex);
        ++result_.schedules;
        result_.steps += made.run.steps;
        note(made_, made.run.sometimes);
        note(met_, made.run.sometimes_met);
        if (!made.held() && i < end) {
          found_ = std::move(made.run.failure);
          differs = std::move(made.differs);
          end = i;
        }
        if (made.held() && tell_orders_ && !heed_drawn(order.fingerprint())) end = 0;
        show_drawn(i + 1);
      }
    });
    if (watch_.interrupted()) result_.interrupted = true;
    if (differs) result_.failure = std::move(differs);
    report_what_was_found();
  }

  /// Calls `work` on so many threads, each with a log of its own, and waits for them.
  template <class Work>
  void on_threads(const Work& work) {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < options_.jobs; ++i) {
      others.emplace_back([&] {
        step_log log;
        work(log);
      });
    }
    work(log_);
    for (auto& each : others) each.join();
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
    if (line_.due()) line_.show_drawn(result_.schedules, count, options_.samples);
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

  /// A run, and how it differed when it was repeated.
  struct attempt {
    one_run run;
    std::optional<failure> differs = {};

    bool held() const noexcept { return !run.failure && !differs; }
  };

  static constexpr std::uint64_t not_repeated = 0;

  /// On any thread. Of the runs with number 1, 2, 4, 8 and so on, each is repeated.
  attempt try_under(choice_policy& policy, step_log* log, std::uint64_t number,
                    std::function<void()> check = {}) {
    run_wishes wishes;
    wishes.journal = std::has_single_bit(number);
    wishes.log = log;
    wishes.check = std::move(check);
    attempt made{run_once(options_, policy, body_, wishes)};
    if (log && made.held() && !made.run.broken_off) swap_letters(made.run, *log);
    if (wishes.journal && !made.run.failure && !made.run.broken_off) {
      // The first one more often: a small program may have no other.
      made.differs = inquiry_.repeat(made.run, number == 1 ? 4 : 1);
    }
    return made;
  }

  /// Letters that commute are taken in one order, which is trusted only if another one held.
  void swap_letters(one_run& run, const step_log& log) const {
    if (!log.has_lanes()) return;
    const schedule taken = run.taken;
    run.failure = swapped_failure(options_, body_, taken, log);
  }

  /// \return false if it has failed.
  bool heed(attempt& made) {
    length_ = std::max(length_, made.run.steps);
    result_.steps += made.run.steps;
    note(made_, made.run.sometimes);
    note(met_, made.run.sometimes_met);
    if (made.run.failure && !found_) found_ = std::move(made.run.failure);
    if (made.differs && !result_.failure) result_.failure = std::move(made.differs);
    if (watch_.interrupted()) result_.interrupted = true;
    return !found_ && !result_.failure;
  }

  bool holds_under(choice_policy& policy) {
    attempt made = try_under(policy, tell_orders_ ? &log_ : nullptr, ++result_.schedules);
    return goes_on_after(made);
  }

  /// Heeds it, and tells at once what it has found.
  bool goes_on_after(attempt& made) {
    heed(made);
    report_what_was_found();
    return !over();
  }

  void report_what_was_found() {
    if (!found_) return;
    failure& told = result_.failure.emplace(inquiry_.told(*std::move(found_)));
    told.same_order_held = all_orders_;
    found_.reset();
    if (watch_.interrupted()) result_.interrupted = true;
  }

  void note_time() { result_.taken = resumed_after_ + (std::chrono::steady_clock::now() - begin_); }

  bool may_go_on() const noexcept { return !over() && !result_.complete; }
  bool over() const noexcept { return result_.failure || result_.interrupted; }

  static void note(std::vector<std::string>& all, const std::vector<std::string>& some) {
    for (const auto& claim : some) {
      if (std::find(all.begin(), all.end(), claim) == all.end()) all.push_back(claim);
    }
  }

  simulation_options options_;
  const simulation::program& body_;
  exploration result_;
  interrupt_watch watch_;
  progress_line line_;
  std::uint64_t length_ = 0;  // Steps of the longest run so far.

  static constexpr std::uint64_t most_told_apart = 10'000;
  static constexpr std::uint32_t trusted_from = 8;

  step_log log_;
  partial_order order_;
  std::unordered_map<std::uint64_t, std::uint64_t> order_of_;  // By what a run chose.
  order_counts orders_;                                        // How often each was drawn.
  bool tell_orders_ = false;
  bool all_orders_ = false;  // There are no others, if what is shared is seen.
  bool sequences_known_ = true;
  std::size_t countable_ = 1'000'000;  // States of sequences, of all orders.
  bool tried_all_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds resumed_after_{0};
  std::uint64_t drawn_ = 0;
  std::uint32_t known_in_a_row_ = 0;  // Of those drawn last.
  std::uint64_t singles_ = 0;

  inquiry inquiry_{options_, body_, watch_};
  std::optional<failure> found_;  // And nothing told of it yet.
  std::vector<std::string> made_;
  std::vector<std::string> met_;
};

}  // namespace

exploration explore(const simulation_options& options, const simulation::program& body) {
  return explorer(options, body).explore();
}

}  // namespace troupe::detail
