// Who is in which context, what a context refuses, and what strategies are made of.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using texts = per_replica<std::string>;
using names = std::vector<std::string>;

/// What the four ambient queries answer here, in one line; `own` is the strategy in question.
std::string where(const strategy& own) {
  const auto replica = get_replica_context();
  std::string text = in_cross_replica_context() ? "cross-replica" : "outside";
  if (replica) text = "replica " + std::to_string(replica->replica_id());
  const strategy& in_force = get_strategy();
  text += &in_force == &own ? ", own strategy" : ", another strategy";
  text += has_strategy() ? ", has one" : ", has none";
  return text;
}

const std::string nowhere = "replica 0, own strategy, has none";
const std::string in_a_merge = "cross-replica, own strategy, has one";

task<std::string> where_by_default() { co_return where(get_default_strategy()); }

void do_nothing() {}

// -- where one is ---------------------------------------------------------------------------------

TEST_CASE("core-001 outside every strategy the default one is in force") {
  CHECK(where(get_default_strategy()) == nowhere);
  check_in_every_world([](runtime&) { return where_by_default(); }, nowhere);
}

task<std::string> ask_in_merge(replica_context ctx) {
  const auto ask = [](cross_replica_context cross) { return where(cross.strategy()); };
  const std::string merging = co_await ctx.merge_call(ask);
  co_return merging + "; then " + where(ctx.strategy());
}

task<texts> ask_in_merge_of_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(ask_in_merge);
}

TEST_CASE("core-004 a merge function is in cross-replica context, and then a replica in its own") {
  check_in_every_world(ask_in_merge_of_two,
                       {in_a_merge + "; then replica 0, own strategy, has one",
                        in_a_merge + "; then replica 1, own strategy, has one"});
}

task<std::string> join_outside(runtime&) {
  const auto join = [](cross_replica_context cross, const texts& all) {
    return "foo_" + all[0] + "; " + where(cross.strategy());
  };
  const std::optional<replica_context> ctx = get_replica_context();
  std::string text = "bar";
  const std::string joined = co_await ctx->merge_call(join, text);
  const auto join_later = [](const texts& all) -> task<std::string> {
    co_return "foo_" + all[0] + "; " + where(get_default_strategy());
  };
  const std::string later = co_await ctx->merge_call(join_later, text);
  co_return joined + "; " + later + "; " + where(get_default_strategy());
}

TEST_CASE("core-013 outside of everything a merge function is called at once, by one replica") {
  const std::string merged = "foo_bar; cross-replica, own strategy, has none";
  check_in_every_world(join_outside, merged + "; " + merged + "; " + nowhere);
}

task<std::string> fail_outside(runtime&) {
  const auto fail = [](int) -> int { throw std::runtime_error("no sum"); };
  const auto fail_later = [](int value) -> task<int> {
    if (value == 1) throw std::runtime_error("none later");
    co_return value;
  };
  const std::optional<replica_context> ctx = get_replica_context();
  const auto drop = [](const per_replica<int>&) {};
  co_await ctx->merge_call(drop, 1);
  const auto first = [fail](const per_replica<int>& all) { return fail(all[0]); };
  const auto second = [fail_later](const per_replica<int>& all) { return fail_later(all[0]); };
  std::string seen = co_await ending_of(ctx->merge_call(first, 1));
  const std::string then = co_await ending_of(ctx->merge_call(second, 1));
  seen += "; " + then + "; " + where(get_default_strategy());
  co_return seen;
}

TEST_CASE("a merge outside of everything throws what its function throws, and leaves its context") {
  check_in_every_world(fail_outside, "no sum; none later; " + nowhere);
}

task<int> sum_outside(runtime&) {
  const std::optional<replica_context> ctx = get_replica_context();
  const int sum = co_await ctx->all_reduce(reduce_op::sum, 7);
  variable counter(get_strategy(), sum, aggregation::sum);
  const int now = co_await counter.assign_add(*ctx, 1);
  co_return now;
}

TEST_CASE("outside of everything reductions and variables are those of one replica") {
  check_in_every_world(sum_outside, 8);
}

task<std::string> launch_and_ask(runtime* rt) {
  co_return co_await launch(*rt, where_by_default(), use_task);
}

task<std::string> launch_in_merge(replica_context ctx, runtime* rt) {
  const auto launch_one = [rt] { return launch_and_ask(rt); };
  co_return co_await ctx.merge_call(launch_one);
}

task<texts> launch_in_merge_of_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(launch_in_merge, &rt);
}

TEST_CASE("core-022 a task launched in cross-replica context starts in the default state") {
  check_in_every_world(launch_in_merge_of_two, {nowhere, nowhere});
}

// -- what is refused ------------------------------------------------------------------------------

replica_context keep(replica_context ctx) { return ctx; }

/// Tries a context of the default strategy in a merge function of another one.
task<std::string> merge_on_default_in_merge(replica_context ctx, replica_context of_default) {
  const auto stale = [of_default] { return ending_of(of_default.merge_call(do_nothing)); };
  co_return co_await ctx.merge_call(stale);
}

task<texts> merge_on_default_in_merge_of_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const std::optional<replica_context> kept = get_replica_context();
  co_return co_await strategy.run(merge_on_default_in_merge, *kept);
}

TEST_CASE("core-016 a context of the default strategy is refused in another one's merge function") {
  check_in_every_world(merge_on_default_in_merge_of_two, {"TR-202", "TR-202"});
}

task<std::string> run_inside(replica_context ctx) {
  co_return co_await ending_of(ctx.strategy().run(do_nothing));
}

task<texts> run_inside_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(run_inside);
}

TEST_CASE("core-017 a run inside a replica of the same strategy is refused") {
  check_in_every_world(run_inside_two, {"TR-201", "TR-201"});
}

std::string reduce_inside(replica_context ctx) {
  const per_replica<int> values = {1, 2};
  return ending(thrown_by([&] { return ctx.strategy().reduce(reduce_op::sum, values); }));
}

task<texts> reduce_inside_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  co_return co_await strategy.run(reduce_inside);
}

TEST_CASE("core-018 a reduction inside a replica of the same strategy is refused") {
  check_in_every_world(reduce_inside_two, {"TR-201", "TR-201"});
}

task<std::string> merge_on_kept(replica_context, replica_context kept) {
  co_return co_await ending_of(kept.merge_call(do_nothing));
}

task<texts> merge_on_kept_in_next_run(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const auto kept = co_await strategy.run(keep);
  co_return co_await strategy.run(merge_on_kept, kept);
}

task<texts> merge_on_kept_in_other_strategy(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  mirrored_strategy other(rt, 2);
  const auto kept = co_await strategy.run(keep);
  co_return co_await other.run(merge_on_kept, kept);
}

TEST_CASE("core-021 a context of an earlier run, or of another strategy, is refused") {
  check_in_every_world(merge_on_kept_in_next_run, {"TR-105", "TR-105"});
  check_in_every_world(merge_on_kept_in_other_strategy, {"TR-105", "TR-105"});
}

// -- strategies -----------------------------------------------------------------------------------

TEST_CASE("core-028 the default strategy has a device") {
  // TensorFlow refuses to name it. There is no reason to: it is where its one replica runs.
  CHECK(get_default_strategy().worker_devices() ==
        names({"/job:localhost/replica:0/task:0/device:CPU:0"}));
}

TEST_CASE("core-029 there is one default strategy, and no strategy is copied") {
  // TensorFlow notices a second default strategy, or a copy, when it is made. Here neither
  // compiles.
  STATIC_CHECK_FALSE(std::is_default_constructible_v<default_strategy>);
  STATIC_CHECK_FALSE(std::is_copy_constructible_v<default_strategy>);
  STATIC_CHECK_FALSE(std::is_copy_constructible_v<mirrored_strategy>);
  STATIC_CHECK_FALSE(std::is_copy_assignable_v<mirrored_strategy>);
  STATIC_CHECK_FALSE(std::is_move_constructible_v<mirrored_strategy>);
  CHECK(&get_default_strategy() == &get_default_strategy());
  CHECK(&get_strategy() == &get_default_strategy());
}

struct on_an_io_context {
  asio::io_context io;
  runtime rt{io.get_executor()};

  std::string made_of(const names& devices) {
    return ending(thrown_by([&] { mirrored_strategy(rt, devices); }));
  }
};

TEST_CASE_METHOD(on_an_io_context, "core-229 devices are distinct, and there is at least one") {
  // TensorFlow takes an empty list for all local devices. Here a device is a name, of which
  // there are as many as one likes: the list says how many replicas are meant.
  CHECK(made_of({"CPU:0", "/cpu:0"}) == "TR-301");
  CHECK(made_of({}) == "TR-301");
  CHECK(made_of({"CPU:0", "/cpu:1"}) == "returned");
}

TEST_CASE_METHOD(on_an_io_context, "core-230 a strategy has a replica for each device, in order") {
  // A strategy of one device is the model's one-device strategy. Devices of variables are not
  // asked for: there are no variables.
  const mirrored_strategy two(rt, names({"cpu:1", "/CPU:0"}));
  const mirrored_strategy one(rt, 1);
  CHECK(two.num_replicas_in_sync() == 2);
  CHECK(one.num_replicas_in_sync() == 1);
  CHECK(get_default_strategy().num_replicas_in_sync() == 1);
  CHECK(two.worker_devices() == names({"/job:localhost/replica:0/task:0/device:CPU:1",
                                       "/job:localhost/replica:0/task:0/device:CPU:0"}));
}

TEST_CASE("core-232 a device has one canonical name") {
  // TensorFlow completes names of other machines' devices. All replicas are in this process,
  // where such a name names nothing.
  CHECK(canonical_device("/cpu:0") == "/job:localhost/replica:0/task:0/device:CPU:0");
  CHECK(ending(thrown_by([] { return canonical_device("/job:worker/task:1"); })) == "TR-301");
}

}  // namespace
}  // namespace troupe::test
