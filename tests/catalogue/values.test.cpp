// TR-301 and following: arguments and values that do not fit.

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/catalogue/example.hpp"

namespace troupe::test {
namespace {

using names = std::vector<std::string>;
using floats = std::vector<float>;

// -- 301 ------------------------------------------------------------------------------------------

TEST_CASE_METHOD(on_an_io_context, "TR-301 invalid_device: a list no strategy can be made of") {
  const auto made_of = [&](const names& devices) {
    return thrown_by([&] { const mirrored_strategy strategy(rt, devices); });
  };
  wanted refusal{.code = errc::invalid_device,
                 .what = "\"gpu:0\" is not a device of this machine",
                 .fix = "name devices \"cpu:0\", \"cpu:1\", ..., each once, or give a number of "
                        "replicas"};
  raised(refusal, made_of({"gpu:0"}));
  refusal.what = "a strategy needs at least one device";
  raised(refusal, made_of({}));
  refusal.what = "a strategy needs at least one replica, not 0";
  raised(refusal, thrown_by([&] { const mirrored_strategy none(rt, 0); }));
  refusal.what = "device \"/cpu:0\" is in the list twice";
  show(raised(refusal, made_of({"cpu:0", "/cpu:0"})));
}

TEST_CASE("TR-301 invalid_device: an executor no runtime can be made of") {
  raised({.code = errc::invalid_device,
          .what = "a runtime needs an executor; this one is empty",
          .fix = "pass io_context.get_executor(), or pool_size{n} for threads of its own"},
         thrown_by([] { const runtime rt{asio::any_io_executor()}; }));
  raised({.code = errc::invalid_device,
          .what = "a pool needs at least one thread",
          .fix = "write pool_size{1} or more, or pass an executor"},
         thrown_by([] { const runtime rt{pool_size{0}}; }));
  raised({.code = errc::invalid_device,
          .what = "a pool of 2000 threads: it has at most 1024",
          .fix = "write as many as there are processors: replicas share the threads"},
         thrown_by([] { const runtime rt{pool_size{2000}}; }));
}

// -- 302 ------------------------------------------------------------------------------------------

TEST_CASE_METHOD(on_an_io_context, "TR-302 shape_mismatch: replicas' values differ in length") {
  const mirrored_strategy strategy(rt, 2);
  const per_replica<floats> values = {floats(4), floats(2)};
  show(raised({.code = errc::shape_mismatch,
               .what = "the replicas' values differ in shape: [4], [2] (in replica order)",
               .fix = "reduce along the axis in which they differ, or pad them"},
              thrown_by([&] { strategy.reduce(reduce_op::sum, values); })));
}

TEST_CASE("TR-302 shape_mismatch: elements do not fill a tensor") {
  raised({.code = errc::shape_mismatch,
          .what = "shape [2, 3] does not hold 5 elements",
          .fix = "the product of the sizes is the number of elements"},
         thrown_by([] { const tensor<float> t({2, 3}, floats(5)); }));
}

// -- 303 ------------------------------------------------------------------------------------------

TEST_CASE_METHOD(on_an_io_context, "TR-303 invalid_axis: an axis that is not there, or twice") {
  const mirrored_strategy strategy(rt, 2);
  const per_replica<floats> values = {floats(4), floats(2)};
  const auto along = [&](const std::vector<int>& axes) {
    return thrown_by([&] { strategy.reduce(reduce_op::sum, values, axes); });
  };
  wanted refusal{.code = errc::invalid_axis,
                 .what = "axis 0 is named twice",
                 .fix = "axes count from 0, or from the end as -1, -2, ...; name each once"};
  raised(refusal, along({0, 0}));
  refusal.what = "axis 1 of a value with 1 axis";
  show(raised(refusal, along({1})));
  raised({.code = errc::invalid_axis,
          .what = "gather along axis 1 of values with 1 axis",
          .fix = "axes count from 0, here not from the end; a single number has none"},
         thrown_by([&] { strategy.gather(values, 1); }));
}

// -- 304 ------------------------------------------------------------------------------------------

TEST_CASE_METHOD(on_an_io_context, "TR-304 not_per_replica: the sum of a plain value") {
  const mirrored_strategy strategy(rt, 2);
  show(raised({.code = errc::not_per_replica,
               .what = "the sum over 2 replicas of a plain value",
               .fix = "give a per_replica; or multiply by num_replicas_in_sync() if every "
                      "replica's copy counts"},
              thrown_by([&] { strategy.reduce(reduce_op::sum, 1); })));
}

// -- 305 ------------------------------------------------------------------------------------------

const std::string as_many =
    "bring as many elements and the same keys from every replica; what should stay whole belongs "
    "in a struct without a description";

names one_and_two(replica_context ctx) {
  return names(static_cast<std::size_t>(1 + ctx.replica_id()), "x");
}

TEST_CASE_METHOD(on_an_io_context,
                 "TR-305 structure_mismatch: replicas return vectors of different length") {
  const mirrored_strategy strategy(rt, 2);
  raised({.code = errc::structure_mismatch,
          .what = "the replicas' values differ in structure: replica 1 has 2 elements, replica 0 "
                  "has 1",
          .fix = as_many},
         thrown_on(strategy.run(one_and_two)));
}

std::map<std::string, int> a_and_b(replica_context ctx) {
  std::map<std::string, int> all = {{"a", 1}, {"b", 2}};
  if (ctx.replica_id() == 1) all.erase("b");
  return all;
}

TEST_CASE_METHOD(on_an_io_context, "TR-305 structure_mismatch: a key is missing in a merge") {
  const mirrored_strategy strategy(rt, 2);
  const auto merge = [](replica_context ctx) -> task<> {
    const auto ignore = [](const std::map<std::string, per_replica<int>>&) {};
    co_await ctx.merge_call(ignore, a_and_b(ctx));
  };
  show(raised({.code = errc::structure_mismatch,
               .what = "the replicas' values differ in structure: replica 1 has no key \"b\"",
               .fix = as_many},
              thrown_on(strategy.run(merge))));
}

// -- 306 ------------------------------------------------------------------------------------------

task<> make(replica_context ctx) {
  const std::string name = ctx.replica_id() == 0 ? "weight" : "bias";
  co_await create_variable(ctx, 1.0f, aggregation::mean, name);
}

TEST_CASE_METHOD(on_an_io_context, "TR-306 variable_mismatch: replicas name their variable apart") {
  const mirrored_strategy strategy(rt, 2);
  show(raised({.code = errc::variable_mismatch,
               .what = "replica 1 makes variable \"bias\" where replica 0 makes \"weight\"",
               .fix = "let all replicas make the same variables in the same order"},
              thrown_on(strategy.run(make))));
}

// -- 307 ------------------------------------------------------------------------------------------

double one() { return 1.0; }
task<double> total(const strategy& under) {
  const auto ones = co_await under.run(one);
  co_return under.reduce(reduce_op::sum, ones);  // The mean would not depend on the strategy.
}

TEST_CASE_METHOD(on_an_io_context, "TR-307 not_equivalent: a sum grows with the replicas") {
  const one_device_strategy alone(rt);
  const mirrored_strategy two(rt, 2);
  show(raised({.code = errc::not_equivalent,
               .what = "the program gives 2 under mirrored_strategy of 2, and 1 under "
                       "one_device_strategy of 1",
               .fix = "look for a sum where a mean is meant; or give assert_equivalent() a "
                      "comparison of your own"},
              thrown_on(assert_equivalent({&alone, &two}, total))));
  raised({.code = errc::not_equivalent,
          .what = "there is no strategy to compare",
          .fix = "give assert_equivalent() two strategies or more"},
         thrown_on(assert_equivalent({}, total)));
}

// -- 308 ------------------------------------------------------------------------------------------

task<> write(replica_context ctx, variable<int, no_aggregation> counter) {
  co_await counter.assign(ctx, ctx.replica_id());
}

TEST_CASE_METHOD(on_an_io_context,
                 "TR-308 aggregation_required: replicas write to one copy without an aggregation") {
  const central_storage_strategy strategy(rt, 2);
  const variable<int, no_aggregation> counter(strategy, 0, aggregation::none, "counter");
  show(raised({.code = errc::aggregation_required,
               .what = "variable \"counter\" has one copy for all replicas, and no aggregation "
                       "that makes one value of what they write",
               .fix = "make it with an aggregation, or write in a merge function"},
              thrown_on(strategy.run(write, counter))));
}

// -- 309 ------------------------------------------------------------------------------------------

using ints = std::vector<int>;

task<> divide(const mirrored_strategy* strategy) {
  const variable<ints, no_aggregation> counts(*strategy, ints(3, 8), aggregation::none);
  const std::vector<std::size_t> second(1, 1);
  const tensor_shape of_all(1, 3);
  const indexed_slices<ints> by_zero(second, ints(1, 0), of_all);
  co_await counts.scatter_div(by_zero);
}

TEST_CASE_METHOD(on_an_io_context, "TR-309 division_by_zero: a row of integers is divided by 0") {
  const mirrored_strategy strategy(rt, 2);
  show(raised({.code = errc::division_by_zero,
               .what = "scatter_div of integers by zero",
               .fix = "leave rows out that shall stay as they are"},
              thrown_on(divide(&strategy))));
}

// -- 310, 311 -------------------------------------------------------------------------------------

TEST_CASE("TR-310 invalid_hint: packs of a negative size") {
  show(raised({.code = errc::invalid_hint,
               .what = "bytes_per_pack is -1",
               .fix = "give a number of bytes, or 0 for one pack of everything"},
              thrown_by([] { communication_hints(all_reduce_kind::ring, -1); })));
  raised({.code = errc::invalid_hint,
          .what = "the number of packs is -1",
          .fix = "give a number of packs, or 0 for none"},
         thrown_by([] { communication_hints(all_reduce_kind::hierarchical_copy, 0, -1); }));
}

TEST_CASE("TR-311 invalid_batch: a batch that leaves a rest") {
  show(raised({.code = errc::invalid_batch,
               .what = "a batch of 13 cannot be shared out to 6 replicas",
               .fix = "make the batch a multiple of num_replicas_in_sync()"},
              thrown_by([] { input_context(2, 1, 6).get_per_replica_batch_size(13); })));
  raised({.code = errc::invalid_batch,
          .what = "there is no input pipeline 2 of 2, for 6 replicas",
          .fix = "pipelines count from 0, and feed one replica at least"},
         thrown_by([] { input_context(2, 2, 6); }));
}

// -- 312 ------------------------------------------------------------------------------------------

TEST_CASE("TR-312 invalid_step: a step that is not there") {
  step_graph graph;
  const step_graph::id first = graph.add([] {});
  const step_graph::id second = graph.add([] {});
  show(raised({.code = errc::invalid_step,
               .what = "there is no step 2 in a graph of 2 steps",
               .fix = "give precede() numbers that add() of the same graph has returned"},
              thrown_by([&] { graph.precede(first, 2); })));
  raised({.code = errc::invalid_step,
          .what = "step 1 cannot come before step 0, which was added earlier",
          .fix = "add the step that comes first before the other one"},
         thrown_by([&] { graph.precede(second, first); }));
}

}  // namespace
}  // namespace troupe::test
