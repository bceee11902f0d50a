// Several steps in one call, and what the last of them leaves.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

// The call is deprecated, and tested nevertheless.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace troupe::test {
namespace {

using numbers = per_replica<double>;
using texts = per_replica<std::string>;

/// The loss of one replica; set_last_step_output() in a replica wants an operation.
task<double> train(replica_context ctx, multi_step_context* steps, double batch) {
  const double loss = batch + ctx.replica_id();
  co_await steps->set_last_step_output(ctx, "replica loss", loss, reduce_op::mean);
  const std::string bar = "bar";
  co_await steps->set_non_tensor_output(ctx, "foo", bar);
  co_return loss;
}

task<> one_step(multi_step_context& steps, double batch) {
  const numbers losses = co_await get_strategy().run(train, &steps, batch);
  steps.set_last_step_output("losses", losses);
  steps.set_last_step_output("loss", losses, reduce_op::mean);
  steps.set_non_tensor_output("batch", batch);
}

using outputs = std::tuple<double, numbers, double, texts, double>;

task<outputs> two_steps(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const std::vector<double> batches = {10, 20, 30};
  const multi_step_context out =
      co_await strategy.extended().experimental_run_steps_on_iterator(one_step, batches.begin(), 2);
  co_return outputs(*out.last_step_output<double>("replica loss"),
                    *out.last_step_output<numbers>("losses"), *out.last_step_output<double>("loss"),
                    *out.non_tensor_output<texts>("foo"), *out.non_tensor_output<double>("batch"));
}

TEST_CASE("core-196 the last step's outputs are kept, reduced or of every replica") {
  // Equal texts stay one for each replica, where the model makes them one.
  check_in_every_world(two_steps, {20.5, {20, 21}, 20.5, {"bar", "bar"}, 20});
}

template <class... Args>
concept sets_output =
    requires(multi_step_context steps, Args... args) { steps.set_last_step_output(args...); };

TEST_CASE("core-197 a replica's output wants an operation") {
  STATIC_CHECK(sets_output<replica_context, const char*, double, mean_op>);
  STATIC_CHECK_FALSE(sets_output<replica_context, const char*, double>);
}

}  // namespace
}  // namespace troupe::test
