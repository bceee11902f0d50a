// Values made for replicas, taken apart, and the strategy of one.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
};

using ints = per_replica<int>;

// -- values from a function -----------------------------------------------------------------------

using tensors = std::vector<tensor<int>>;

/// A list of plain numbers would be one value; of tensors it is structure, as in the model.
tensors multiples_of_id(value_context ctx) {
  tensors all;
  for (int i = 1; i <= 3; ++i) all.push_back(tensor<int>::scalar(i * ctx.replica_id));
  return all;
}

TEST_CASE_METHOD(fixture, "core-092 a function's structures become a structure of values") {
  const std::vector<per_replica<tensor<int>>> made =
      strategy.experimental_distribute_values_from_function(multiples_of_id);
  for (int i = 0; i < 2; ++i) {
    CHECK(select_replica(static_cast<std::size_t>(i), made) ==
          multiples_of_id(value_context{i, 2}));
  }
}

task<ints> square_what_was_made(runtime& rt) {
  mirrored_strategy strategy(rt, 3);
  const auto own_of = [](value_context ctx) { return ctx.replica_id; };
  const ints made = strategy.experimental_distribute_values_from_function(own_of);
  co_return co_await strategy.run([](int x) { return x * x; }, made);
}

TEST_CASE("core-093 a run takes what a function made: each replica its own") {
  check_in_every_world(square_what_was_made, {0, 1, 4});
}

TEST_CASE_METHOD(fixture, "core-094 one replica has a value of one") {
  const std::vector<float> numbers = {3, 2, 1};
  const mirrored_strategy single(rt, 1);
  const auto made = single.experimental_distribute_values_from_function([&](value_context ctx) {
    return numbers[static_cast<std::size_t>(ctx.replica_id)] /
           static_cast<float>(ctx.num_replicas_in_sync);
  });
  CHECK(made == per_replica<float>({3.0f}));
}

TEST_CASE_METHOD(fixture, "core-101 a value's context knows for whom it is made, and of how many") {
  const mirrored_strategy four(rt, 4);
  const auto made = four.experimental_distribute_values_from_function(
      [](value_context ctx) { return 1.0 * ctx.replica_id / ctx.num_replicas_in_sync; });
  CHECK(made[2] == 0.5);
}

TEST_CASE("core-100 an input's context shares batches out that have no rest") {
  // Its text is our own: "tf.distribute.InputContext(input pipeline id 1, total: 2)" there.
  const input_context second(2, 1, 6);
  CHECK(second.get_per_replica_batch_size(12) == 2);
  CHECK(is(thrown_by([&] { return second.get_per_replica_batch_size(13); }), errc::invalid_batch));
  CHECK(to_string(second) == "input pipeline 1 of 2, for 6 replicas");
}

TEST_CASE_METHOD(fixture, "a function that makes values is called here, in order, in no replica") {
  std::vector<int> order;
  strategy.experimental_distribute_values_from_function([&](value_context ctx) {
    order.push_back(ctx.replica_id);
    return has_strategy();
  });
  CHECK(order == std::vector<int>({0, 1}));
}

// -- components -----------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "core-097 local results are the components; a plain value is one") {
  CHECK(strategy.experimental_local_results(ints({1, 2})) == std::vector<int>({1, 2}));
  CHECK(strategy.experimental_local_results(mirrored(3)) == std::vector<int>({3, 3}));
  CHECK(strategy.experimental_local_results(5) == std::vector<int>({5}));
}

// -- one device -----------------------------------------------------------------------------------

task<int> join(replica_context ctx, int x) {
  const int sum = co_await ctx.all_reduce(reduce_op::sum, x);
  co_return sum + ctx.num_replicas_in_sync();
}

task<ints> join_on_one_device(runtime& rt) {
  one_device_strategy strategy(rt, "/cpu:1");
  co_return co_await strategy.run(join, 4);
}

TEST_CASE("a strategy of one device runs one replica, with its merges") {
  check_in_every_world(join_on_one_device, {5});
}

TEST_CASE_METHOD(fixture, "a strategy of one device has that one, by its canonical name") {
  const one_device_strategy one(rt, "/cpu:1");
  CHECK(one.num_replicas_in_sync() == 1);
  CHECK(one.worker_devices() ==
        std::vector<std::string>({"/job:localhost/replica:0/task:0/device:CPU:1"}));
  CHECK(one_device_strategy(rt).worker_devices()[0].ends_with("CPU:0"));
  CHECK(
      is(thrown_by([&] { const one_device_strategy bad(rt, "abacus:0"); }), errc::invalid_device));
}

}  // namespace
}  // namespace troupe::test
