// ours_training.cpp - training by two replicas on a pool of two threads, as a user writes it: a
// step is a function of a replica, and its gradients are a list of tensors.

#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "bench/contenders.hpp"
#include "bench/training/mlp.hpp"

namespace troupe::bench {

namespace {

struct learner {
  mlp* model;
  std::vector<tensor<float>> gradients;

  parameters parts() {
    parameters views;
    for (std::size_t i = 0; i < views.size(); ++i) views[i] = gradients[i].values();
    return views;
  }
};

std::vector<learner> learners_of(std::vector<mlp>& replicas) {
  std::vector<learner> learners;
  for (mlp& model : replicas) {
    learner& made = learners.emplace_back();
    made.model = &model;
    for (const std::size_t size : model.sizes()) made.gradients.emplace_back(tensor_shape{size});
  }
  return learners;
}

task<> learn(replica_context ctx, std::vector<learner>* learners) {
  learner& mine = (*learners)[static_cast<std::size_t>(ctx.replica_id())];
  mine.model->find_gradients(mine.parts());
  mine.gradients = co_await ctx.all_reduce(reduce_op::mean, std::move(mine.gradients));
  mine.model->descend(mine.parts());
}

/// Steps alone, without which nobody would know what the steps together cost.
task<> take_turns(replica_context ctx, std::vector<learner>* learners, turns all,
                  std::vector<double>* overheads) {
  const auto id = static_cast<std::size_t>(ctx.replica_id());
  learner& mine = (*learners)[id];
  overhead_watch watch;
  for (std::uint64_t turn = 0; turn < all.count; ++turn) {
    co_await ctx.all_reduce(reduce_op::sum, 1);  // Both begin together.
    watch.start_alone();
    for (std::uint64_t i = 0; i < all.alone; ++i) {
      mine.model->find_gradients(mine.parts());
      mine.model->descend(mine.parts());
    }
    watch.stop_alone();
    co_await ctx.all_reduce(reduce_op::sum, 1);
    watch.start_together();
    for (std::uint64_t i = 0; i < all.together; ++i) co_await learn(ctx, learners);
    watch.stop_together();
  }
  (*overheads)[id] = watch.nanoseconds();
}

double run_overhead(std::size_t width, std::uint64_t steps) {
  const turns all = turns_of(steps);
  std::vector<mlp> replicas = two_replicas(width);
  std::vector<learner> learners = learners_of(replicas);
  std::vector<double> overheads(2);
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, 2);
  block_on(rt, strategy.run(take_turns, &learners, all, &overheads));
  expect_trained(replicas, all);
  return (overheads[0] + overheads[1]) / 2;
}

task<> train(replica_context ctx, std::vector<learner>* learners, std::uint64_t steps,
             stopwatch* watch) {
  for (std::uint64_t i = 0; i < warm_up_rounds + steps; ++i) {
    if (ctx.replica_id() == 0 && i == warm_up_rounds) watch->start();
    co_await learn(ctx, learners);
  }
  if (ctx.replica_id() == 0) watch->stop();
}

task<> train_by_runs(const mirrored_strategy* strategy, std::vector<learner>* learners,
                     std::uint64_t steps, stopwatch* watch) {
  for (std::uint64_t i = 0; i < warm_up_rounds + steps; ++i) {
    if (i == warm_up_rounds) watch->start();
    co_await strategy->run(learn, learners);
  }
  watch->stop();
}

double run_steps(std::size_t width, bool run_per_step, std::uint64_t steps) {
  std::vector<mlp> replicas = two_replicas(width);
  std::vector<learner> learners = learners_of(replicas);
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, 2);
  stopwatch watch;
  if (run_per_step) {
    block_on(rt, train_by_runs(&strategy, &learners, steps, &watch));
  } else {
    block_on(rt, strategy.run(train, &learners, steps, &watch));
  }
  expect_trained(replicas, {.count = warm_up_rounds + steps, .together = 1});
  return watch.nanoseconds();
}

}  // namespace

void add_our_training(table& contest, std::size_t width, std::uint64_t steps) {
  contest.contenders.push_back(
      {"troupe", [width](std::uint64_t count) { return run_steps(width, false, count); }});
  contest.contenders.push_back({"troupe_run_per_step", [width](std::uint64_t count) {
                                  return run_steps(width, true, count);
                                }});
  contest.contenders.push_back({"troupe_overhead",
                                [width](std::uint64_t count) { return run_overhead(width, count); },
                                steps});
}

}  // namespace troupe::bench
