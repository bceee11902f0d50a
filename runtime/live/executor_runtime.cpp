// executor_runtime.cpp - one line, drained by handlers posted to the user's executor.
//
// The executor may end before the runtime does. Two signs of it are heeded: a drain
// that is destroyed instead of being called, and the shutdown of the execution context,
// which a service of ours in that context reports.

#include "runtime/live/executor_runtime.hpp"

#include <chrono>
#include <utility>

#include "runtime/asio_private.hpp"
#include "runtime/live/line.hpp"
#include "runtime/live/line_executor.hpp"
#include "troupe/core/error.hpp"
#include "troupe/runtime/runtime.hpp"

namespace troupe {

namespace detail {

namespace {

class executor_runtime;

/// Tells the runtimes on an execution context that it ends, before its operations go.
class end_of_context : public asio::execution_context::service {
 public:
  using key_type = end_of_context;
  static inline asio::execution_context::id id;

  explicit end_of_context(asio::execution_context& context) : service(context) {}

  void add(std::weak_ptr<executor_runtime> runtime) {
    const std::lock_guard lock(mutex_);
    std::erase_if(runtimes_, [](const auto& r) { return r.expired(); });
    runtimes_.push_back(std::move(runtime));
  }

 private:
  void shutdown() noexcept override;

  std::mutex mutex_;
  std::vector<std::weak_ptr<executor_runtime>> runtimes_;
};

class executor_line final : public line {
 public:
  explicit executor_line(executor_runtime& home);

 private:
  bool wake() noexcept override;

  executor_runtime& runtime_;
};

class executor_runtime final : public runtime_state {
 public:
  explicit executor_runtime(asio::any_io_executor executor)
      : executor_(std::move(executor)), line_(*this) {
    add_line(line_);
  }

  void watch_context() {
    auto& context = asio::query(executor_, asio::execution::context);
    asio::use_service<end_of_context>(context).add(
        std::static_pointer_cast<executor_runtime>(shared_from_this()));
  }

  asio::any_io_executor executor() const override { return executor_; }
  asio::execution_context& context() const override {
    return asio::query(executor_, asio::execution::context);
  }
  asio::any_io_executor completions_on(scheduler& on) const override {
    return executor_on(shared_from_this(), static_cast<detail::line&>(on));
  }
  std::uint64_t wake_ups() const noexcept override { return line_.wake_ups(); }
  std::uint64_t now() const noexcept override {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

  void run_until(event& first, const std::atomic<bool>& done) override;
  void finish(std::atomic<bool>& done) noexcept override;

  void close() noexcept override {
    if (!mark_closed()) return;
    line_.close();
    abandon_roots();
  }

  /// What waits is abandoned while its handlers still have somewhere to go, with which they go.
  void end_with_context() noexcept {
    close();
    executor_ = asio::system_executor();  // A strand must not outlive its context.
  }

  /// The executor destroyed the drain that the line was claimed for.
  void lost_drain() noexcept {
    line_.close();
    if (mark_closed()) abandon_roots();
  }

  void nudge() noexcept;
  void post_drain() noexcept;
  void drain() noexcept { line_.drain(); }

 private:
  void run_context(asio::io_context& context, event& first, const std::atomic<bool>& done);

  asio::any_io_executor executor_;
  waiters waiters_;
  std::atomic<int> inside_{0};   // Waiters that run the context.
  std::atomic<int> leaving_{0};  // Those of them that are done.
  executor_line line_;
};

/// Runs the line once. Destroyed unrun, it says that the executor has ended.
class drain_handler {
 public:
  explicit drain_handler(std::shared_ptr<executor_runtime> home) noexcept
      : home_(std::move(home)) {}
  drain_handler(drain_handler&&) = default;
  ~drain_handler() {
    if (home_) home_->lost_drain();
  }

  void operator()() noexcept { std::exchange(home_, nullptr)->drain(); }

 private:
  std::shared_ptr<executor_runtime> home_;
};

void end_of_context::shutdown() noexcept {
  std::vector<std::weak_ptr<executor_runtime>> ending;
  {
    const std::lock_guard lock(mutex_);
    ending.swap(runtimes_);
  }
  for (const auto& weak : ending) {
    if (auto runtime = weak.lock()) runtime->end_with_context();
  }
}

executor_line::executor_line(executor_runtime& home) : line(0, 1, home), runtime_(home) {}

bool executor_line::wake() noexcept {
  runtime_.post_drain();
  return true;
}

void executor_runtime::post_drain() noexcept {
  asio::post(executor_,
             drain_handler(std::static_pointer_cast<executor_runtime>(shared_from_this())));
}

[[noreturn]] void throw_would_block(const char* where) {
  throw error(errc::would_block, std::string("block_on() called from ") + where,
              "await the operation, or start it with async_run() and a completion token");
}

void executor_runtime::run_until(event& first, const std::atomic<bool>& done) {
  if (scheduler::current()) throw_would_block("inside a task, an actor or a replica");
  if (auto* io = executor_.target<asio::io_context::executor_type>()) {
    if (io->running_in_this_thread()) throw_would_block("a handler of the executor it waits for");
    run_context(asio::query(*io, asio::execution::context), first, done);
    return;
  }
  if (auto* pool = executor_.target<asio::thread_pool::executor_type>();
      pool && pool->running_in_this_thread()) {
    throw_would_block("a thread of the pool it waits for");
  }
  line_.post(first);
  waiters_.wait(done);
}

void executor_runtime::run_context(asio::io_context& context, event& first,
                                   const std::atomic<bool>& done) {
  struct counted {
    explicit counted(std::atomic<int>& c) : count(c) { ++count; }
    ~counted() { --count; }
    std::atomic<int>& count;
  } const one_more(inside_);
  std::exception_ptr foreign;  // Out of somebody else's handler, which shares the context.
  // Whoever blocks runs the line itself: no handler and no wake-up in between.
  if (line_.try_claim()) {
    line_.drain(&first);
  } else {
    line_.post(first);
  }
  while (!done.load(std::memory_order_acquire)) {
    if (context.stopped()) context.restart();
    try {
      if (context.run_one() != 0 || done.load(std::memory_order_acquire)) continue;
    } catch (...) {
      if (!foreign) foreign = std::current_exception();
      continue;
    }
    if (closed()) {
      waiters_.wait(done);  // Whoever ends the runtime is about to abandon what was begun.
      break;
    }
    // Out of work: no handler, no timer and no other thread can ever finish it.
    error_facts facts(errc::deadlock, "deadlock: nothing can run and somebody waits");
    facts.waiting = waiting();
    facts.fix = "look for who never answers: each line names what a coroutine waits for";
    throw error(std::move(facts));
  }
  leaving_.fetch_sub(1, std::memory_order_release);
  if (foreign) std::rethrow_exception(foreign);
}

void executor_runtime::finish(std::atomic<bool>& done) noexcept {
  const bool driven_here = scheduler::current() == &line_;
  if (executor_.target<asio::io_context::executor_type>()) leaving_.fetch_add(1);
  waiters_.finish(done);
  // Another thread's waiter may sleep inside the context: give it something to run.
  if (auto* io = executor_.target<asio::io_context::executor_type>();
      io && inside_.load() > (driven_here && !io->running_in_this_thread() ? 1 : 0)) {
    nudge();
  }
}

void executor_runtime::nudge() noexcept {
  // Whichever thread of the context takes it passes it on until the waiter has left.
  asio::post(executor_, [self = shared_from_this(), this] {
    if (leaving_.load(std::memory_order_acquire) > 0) nudge();
  });
}

}  // namespace

void waiters::wait(const std::atomic<bool>& done) {
  if (done.load(std::memory_order_acquire)) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done.load(std::memory_order_relaxed); });
}

void waiters::finish(std::atomic<bool>& done) noexcept {
  const std::lock_guard lock(mutex_);
  done.store(true, std::memory_order_release);
  changed_.notify_all();
}

std::shared_ptr<runtime_state> make_executor_runtime(asio::any_io_executor executor) {
  if (!executor) {
    throw error(errc::invalid_device, "a runtime needs an executor; this one is empty",
                "pass io_context.get_executor(), or pool_size{n} for threads of its own");
  }
  auto state = std::make_shared<executor_runtime>(std::move(executor));
  state->watch_context();
  return state;
}

}  // namespace detail

runtime::runtime(asio::any_io_executor executor)
    : state_(detail::make_executor_runtime(std::move(executor))) {}

runtime::runtime(pool_size size) : state_(detail::make_pool_runtime(size.threads, size.waiters)) {
  state_->graph_from(size.graph_from);
}

runtime::~runtime() { state_->close(); }

}  // namespace troupe
