// training.cpp - a line fitted to points by replicas that share a variable, and their metrics.
//
// The points lie on y = 2x + 1. Each replica has its own batches; what they learn is in two
// variables, and what they saw in two more that are put together only when somebody reads them.
// The same program runs with one replica, with three, and with one copy of the variables.

#include <cmath>
#include <exception>
#include <iostream>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace {

using namespace troupe;

// [model]
/// Of both the gradients' mean is what counts.
using parameter = variable<double, mean_op>;
using metric = sync_on_read_variable<double, sum_op>;

struct model {
  parameter slope;
  parameter offset;
  metric loss;
  metric points;
};

using batch = std::vector<double>;
// [/model]

double truth(double x) { return 2 * x + 1; }

// [step]
/// One pass of a replica over its points.
task<> train(replica_context ctx, model m, batch xs) {
  for (const double x : xs) {
    const double wrong_by = m.slope.read(ctx) * x + m.offset.read(ctx) - truth(x);
    m.loss.assign_add(ctx, wrong_by * wrong_by);  // A plain addition: nobody waits.
    m.points.assign_add(ctx, 1);
    co_await m.slope.assign_sub(ctx, 0.1 * wrong_by * x);  // Merges: everybody waits.
    co_await m.offset.assign_sub(ctx, 0.1 * wrong_by);
  }
}
// [/step]

/// Twelve points for all replicas together, in the order in which they are dealt out.
batch points_of(value_context ctx) {
  batch mine;
  for (int i = ctx.replica_id; i < 12; i += ctx.num_replicas_in_sync) mine.push_back(i / 6.0 - 1);
  return mine;
}

// [program]
task<double> fit(const strategy& s) {
  const model m{
      parameter(s, 0.0, aggregation::mean, "slope"), parameter(s, 0.0, aggregation::mean, "offset"),
      metric(s, 0.0, aggregation::sum, "loss"), metric(s, 0.0, aggregation::sum, "points")};
  const per_replica<batch> data = s.experimental_distribute_values_from_function(points_of);

  double mean_loss = 0;
  for (int pass = 0; pass < 300; ++pass) {
    co_await m.loss.assign(0);
    co_await m.points.assign(0);
    co_await s.run(train, m, data);
    const double loss = co_await m.loss.read();
    const double points = co_await m.points.read();
    mean_loss = loss / points;
  }
  const double slope = co_await m.slope.read();
  const double offset = co_await m.offset.read();
  std::cout << s.kind() << " of " << s.num_replicas_in_sync() << ": y = " << slope << " x + "
            << offset << ", mean loss " << (mean_loss < 1e-9 ? 0 : mean_loss) << "\n";
  co_return slope;
}

/// How fast they get there depends on the number of replicas; where they get does not.
bool close_to(double expected, double slope, const strategy&) {
  return std::abs(slope - expected) < 1e-3;
}

void fit_everywhere() {
  runtime rt{pool_size{2}};
  const one_device_strategy one(rt);
  const mirrored_strategy mirrored(rt, 3);
  const central_storage_strategy central(rt, 3);
  block_on(rt, assert_equivalent({&one, &mirrored, &central}, fit, close_to));
}
// [/program]

}  // namespace

int main() {
  try {
    std::cout.precision(3);
    std::cout << std::fixed;
    fit_everywhere();
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
