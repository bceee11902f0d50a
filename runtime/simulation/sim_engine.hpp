// sim_engine.hpp - one simulated world: what can run, whose turn it is, what time it is.
//
// Everything that troupe posts is in the ready set, by owner and sender: the owner's
// events from one sender stay in order, everything else is for the policy to choose.
// What Asio posts to itself is a hop: hops run at once, in order, and are not counted,
// so that a schedule does not depend on how Asio is made.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/function_executor.hpp"
#include "runtime/simulation/claims.hpp"
#include "runtime/simulation/fault_injector.hpp"
#include "runtime/simulation/partial_order/step_log.hpp"
#include "runtime/simulation/party_names.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/core/small_vector.hpp"
#include "troupe/runtime/runtime_state.hpp"
#include "troupe/runtime/schedule.hpp"
#include "troupe/runtime/simulation.hpp"
#include "troupe/runtime/timer.hpp"

namespace troupe::detail {

class sim_engine;

/// A moment with more than one possibility.
struct choice_point {
  const sim_engine& engine;
  std::size_t count;      ///< At least two.
  std::size_t usual;      ///< The default order's choice.
  bool is_value;          ///< A choose(): possibility number i is the value i.
  bool of_fault = false;  ///< It is what a step suffers, and not the program's own.

  /// Where a schedule says that this is.
  schedule::deviation place() const;
  /// Possibility number `i`, as a schedule tells it.
  schedule::deviation told(std::size_t i) const;
  /// Whose step possibility number `i` is. \pre !is_value
  inline std::uint32_t party_id(std::size_t i) const noexcept;
};

/// Whose step was taken, from whose link, and among how many; or which value was chosen.
struct step_record {
  static constexpr std::uint32_t no_owner = ~std::uint32_t{0};

  std::uint32_t owner;      ///< no_owner for a value.
  std::uint32_t sender;     ///< Or the value.
  std::uint32_t ready;      ///< How many there were.
  std::uint64_t shown = 0;  ///< How many events of a picture there were before it.

  friend bool operator==(const step_record&, const step_record&) = default;
};

/// Decides at every such moment.
class choice_policy : public recycled {
 public:
  virtual ~choice_policy() = default;
  virtual std::size_t choose(const choice_point& point) = 0;
};

class sim_line final : public scheduler {
 public:
  sim_line(std::size_t index, sim_engine& home);
  std::string replay_hint() const override;

 private:
  void post_from_outside(ready_entry what) noexcept override;
  void post_conclusion_from_outside(event& e, const void* done) noexcept override;
  sim_engine& engine_;
};

/// The world's execution context: hops, and virtual time for its timers.
class sim_context final : public function_context {
 public:
  /// \param line Where its functions run.
  sim_context(sim_engine& engine, scheduler& line);
  ~sim_context();
  /// What Asio's own timers and sockets have to say comes from a thread of theirs, whenever: it is
  /// kept, and never runs.
  void submit(event& function) noexcept override;

 private:
  sim_engine& engine_;
  const std::thread::id home_ = std::this_thread::get_id();
  std::mutex mutex_;
  std::vector<event*> from_outside_;
};

class sim_engine final : public runtime_state {
 public:
  /// \param log Null, or where the run is recorded; cleared before.
  sim_engine(const simulation_options& options, choice_policy& policy, step_log* log = nullptr);
  ~sim_engine() override;

  /// Runs `body` and everything it started until nothing is left.
  /// \throws what the body throws; errc::deadlock, errc::too_long.
  void run(const simulation::program& body);

  std::uint32_t choose(std::uint32_t n);
  void allow_faults(const fault_budget& budget) noexcept;
  void heal(std::uint64_t steps);
  schedule taken() const;
  std::uint64_t steps() const noexcept { return steps_; }
  /// What tells the run from all others of its program: all that was chosen, as one number.
  std::uint64_t choices() const noexcept { return choices_; }
  detail::claims& claims() noexcept { return claims_; }

  /// Writes a line for each step into `journal`, which outlives the run, as `picture` does if
  /// there is one.
  void keep_journal(std::vector<step_record>& journal, const tracer* picture) noexcept {
    journal_ = &journal;
    picture_ = picture;
  }

  /// What a schedule tells, by births: names are made of it when somebody asks.
  struct turn {
    std::uint32_t after;     ///< Nobody, or the birth of whoever stepped last; …
    std::uint32_t own_step;  ///< … its steps, or the number of the choose().
    std::uint32_t then;      ///< A birth, or the value of a choose().
    std::uint32_t link;
  };
  turn place(bool of_value) const noexcept;
  turn turn_of(bool of_value, std::size_t chosen) const noexcept;
  schedule::deviation told(const turn& what) const;
  /// What messages call it; empty if there is nobody of that name now.
  std::string text_of(const schedule::party_name& name) const;
  std::uint32_t owner_of(std::size_t entry) const noexcept {
    return entry < ready_.size() ? ready_[entry].owner : clock_id_;
  }
  /// Of the step that this choice would take. \pre There is a log.
  step_key ready_link(std::size_t entry) const noexcept {
    return is_early_timeout(entry) ? log_->link_of(clock_id_, 0) : ready_[entry].key;
  }
  /// Whether this choice lets time pass though somebody can run.
  bool is_early_timeout(std::size_t entry) const noexcept { return entry == ready_.size(); }

  // The seam's side.
  void post(event& e) noexcept;
  /// In whatever order they come that `e` concludes, it is one and the same step. So it must not
  /// queue behind what the last of them has posted before.
  void post_conclusion(event& e, const void* done) noexcept;
  void post_hop(event& function) noexcept;

  // Virtual time's side: calls `fire(true)` when due, unless cancelled before.
  std::uint64_t add_timer(std::chrono::nanoseconds deadline, std::function<void()> fire);
  void remove_timer(std::uint64_t ticket);

  bool one_thread() const noexcept override { return true; }
  asio::any_io_executor executor() const override { return function_executor(world_context()); }
  asio::execution_context& context() const override { return world_context(); }
  asio::any_io_executor completions_on(scheduler&) const override { return executor(); }
  void run_until(event& first, const std::atomic<bool>& done) override;
  void finish(std::atomic<bool>& done) noexcept override { done = true; }
  std::shared_ptr<void> start(step_graph& graph, activity& waiter) override;
  void close() noexcept override;
  std::uint64_t now() const noexcept override { return static_cast<std::uint64_t>(now_.count()); }

 private:
  /// The events one party has from one sender. Mostly there is one.
  struct link {
    std::uint32_t owner;
    std::uint32_t sender;
    event* what;
    std::uint32_t cause;  // The step that posted it, in the log.
    std::uint32_t last;   // Of those behind it: a place in behind_, or none.
    step_key key;         // If there is a log.
  };
  struct queued {
    event* what;
    std::uint32_t cause;
    std::uint32_t next;  // The first of them follows the last.
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  static constexpr std::uint32_t everybody = none;        // As a sender.
  static constexpr std::size_t usual_size = 16;           // Of a small program's world.
  static constexpr std::uint64_t watched_at_end = 3'000;  // Steps.
  struct pending_timer {
    std::chrono::nanoseconds deadline;
    std::uint64_t ticket;
    std::function<void()> fire;
  };

  sim_context& world_context() const;
  void append(link& to, event& e);
  /// Takes the first event out of a link.
  /// \return whether there was another one, which is the first now.
  bool take_first(link& from) noexcept;
  void drop_queued() noexcept;
  void enrolled(const party& who) override;
  bool step();
  void take(std::size_t chosen);
  void begin_step(std::uint32_t owner, std::uint32_t sender, std::size_t options) {
    if (journal_) [[unlikely]]
      note_in_journal(owner, sender, options);
    unseen_ = 0;
    last_ = owner + 1;
    given_names_.note_step(owner);
    if (++steps_ + watched_at_end > step_limit_) [[unlikely]]
      end_.push_back(owner);
  }
  void note_in_journal(std::uint32_t owner, std::uint32_t sender, std::size_t options);
  void let_time_pass();
  fault decide_fault(const party& who);  ///< \pre Faults are in play.
  void hold(std::size_t entry);
  void let_go(std::uint64_t ticket);
  void look_at_claims();
  [[noreturn]] void fail_as_too_long() const;
  [[noreturn]] void fail_as_endless() const;
  /// How the run goes round in circles; empty if it does not.
  std::string lasso() const;
  void run_hops() {
    while (!hops_.empty()) {
      if (++unseen_ > most_unseen_) fail_as_endless();
      hops_.pop()->step();
    }
  }
  bool advance_time();
  void end_timers();
  std::size_t pick();
  std::uint32_t pick_value(std::uint32_t n, bool of_fault = false);
  std::size_t decide(std::size_t count, std::size_t usual, bool is_value, bool of_fault = false);
  [[noreturn]] void fail_as_deadlock() const;

  const simulation_options& options_;
  choice_policy& policy_;
  recycled_vector<std::optional<sim_line>> sim_lines_;
  small_vector<link, usual_size> ready_;  // No empty ones; in order of becoming ready.
  struct held_link {
    link what;
    std::uint64_t ticket;  // Of the timer that ends the delay.
  };
  std::vector<held_link> held_;
  recycled_vector<queued> behind_;
  std::uint32_t free_places_ = none;  // In it, as a list.
  ready_ring hops_;
  std::vector<pending_timer> timers_;
  std::uint64_t tickets_ = 0;
  std::chrono::nanoseconds now_{0};

  std::uint32_t last_ = 0;    // party::id + 1 of the latest step's owner.
  std::uint32_t acting_ = 0;  // The same while a step runs; 0 outside.
  party_names given_names_;
  std::uint32_t chooses_ = 0;
  std::uint64_t choices_ = 0;
  std::uint64_t steps_ = 0;
  small_vector<turn, usual_size> deviations_;
  detail::claims claims_;
  fault_injector faults_;
  std::uint64_t step_limit_;
  // What is no step, a hop or time that moves, has a bound as well: so much since the last one.
  std::uint64_t unseen_ = 0;
  std::uint64_t most_unseen_;
  std::vector<std::uint32_t> end_;  // Whose the last steps before the limit were.
  unsigned early_timeouts_;         // Left.
  std::uint32_t clock_id_ = 0;      // If there may be any.
  std::vector<step_record>* journal_ = nullptr;
  const tracer* picture_ = nullptr;
  step_log* log_;
  // Everybody may use it, and most worlds do without. The last, for what waits in it goes before
  // all others.
  mutable std::optional<sim_context> context_;
};

inline std::uint32_t choice_point::party_id(std::size_t i) const noexcept {
  return engine.owner_of(i);
}

}  // namespace troupe::detail
