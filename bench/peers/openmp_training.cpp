// openmp_training.cpp - training on two threads of OpenMP, written by hand: replicas that know
// nothing of each other, and replicas that share their gradients.

#include <omp.h>

#include "bench/contenders.hpp"
#include "bench/training/mlp.hpp"

namespace troupe::bench {

namespace {

constexpr int threads = 2;

class two_learners {
 public:
  explicit two_learners(std::size_t width)
      : replicas_(two_replicas(width)),
        gradients_(threads, tensor<float>({replicas_[0].weights().size()})) {}
  two_learners(const two_learners&) = delete;
  two_learners& operator=(const two_learners&) = delete;
  ~two_learners() { omp_pause_resource_all(omp_pause_hard); }

  /// A step of the calling thread's replica, on its own.
  void learn_alone(std::size_t id) {
    find_gradients(id);
    replicas_[id].descend(parts(id));
  }

  /// Each thread makes the means of one half, in the gradients of both. Then each goes down.
  void learn_together(std::size_t id) {
    find_gradients(id);
#pragma omp barrier
    float* const a = gradients_[0].data();
    float* const b = gradients_[1].data();
    const std::size_t last = first(id + 1);
#pragma GCC ivdep
    for (std::size_t j = first(id); j < last; ++j) a[j] = b[j] = (a[j] + b[j]) / 2;
#pragma omp barrier
    replicas_[id].descend(parts(id));
  }

  /// Averages and goes down in one pass: each thread writes one half of both's weights. Nobody has
  /// ever seen the means then.
  void learn_in_one_pass(std::size_t id) {
    find_gradients(id);
#pragma omp barrier
    const float* const a = gradients_[0].data();
    const float* const b = gradients_[1].data();
    float* const weights = replicas_[0].weights().data();
    float* const copies = replicas_[1].weights().data();
    const std::size_t last = first(id + 1);
#pragma GCC ivdep
    for (std::size_t j = first(id); j < last; ++j) {
      copies[j] = weights[j] = weights[j] - mlp::rate * ((a[j] + b[j]) / 2);
    }
#pragma omp barrier
  }

  const std::vector<mlp>& replicas() const { return replicas_; }

 private:
  parameters parts(std::size_t id) { return replicas_[id].parts_of(gradients_[id].values()); }
  void find_gradients(std::size_t id) { replicas_[id].find_gradients(parts(id)); }

  /// The first element of a thread's half; no line of a cache is in both.
  std::size_t first(std::size_t id) const {
    const std::size_t all = gradients_[0].size();
    return id == 0 ? 0 : id == 1 ? all / 2 / 64 * 64 : all;
  }

  std::vector<mlp> replicas_;
  std::vector<tensor<float>> gradients_;
};

using step = void (two_learners::*)(std::size_t);

double run_steps(step one, std::size_t width, const turns& each, std::uint64_t steps) {
  two_learners learners(width);
  stopwatch watch;
#pragma omp parallel num_threads(threads)
  {
    const auto id = static_cast<std::size_t>(omp_get_thread_num());
    for (std::uint64_t i = 0; i < warm_up_rounds; ++i) (learners.*one)(id);
#pragma omp barrier
    if (id == 0) watch.start();
    for (std::uint64_t i = 0; i < steps; ++i) (learners.*one)(id);
#pragma omp barrier
    if (id == 0) watch.stop();
  }
  expect_trained(learners.replicas(), {warm_up_rounds + steps, each.alone, each.together});
  return watch.nanoseconds();
}

double run_overhead(std::size_t width, std::uint64_t steps) {
  const turns all = turns_of(steps);
  two_learners learners(width);
  double overhead = 0;
#pragma omp parallel num_threads(threads) reduction(+ : overhead)
  {
    const auto id = static_cast<std::size_t>(omp_get_thread_num());
    overhead_watch watch;
    for (std::uint64_t turn = 0; turn < all.count; ++turn) {
#pragma omp barrier
      watch.start_alone();
      for (std::uint64_t i = 0; i < all.alone; ++i) learners.learn_alone(id);
      watch.stop_alone();
#pragma omp barrier
      watch.start_together();
      for (std::uint64_t i = 0; i < all.together; ++i) learners.learn_together(id);
      watch.stop_together();
    }
    overhead = watch.nanoseconds();
  }
  expect_trained(learners.replicas(), all);
  return overhead / threads;
}

}  // namespace

void add_openmp_training(table& contest, std::size_t width, std::uint64_t steps) {
  const auto add = [&](const char* name, step one, const turns& each) {
    contest.contenders.push_back(
        {name, [=](std::uint64_t count) { return run_steps(one, width, each, count); }});
  };
  add("independent_2_threads", &two_learners::learn_alone, {.alone = 1});
  add("openmp_2_threads", &two_learners::learn_together, {.together = 1});
  add("openmp_one_pass_2_threads", &two_learners::learn_in_one_pass, {.together = 1});
  contest.contenders.push_back({"openmp_overhead",
                                [width](std::uint64_t count) { return run_overhead(width, count); },
                                steps});
}

}  // namespace troupe::bench
