#include "bench/harness/measure.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

namespace troupe::bench {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr double sample_target = 30e6;  // Nanoseconds: long against a tick, short against a drift.
constexpr double busy_share = 0.25;     // Of the whole machine; background noise stays below it.
constexpr auto busy_window = 50ms;
constexpr auto patience_per_round = 1s;
constexpr auto patience_per_table = 8s;

struct processor_time {
  double total = 0;
  double idle = 0;
};

processor_time read_processor_time() {
  std::ifstream stat("/proc/stat");
  std::string label;
  stat >> label;
  std::array<double, 8> fields{};  // user nice system idle iowait irq softirq steal
  for (double& field : fields) {
    stat >> field;
  }
  return {std::accumulate(fields.begin(), fields.end(), 0.0), fields[3] + fields[4]};
}

// This process sleeps meanwhile, so whatever is busy is somebody else's.
bool others_are_busy() {
  const processor_time before = read_processor_time();
  std::this_thread::sleep_for(busy_window);
  const processor_time after = read_processor_time();
  const double passed = after.total - before.total;
  return passed > 0 && 1 - (after.idle - before.idle) / passed > busy_share;
}

// Waits for a quiet moment, but never for long: a shared machine may have none.
class quiet_moment {
 public:
  /// Returns whether one came.
  bool wait() {
    const auto began = clock::now();
    bool busy = others_are_busy();
    while (busy && left_ > 0s && clock::now() - began < patience_per_round) {
      busy = others_are_busy();
    }
    left_ -= clock::now() - began;
    return !busy;
  }

 private:
  clock::duration left_ = patience_per_table;
};

// Runs one sample. A contender that failed once stays out of the rounds that follow.
void take_sample(const contender& who, double unit, row& result) {
  try {
    const double cost = who.run(result.operations);
    result.samples.push_back(cost / unit / static_cast<double>(result.operations));
  } catch (const std::exception& failure) {
    result.wrong = failure.what();
  }
}

// What the operations of one sample cost together; negative when the result was wrong.
double cost_of_sample(const contender& who, row& result) {
  take_sample(who, 1, result);
  if (!result.wrong.empty()) {
    return -1;
  }
  const double cost = result.samples.back() * static_cast<double>(result.operations);
  result.samples.clear();
  return cost;
}

// Finds how many operations fill a sample, and warms the contender up on the way.
void calibrate(const contender& who, row& result) {
  for (;;) {
    double cost = cost_of_sample(who, result);
    if (cost >= sample_target / 2) {
      // Once more: a neighbour may have made a short sample long.
      cost = std::min(cost, cost_of_sample(who, result));
      if (cost >= sample_target / 2) {
        return;
      }
    }
    if (!result.wrong.empty()) {
      return;
    }
    const double growth = std::clamp(sample_target / std::max(cost, 1.0), 1.0, 10.0);
    const double operations = std::ceil(static_cast<double>(result.operations) * growth);
    result.operations = std::max(result.operations + 1, static_cast<std::uint64_t>(operations));
  }
}

// The same for those whose cost may be next to nothing, or less: what counts is how long they take.
void calibrate_by_clock(const contender& who, row& result) {
  for (result.operations = 4;; result.operations *= 2) {
    stopwatch watch;
    watch.start();
    cost_of_sample(who, result);
    watch.stop();
    const bool long_enough = watch.nanoseconds() >= 16 * sample_target;
    if (long_enough || result.operations >= who.operations || !result.wrong.empty()) return;
  }
}

}  // namespace

double cpu_stopwatch::now() noexcept {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e9 + static_cast<double>(spent.tv_nsec);
}

void expect_equal(std::string_view what, std::uint64_t got, std::uint64_t wanted) {
  if (got != wanted) {
    throw wrong_result(std::string(what) + ": got " + std::to_string(got) + ", not " +
                       std::to_string(wanted));
  }
}

double row::quantile(double p) const {
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

double row::verdict(judged_by judge) const {
  switch (judge) {
    case judged_by::median: return quantile(0.5);
    case judged_by::maximum: return quantile(1);
    case judged_by::minimum: return quantile(0);
  }
  return quantile(0.5);
}

const row* measurement::find(std::string_view name) const {
  const auto found = std::ranges::find(rows, name, &row::name);
  return found == rows.end() ? nullptr : &*found;
}

measurement measure(const table& contest, const measure_options& options) {
  measurement result;
  result.rounds = contest.repeats ? options.rounds : 1;
  for (const contender& who : contest.contenders) {
    result.rows.push_back({.name = who.name});
    if (who.operations != 0) {
      calibrate_by_clock(who, result.rows.back());
    } else if (contest.judge == judged_by::median) {
      calibrate(who, result.rows.back());
    }
  }

  std::mt19937_64 random(options.seed);
  std::vector<std::size_t> order(contest.contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  quiet_moment quiet;
  for (std::size_t round = 0; round < result.rounds; ++round) {
    if (contest.judge == judged_by::median && !quiet.wait()) {
      ++result.busy_rounds;
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t index : order) {
      if (result.rows[index].wrong.empty()) {
        take_sample(contest.contenders[index], contest.unit_nanoseconds, result.rows[index]);
      }
    }
  }
  return result;
}

}  // namespace troupe::bench
