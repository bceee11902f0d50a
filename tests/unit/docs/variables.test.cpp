// What docs/variables.md shows.

#include <catch2/catch_test_macros.hpp>
#include <troupe/troupe.hpp>
#include <utility>

namespace troupe::test {
namespace {

using parameter = variable<float, mean_op>;

// [updates]
void descend(float& weight, float gradient) { weight -= 0.1f * gradient; }

task<> apply(cross_replica_context cross, parameter slope, parameter offset, float gradient) {
  updates all;
  all.add(slope, descend, gradient);
  all.add(offset, descend, 2 * gradient);
  co_await cross.strategy().extended().update(std::move(all));
}
// [/updates]

task<> apply_mean(cross_replica_context cross, parameter slope, parameter offset,
                  per_replica<float> gradients) {
  const float gradient = reduce(reduce_op::mean, gradients);
  co_await apply(cross, slope, offset, gradient);
}

task<> step(replica_context ctx, parameter slope, parameter offset) {
  const auto gradient = static_cast<float>(ctx.replica_id());
  co_await ctx.merge_call(apply_mean, slope, offset, gradient);
}

TEST_CASE("docs/variables.md: several variables are updated in one go") {
  runtime rt{pool_size{2}};
  mirrored_strategy strategy(rt, 2);
  const parameter slope(strategy, 1.0f);
  const parameter offset(strategy, 2.0f);
  block_on(rt, strategy.run(step, slope, offset));
  const per_replica<float> slopes = block_on(rt, slope.components());
  CHECK(slopes == per_replica<float>({0.95f, 0.95f}));
  const per_replica<float> offsets = block_on(rt, offset.components());
  CHECK(offsets == per_replica<float>({1.9f, 1.9f}));
}

}  // namespace
}  // namespace troupe::test
