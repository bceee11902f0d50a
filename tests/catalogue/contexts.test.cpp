// TR-201 and following: calls that are not for the context they are made in.

#include <catch2/catch_test_macros.hpp>
#include <exception>
#include <optional>
#include <troupe/troupe.hpp>

#include "tests/catalogue/example.hpp"

namespace troupe::test {
namespace {

void do_nothing() {}

// -- 201 ------------------------------------------------------------------------------------------

task<> run_inside(replica_context ctx) { co_await ctx.strategy().run(do_nothing); }
void reduce_inside(replica_context ctx) { ctx.strategy().reduce(reduce_op::mean, 1.0); }
void enter_inside(replica_context ctx) { const auto inside = ctx.strategy().scope(); }
void make_inside(replica_context ctx) { const variable alone(ctx.strategy(), 1); }

TEST_CASE_METHOD(on_an_io_context,
                 "TR-201 cross_replica_required: a replica runs, reduces, enters its strategy") {
  mirrored_strategy strategy(rt, 2);
  wanted refusal{.code = errc::cross_replica_required,
                 .what = "reduce() needs cross-replica context, but this is a replica",
                 .fix = "call it from a merge function: co_await ctx.merge_call(fn), or before and "
                        "after run()"};
  raised(refusal, thrown_on(strategy.run(reduce_inside)));
  refusal.what = "scope() needs cross-replica context, but this is a replica";
  raised(refusal, thrown_on(strategy.run(enter_inside)));
  refusal.what = "run() needs cross-replica context, but this is a replica";
  show(raised(refusal, thrown_on(strategy.run(run_inside))));
}

TEST_CASE_METHOD(on_an_io_context,
                 "TR-201 cross_replica_required: one replica makes a variable alone") {
  mirrored_strategy strategy(rt, 2);
  raised({.code = errc::cross_replica_required,
          .what = "variable \"Variable\" made by one replica alone",
          .fix = "let all replicas make it together: co_await create_variable(ctx, ...)"},
         thrown_on(strategy.run(make_inside)));
}

// -- 202 ------------------------------------------------------------------------------------------

wanted nobody_here(const std::string& call) {
  return {.code = errc::replica_required,
          .what = call + " on a replica context where no replica is: in a scope, a merge function "
                         "or an update",
          .fix = "a merge function has everybody's values already: use them; else call it in a "
                 "replica function"};
}

task<> merge_in_scope(const mirrored_strategy* strategy) {
  const std::optional<replica_context> of_default = get_replica_context();
  const auto inside = strategy->scope();
  co_await of_default->merge_call(do_nothing);
}

task<> merge_in_merge(replica_context ctx) {
  const auto again = [ctx]() -> task<> {
    return [](replica_context old) -> task<> { co_await old.merge_call(do_nothing); }(ctx);
  };
  co_await ctx.merge_call(again);
}

task<> read_in_merge(replica_context ctx, variable<int, sum_op> counter) {
  const auto read = [ctx, counter] { return counter.read(ctx); };
  co_await ctx.merge_call(read);
}

TEST_CASE_METHOD(on_an_io_context,
                 "TR-202 replica_required: a merge function merges, or reads as a replica") {
  mirrored_strategy strategy(rt, 2);
  const variable counter(strategy, 0, aggregation::sum);
  raised(nobody_here("read()"), thrown_on(strategy.run(read_in_merge, counter)));
  show(raised(nobody_here("merge_call()"), thrown_on(strategy.run(merge_in_merge))));
}

TEST_CASE_METHOD(on_an_io_context,
                 "TR-202 replica_required: the context outside of everything merges in a scope") {
  mirrored_strategy strategy(rt, 2);
  raised(nobody_here("merge_call()"), thrown_on(merge_in_scope(&strategy)));
}

// -- 203 ------------------------------------------------------------------------------------------

TEST_CASE_METHOD(on_an_io_context, "TR-203 scope_required: colocation outside of the strategy") {
  mirrored_strategy strategy(rt, 2);
  const variable counter(strategy, 0, aggregation::sum);
  const strategy_extended extended = strategy.extended();
  show(raised({.code = errc::scope_required,
               .what = "colocate_vars_with() outside of the strategy",
               .fix = "const auto inside = strategy.scope(); before it"},
              thrown_by([&] { const auto together = extended.colocate_vars_with(counter); })));
}

// -- 204 ------------------------------------------------------------------------------------------

task<> run_other(const mirrored_strategy* other) { co_await other->run(do_nothing); }
int read_here(replica_context ctx, variable<int, sum_op> counter) { return counter.read(ctx); }

TEST_CASE_METHOD(on_an_io_context, "TR-204 strategy_mixed: a replica runs another strategy") {
  mirrored_strategy strategy(rt, 2);
  const mirrored_strategy other(rt, 2);
  show(raised({.code = errc::strategy_mixed,
               .what = "run() of one strategy inside a context of another",
               .fix = "use one strategy in a logical task; get_strategy() is the one in force"},
              thrown_on(strategy.run(run_other, &other))));
}

TEST_CASE_METHOD(on_an_io_context,
                 "TR-204 strategy_mixed: a replica reads a variable of another strategy") {
  mirrored_strategy strategy(rt, 2);
  const mirrored_strategy other(rt, 2);
  const variable counter(other, 0, aggregation::sum, "counter");
  raised({.code = errc::strategy_mixed,
          .what = "read() of variable \"counter\" in a context of another strategy than its own",
          .fix = "make the variable with the strategy that runs the replicas"},
         thrown_on(strategy.run(read_here, counter)));
}

// -- 205 ------------------------------------------------------------------------------------------

TEST_CASE_METHOD(on_an_io_context, "TR-205 inside_scope: a strategy is set inside a scope") {
  const mirrored_strategy strategy(rt, 2);
  const auto inside = strategy.scope();
  show(raised({.code = errc::inside_scope,
               .what = "experimental_set_strategy() inside a strategy's scope or run",
               .fix = "call it before any scope; inside one the strategy is in force already"},
              thrown_by([&] { experimental_set_strategy(&strategy); })));
}

}  // namespace
}  // namespace troupe::test
