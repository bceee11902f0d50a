// pool_runtime.cpp - lines on the workers of a Taskflow executor.
//
// The pool is a Taskflow executor, so that reduce graphs and replicas share one set of
// threads. Each worker runs one line for as long as the pool lives (pool_line.hpp). While workers
// sleep, who waits for a result stands in for them (stand_in.hpp), if the program wants that. A
// graph without an order between its steps is taken by the lines themselves (step_team.hpp); for
// any other, every line lends its worker to Taskflow until the graph is done.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "runtime/function_executor.hpp"
#include "runtime/live/executor_runtime.hpp"
#include "runtime/live/line_executor.hpp"
#include "runtime/live/pool_line.hpp"
#include "runtime/live/processors.hpp"
#include "runtime/live/stand_in.hpp"
#include "runtime/live/step_team.hpp"
#include "runtime/taskflow.hpp"
#include "troupe/core/error.hpp"
#include "troupe/runtime/runtime.hpp"
#include "troupe/runtime/step_graph.hpp"

namespace troupe::detail {

namespace {

/// Functions posted to a pool's executor run on its first line.
class pool_context final : public function_context {
 public:
  explicit pool_context(line& first) { owner_.on = &first; }
  ~pool_context() { end(); }
  /// Ends Asio's services on it; what is submitted from now on is dropped.
  void end() noexcept {
    shutdown();
    destroy();
  }
  void submit(event& function) noexcept override { owner_.on->post(function); }
};

class pool_runtime final : public runtime_state {
 public:
  pool_runtime(std::size_t threads, bool lends)
      : lends_(lends), processors_(threads), workers_(threads) {
    for (std::size_t i = 0; i < threads; ++i) {
      add_line(*lines_.emplace_back(std::make_unique<pool_line>(i, threads, *this, waits_)));
      team_.add(*lines_.back());
      helpers_.push_back(std::make_unique<graph_helper>(workers_, *lines_.back()));
    }
    for (const auto& line : lines_) {
      workers_.silent_async([this, &line] {
        processors_.take_one();
        started_.fetch_add(1);
        started_.notify_one();
        line->run();
      });
    }
    // A worker that is lent to a graph takes any task it finds: every line must have a
    // worker of its own by then, or one would run inside another for ever.
    for (auto n = started_.load(); n != threads; n = started_.load()) started_.wait(n);
    context_ = std::make_unique<pool_context>(*lines_.front());
  }
  ~pool_runtime() override { close(); }

  asio::any_io_executor executor() const override {
    if (closed()) return asio::system_executor();  // What a line gets from now on may be dropped.
    return function_executor(*context_);
  }
  asio::execution_context& context() const override { return *context_; }
  asio::any_io_executor completions_on(scheduler& on) const override {
    return executor_on(shared_from_this(), static_cast<detail::line&>(on));
  }

  std::uint64_t wake_ups() const noexcept override {
    std::uint64_t sum = 0;
    for (const auto& line : lines_) sum += line->wake_ups();
    return sum;
  }
  std::uint64_t now() const noexcept override {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

  void run_until(event& first, const std::atomic<bool>& done) override {
    if (scheduler::current()) {
      throw error(errc::would_block, "block_on() called from inside a task, an actor or a replica",
                  "await the operation instead: co_await it");
    }
    if (lends_) waits_.fetch_add(1, std::memory_order_relaxed);
    if (lends_ && habit_.advises()) {
      stand_in mine(*this);
      first.owner().on->post(first);
      mine.work(done);
      habit_.learn_from(mine);
    } else {
      first.owner().on->post(first);
    }
    waiters_.wait(done);
  }
  void finish(std::atomic<bool>& done) noexcept override { waiters_.finish(done); }

  std::shared_ptr<void> start(step_graph& graph, activity& waiter) override {
    // One graph at a time has the other lines; and one thread has none.
    if (lines() == 1 || !team_.claim()) return runtime_state::start(graph, waiter);
    if (!has_order(graph)) {
      if (team_.run(graph, waiter)) return nullptr;
      return shared_from_this();
    }
    auto& flow = graph.lowered();
    if (!flow) flow = lower(graph);
    // Never waited for: the first helper that gets there runs it, and posts the waiter.
    flow_ = static_cast<tf::Taskflow*>(flow.get());
    entered_.store(false, std::memory_order_relaxed);
    done_.store(false, std::memory_order_relaxed);
    helping_.store(lines(), std::memory_order_relaxed);
    for (const auto& helper : helpers_) helper->lend(*this, waiter);
    return flow;
  }

  void close() noexcept override {
    if (!mark_closed()) return;
    for (const auto& line : lines_) line->close();
    for (const auto& line : lines_) line->end();
    workers_.wait_for_all();
    // What a line posted to one that had closed in the same moment.
    for (const auto& line : lines_) line->close();
    abandon_roots();
    // Asio's timer thread, if there is one, ends here: it must not be the last to let go of us.
    context_->end();
  }

 private:
  /// Lends one line's worker to Taskflow while a graph runs.
  class graph_helper final : public event {
   public:
    graph_helper(tf::Executor& workers, scheduler& on) noexcept
        : event(&graph_helper::help, who_), workers_(workers) {
      who_.on = &on;
    }
    void lend(pool_runtime& home, activity& waiter) noexcept {
      home_ = &home;
      waiter_ = &waiter;
      who_.on->post(*this);
      static_cast<detail::line&>(*who_.on).hurry();
    }

   private:
    static void help(event& self, turn how) noexcept {
      auto& me = static_cast<graph_helper&>(self);
      if (how == turn::drop) return;
      if (me.workers_.this_worker_id() < 0) {
        // By who has borrowed the line: its worker has to come. Until then this is in the way.
        static_cast<detail::line&>(*me.who_.on).hurry();
        me.who_.on->post(me);
        return;
      }
      pool_runtime& home = *me.home_;
      if (home.entered_.exchange(true)) {
        me.workers_.corun_until([&] { return home.done_.load(std::memory_order_acquire); });
      } else {
        me.workers_.corun(*home.flow_);
        home.done_.store(true, std::memory_order_release);
        me.waiter_->wake();
      }
      if (home.helping_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        home.team_.let_go();
      }
    }

    party who_{.kind = "graph"};
    tf::Executor& workers_;
    pool_runtime* home_ = nullptr;
    activity* waiter_ = nullptr;
  };

  static bool has_order(const step_graph& graph) noexcept {
    return std::ranges::any_of(graph.steps(), [](const auto& s) { return !s.successors.empty(); });
  }

  /// A step whose predecessor failed fails with it; Taskflow orders the two.
  static std::shared_ptr<tf::Taskflow> lower(step_graph& graph) {
    auto flow = std::make_shared<tf::Taskflow>();
    std::vector<tf::Task> tasks;
    for (step_graph::id i = 0; i < graph.size(); ++i) {
      tasks.push_back(flow->emplace([&graph, i] { graph.take(i); }));
    }
    for (step_graph::id i = 0; i < graph.size(); ++i) {
      for (const auto after : graph.steps()[i].successors) tasks[i].precede(tasks[after]);
    }
    return flow;
  }

  const bool lends_;
  std::atomic<std::uint64_t> waits_{0};
  stand_in_habit habit_;
  processors processors_;
  tf::Executor workers_;
  std::vector<std::unique_ptr<pool_line>> lines_;
  step_team team_{patience};
  std::vector<std::unique_ptr<graph_helper>> helpers_;
  std::unique_ptr<pool_context> context_;
  tf::Taskflow* flow_ = nullptr;
  std::atomic<std::size_t> started_{0};
  std::atomic<std::size_t> helping_{0};
  std::atomic<bool> entered_{false};
  std::atomic<bool> done_{false};
  waiters waiters_;
};

}  // namespace

std::shared_ptr<runtime_state> make_pool_runtime(std::size_t threads, bool lends) {
  if (threads == 0) {
    throw error(errc::invalid_device, "a pool needs at least one thread",
                "write pool_size{1} or more, or pass an executor");
  }
  if (threads > pool_size::most_threads) {
    throw error(errc::invalid_device,
                "a pool of " + std::to_string(threads) + " threads: it has at most " +
                    std::to_string(pool_size::most_threads),
                "write as many as there are processors: replicas share the threads");
  }
  return std::make_shared<pool_runtime>(threads, lends);
}

}  // namespace troupe::detail
