// errors.cpp - what the errors say, and that the strategy is as good as new after each.

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <exception>
#include <iostream>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>

namespace {

using namespace troupe;
using namespace std::chrono_literals;

int sum(const per_replica<int>& values) { return std::accumulate(values.begin(), values.end(), 0); }
void apply_gradients(cross_replica_context, const per_replica<float>&) {}
void reset_statistics(cross_replica_context) {}

/// What every replica does when nothing is wrong.
task<int> good_step(replica_context ctx) {
  co_return co_await ctx.merge_call(sum, ctx.replica_id());
}

// [mismatch]
/// Replica 1 takes another branch, and meets the others at another merge.
task<> branches(replica_context ctx) {
  int known = co_await ctx.merge_call(sum, 1);
  if (ctx.replica_id() == 1 && known > 0) {
    co_await ctx.merge_call(reset_statistics);
  } else {
    co_await ctx.merge_call(apply_gradients, 0.5f);
  }
}
// [/mismatch]

// [missing]
/// Replica 2 has one batch less than the others.
task<> uneven(replica_context ctx) {
  const int batches = ctx.replica_id() == 2 ? 2 : 3;
  for (int i = 0; i < batches; ++i) co_await ctx.merge_call(apply_gradients, 1.0f);
}
// [/missing]

// [failed]
/// Replica 0 finds its data damaged; the others wait for it at the merge.
task<int> reads_data(replica_context ctx) {
  if (ctx.replica_id() == 0) throw std::runtime_error("batch 7 is damaged");
  co_return co_await ctx.merge_call(sum, 1);
}
// [/failed]

/// Replica 1 waits for something slow outside, everybody else for replica 1.
task<> waits_for_long(replica_context ctx) {
  if (ctx.replica_id() == 1) co_await sleep_for(1h);
  co_await ctx.merge_call(reset_statistics);
}

class demonstration {
 public:
  demonstration() : rt_(io_.get_executor()), strategy_(rt_, 3) {}

  void mismatch() {
    try {
      block_on(rt_, strategy_.run(branches));
    } catch (const error& e) {
      show("different merges", e, errc::merge_mismatch);
    }
  }

  void missing() {
    try {
      block_on(rt_, strategy_.run(uneven));
    } catch (const error& e) {
      show("a replica that has finished", e, errc::missing_replica);
    }
  }

  void failed() {
    // [caught]
    try {
      block_on(rt_, strategy_.run(reads_data));
    } catch (const std::runtime_error& own) {  // The replica's exception, with its own type …
      std::cout << "run() threw: " << own.what() << "\n";
      const std::optional<error> picture = strategy_.last_failure();  // … and what it led to.
      if (picture) show("a replica that throws", *picture, errc::replica_failed);
    }
    // [/caught]
  }

  void cancelled() {
    // [cancelled]
    asio::cancellation_signal signal;
    std::exception_ptr outcome;
    strategy_.async_run(
        waits_for_long, std::tuple(),
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { outcome = e; }));
    io_.restart();
    io_.poll();  // Everybody waits now.
    signal.emit(asio::cancellation_type::terminal);
    io_.run();
    // [/cancelled]
    try {
      if (outcome) std::rethrow_exception(outcome);
    } catch (const error& e) {
      show("a caller that cancels", e, errc::cancelled);
    }
  }

  bool all_shown() const { return shown_ == 4; }

 private:
  void show(const char* title, const error& e, errc wanted) {
    std::cout << "--- " << title << "\n" << e.what() << "\n\n";
    const per_replica<int> after = block_on(rt_, strategy_.run(good_step));
    if (e.code() == wanted && after == per_replica<int>{3, 3, 3}) ++shown_;
  }

  asio::io_context io_;
  runtime rt_;
  mirrored_strategy strategy_;
  int shown_ = 0;
};

}  // namespace

int main() {
  try {
    demonstration d;
    d.mismatch();
    d.missing();
    d.failed();
    d.cancelled();
    if (d.all_shown()) return 0;
    std::cerr << "errors: not every error came as expected\n";
  } catch (const std::exception& e) {
    std::cerr << "errors: " << e.what() << "\n";
  }
  return 1;
}
