// What a merge function is given, what becomes of its result, and what happens when replicas
// do not all come to a merge.

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;
using texts = per_replica<std::string>;

constexpr mirrored_options by_count{.check = merge_check::count};
constexpr mirrored_options in_turns{.order = replica_order::one_by_one};

void do_nothing() {}
int add(const ints& values) { return std::accumulate(values.begin(), values.end(), 0); }

// -- results --------------------------------------------------------------------------------------

task<int> take_own(replica_context ctx) {
  co_return co_await ctx.merge_call([] { return ints({10, 20}); });
}

task<ints> scatter(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(take_own);
}

TEST_CASE("core-073 of a per_replica out of a merge function each replica gets its component") {
  check_in_every_world(scatter, {10, 20});
}

task<std::vector<int>> take_list(replica_context ctx) {
  co_return co_await ctx.merge_call([] { return std::vector<int>({1, 2}); });
}

task<per_replica<std::vector<int>>> share_list(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(take_list);
}

TEST_CASE("core-074 a list out of a merge function goes to every replica as a whole") {
  // In TensorFlow the run's result is the one list again, since every replica returns the same
  // object. Here it is a list of each replica.
  check_in_every_world(share_list, {{1, 2}, {1, 2}});
}

// -- functions and arguments ----------------------------------------------------------------------

/// Adds up, and leaves a sign of who brought the function.
struct signed_sum {
  int owner;
  std::atomic<int>* calls;

  int operator()(const ints& values) const {
    ++*calls;
    return 100 * owner + add(values);
  }
  friend bool operator==(const signed_sum&, const signed_sum&) = default;
};

task<int> bring_own_function(replica_context ctx, std::atomic<int>* calls) {
  const signed_sum own = {ctx.replica_id() + 1, calls};
  co_return co_await ctx.merge_call(own, ctx.replica_id());
}

task<std::string> merge_own_functions(runtime* rt, mirrored_options options) {
  mirrored_strategy strategy(*rt, 2, options);
  std::atomic<int> calls{0};
  std::string seen;
  try {
    const ints sums = co_await strategy.run(bring_own_function, &calls);
    seen = std::to_string(sums[0]) + ", " + std::to_string(sums[1]);
  } catch (const error& e) {
    seen = ending(std::make_exception_ptr(e));
  }
  co_return seen + "; calls: " + std::to_string(calls.load());
}

TEST_CASE("core-076 different functions at one merge are an error, unless only the count matters") {
  // TensorFlow runs replica 0's function and never looks at the others. Here that has to be
  // asked for, because it is hardly ever meant.
  check_in_every_world([](runtime& rt) { return merge_own_functions(&rt, mirrored_options()); },
                       "TR-104; calls: 0");
  check_in_every_world([](runtime& rt) { return merge_own_functions(&rt, by_count); },
                       "101, 101; calls: 1");
}

task<int> gather_ids(replica_context ctx) {
  const auto gather = [](const ints& bases, const ints& k) { return bases[1] * k[0] + k[1]; };
  co_return co_await ctx.merge_call(gather, 10, ctx.replica_id() + 1);
}

task<ints> gather_in_order(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(gather_ids);
}

TEST_CASE("core-077 a merge function has each argument of all replicas, in replica order") {
  // TensorFlow's case passes the argument by keyword; here arguments go by place.
  check_in_every_world(gather_in_order, {12, 12});
}

struct count_arguments {
  template <class... Values>
  int operator()(const Values&...) const {
    return static_cast<int>(sizeof...(Values));
  }
};

template <class... Values>
task<std::string> merge_values(replica_context ctx, Values... values) {
  co_return co_await ending_of(ctx.merge_call(count_arguments(), values...));
}

task<std::string> bring_one_or_two(replica_context ctx) {
  task<std::string> merging = merge_values(ctx, 1);
  if (ctx.replica_id() == 1) merging = merge_values(ctx, 1, 2);
  co_return co_await std::move(merging);
}

/// The replicas catch what they are told; the run fails all the same.
task<std::string> merge_one_and_two(runtime* rt, mirrored_options options) {
  mirrored_strategy strategy(*rt, 2, options);
  co_return co_await ending_of(strategy.run(bring_one_or_two));
}

TEST_CASE("core-078 different numbers of arguments at one merge are an error") {
  check_in_every_world([](runtime& rt) { return merge_one_and_two(&rt, mirrored_options()); },
                       "TR-104");
  check_in_every_world([](runtime& rt) { return merge_one_and_two(&rt, by_count); }, "TR-104");
}

// -- where one may merge --------------------------------------------------------------------------

task<std::string> merge_inside_merge(replica_context ctx) {
  const auto inner = [ctx] { return ending_of(ctx.merge_call(do_nothing)); };
  co_return co_await ctx.merge_call(inner);
}

task<texts> merge_inside_merge_of_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(merge_inside_merge);
}

TEST_CASE("core-080 a replica's context is refused inside its own merge function") {
  check_in_every_world(merge_inside_merge_of_two, {"TR-202", "TR-202"});
}

task<int> merge_one(replica_context ctx) { co_return co_await ctx.merge_call(add, 1); }

task<int> merge_in_a_loop(replica_context ctx) {
  int total = 0;
  for (int i = 0; i < 3; ++i) total += co_await merge_one(ctx);
  co_return total;
}

task<std::string> merge_in_a_branch(replica_context ctx) {
  auto [told] = co_await when_all(ending_of(ctx.merge_call(do_nothing)));
  co_return told;
}

task<std::pair<ints, texts>> merge_below(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto in_a_loop = co_await strategy.run(merge_in_a_loop);
  const auto in_a_branch = co_await strategy.run(merge_in_a_branch);
  co_return std::pair(in_a_loop, in_a_branch);
}

TEST_CASE("core-081 tasks a replica awaits merge for it, concurrent branches do not") {
  // TensorFlow refuses a merge in a function or a loop that it traces into a graph of its own.
  // Nothing is traced here: an awaited task is part of the replica. What can run beside the
  // replica is not, and would merge in no order that the others could match.
  check_in_every_world(merge_below, {ints({6, 6}), texts({"TR-105", "TR-105"})});
}

// -- replicas that do not come --------------------------------------------------------------------

/// What the replicas of a run did. They may be on several threads.
struct tally {
  std::atomic<int> entered{0}, left{0}, merged{0};

  std::string show() const {
    return std::to_string(entered) + " entered, " + std::to_string(left) + " left, " +
           std::to_string(merged) + " merged";
  }
};

class visit {
 public:
  explicit visit(tally& in) noexcept : in_(in) { ++in_.entered; }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() { ++in_.left; }

 private:
  tally& in_;
};

task<> throw_on(replica_context ctx, tally* seen, int bad) {
  const visit here(*seen);
  if (ctx.replica_id() == bad) throw std::runtime_error("replica " + std::to_string(bad));
  const auto count = [seen] { ++seen->merged; };
  co_await ctx.merge_call(count);
}

task<std::string> run_with_failure(runtime* rt, int bad, mirrored_options options) {
  mirrored_strategy strategy(*rt, 2, options);
  tally seen;
  const std::string surfaced = co_await ending_of(strategy.run(throw_on, &seen, bad));
  co_return surfaced + "; " + seen.show();
}

TEST_CASE("core-057 replicas after one that throws before any merge are never entered, in turns") {
  check_in_every_world([](runtime& rt) { return run_with_failure(&rt, 0, in_turns); },
                       "replica 0; 1 entered, 1 left, 0 merged");
}

TEST_CASE("a concurrent replica that throws before any merge does not keep others from starting") {
  // TensorFlow goes through the replicas in turn. Without that each is entered, told, and unwound
  // once.
  check_in_every_world([](runtime& rt) { return run_with_failure(&rt, 0, mirrored_options()); },
                       "replica 0; 2 entered, 2 left, 0 merged");
}

TEST_CASE("core-058 who waits at a merge is unwound when another replica throws") {
  const std::string told = "replica 1; 2 entered, 2 left, 0 merged";
  check_in_every_world([](runtime& rt) { return run_with_failure(&rt, 1, in_turns); }, told);
  check_in_every_world([](runtime& rt) { return run_with_failure(&rt, 1, mirrored_options()); },
                       told);
}

int id_of(replica_context ctx) { return ctx.replica_id(); }

task<std::pair<std::string, ints>> run_after_failure(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  tally seen;
  std::string before = co_await ending_of(strategy.run(throw_on, &seen, 1));
  const bool outside = !in_cross_replica_context() && !has_strategy();
  before += outside ? ", outside again" : ", not outside";
  const ints after = co_await strategy.run(id_of);
  co_return std::pair(before, after);
}

TEST_CASE("core-056 after a failed run the strategy and the contexts are as before") {
  check_in_every_world(run_after_failure, {"replica 1, outside again", ints({0, 1})});
}

task<> merge_on_first_only(replica_context ctx) {
  if (ctx.replica_id() == 0) co_await ctx.merge_call(do_nothing);
}

task<std::string> merge_once_and_never(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await ending_of(strategy.run(merge_on_first_only));
}

TEST_CASE("core-060 replicas that merge a different number of times are an error") {
  check_in_every_world(merge_once_and_never, "TR-101");
}

}  // namespace
}  // namespace troupe::test
