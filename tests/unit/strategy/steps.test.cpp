// Several steps in one call: which of their outputs are left, and by which name and type.

#include "troupe/strategy/steps.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/outcome.hpp"

// The call is deprecated, and tested nevertheless.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace troupe::test {
namespace {

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
  const std::vector<int> batches{5, 6, 7};

  template <class F>
  multi_step_context run(F step, int iterations) {
    return block_on(rt, strategy.extended().experimental_run_steps_on_iterator(
                            step, batches.begin(), iterations));
  }
};

void keep_batch(multi_step_context& steps, int batch) {
  steps.set_last_step_output("batch", batch);
  if (batch == 5) steps.set_last_step_output("first", batch);
  steps.set_non_tensor_output("text", std::to_string(batch));
  if (batch == 5) steps.set_non_tensor_output("first text", std::string("five"));
}

TEST_CASE_METHOD(fixture, "outputs are those of the last step alone; what is no number stays") {
  const multi_step_context out = run(keep_batch, 3);
  REQUIRE(out.last_step_output<int>("batch"));
  CHECK(*out.last_step_output<int>("batch") == 7);
  CHECK(out.last_step_output<int>("first") == nullptr);
  CHECK(*out.non_tensor_output<std::string>("text") == "7");
  CHECK(*out.non_tensor_output<std::string>("first text") == "five");
}

TEST_CASE_METHOD(fixture, "an output of another name or type is none") {
  const multi_step_context out = run(keep_batch, 1);
  CHECK(out.last_step_output<int>("loss") == nullptr);
  CHECK(out.last_step_output<double>("batch") == nullptr);
  CHECK(out.non_tensor_output<int>("text") == nullptr);
  CHECK(out.non_tensor_output<int>("batch") == nullptr);
}

TEST_CASE_METHOD(fixture, "no iterations are no steps") {
  const multi_step_context out = run(keep_batch, 0);
  CHECK(out.last_step_output<int>("batch") == nullptr);
}

TEST_CASE_METHOD(fixture, "a step is in cross-replica context of the strategy") {
  const auto look = [this](multi_step_context& steps, int) {
    steps.set_last_step_output("inside", in_cross_replica_context());
    steps.set_last_step_output("ours", &get_strategy() == &strategy);
  };
  const multi_step_context out = run(look, 1);
  CHECK(*out.last_step_output<bool>("inside"));
  CHECK(*out.last_step_output<bool>("ours"));
  CHECK_FALSE(has_strategy());
}

task<> fail_at_six(multi_step_context& steps, int batch) {
  if (batch == 6) throw std::runtime_error("no six");
  steps.set_last_step_output("batch", batch);
  co_return;
}

TEST_CASE_METHOD(fixture, "what a step throws ends the steps") {
  CHECK(is_a<std::runtime_error>(thrown_by([&] { return run(fail_at_six, 3); })));
  CHECK(*run(fail_at_six, 1).last_step_output<int>("batch") == 5);
}

task<> set_different_names(replica_context ctx, multi_step_context* steps) {
  const std::string name = ctx.replica_id() == 0 ? "one" : "another";
  co_await steps->set_last_step_output(ctx, name, 1, reduce_op::sum);
}

TEST_CASE_METHOD(fixture, "replicas that set outputs by different names have not met") {
  multi_step_context steps;
  CHECK(is(thrown_by([&] { block_on(rt, strategy.run(set_different_names, &steps)); }),
           errc::merge_mismatch));
}

}  // namespace
}  // namespace troupe::test
