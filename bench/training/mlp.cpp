#include "bench/training/mlp.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

namespace troupe::bench {

namespace {

/// Rows of a matrix, one after the other.
struct rows {
  const float* values;
  std::size_t count;
  std::size_t width;
  bool turned = false;  // Taken as columns.

  rows transposed() const { return {values, count, width, true}; }
};

/// out = a b, where both fit.
void multiply(const rows& a, const rows& b, float* out) {
  const auto size = [](std::size_t n) { return static_cast<int>(n); };
  const auto order = [](const rows& m) { return m.turned ? CblasTrans : CblasNoTrans; };
  const std::size_t height = a.turned ? a.width : a.count;
  const std::size_t depth = a.turned ? a.count : a.width;
  const std::size_t width = b.turned ? b.count : b.width;
  cblas_sgemm(CblasRowMajor, order(a), order(b), size(height), size(width), size(depth), 1,
              a.values, size(a.width), b.values, size(b.width), 0, out, size(width));
}

void add_to_each_row(std::span<const float> bias, std::span<float> values) {
  for (std::size_t first = 0; first < values.size(); first += bias.size()) {
    for (std::size_t j = 0; j < bias.size(); ++j) values[first + j] += bias[j];
  }
}

void sum_of_rows(std::span<const float> values, std::span<float> sum) {
  std::ranges::fill(sum, 0.0F);
  for (std::size_t first = 0; first < values.size(); first += sum.size()) {
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += values[first + j];
  }
}

// The engine's numbers are the standard's, those of its distributions are not.
void fill(std::span<float> values, std::mt19937& random, float limit) {
  for (float& value : values) {
    value = limit * (static_cast<float>(random() >> 8U) / static_cast<float>(1U << 23U) - 1);
  }
}

class lone_trainer {
 public:
  explicit lone_trainer(std::size_t width)
      : replicas_(two_replicas(width)),
        gradients_(2, tensor<float>({replicas_[0].weights().size()})) {}

  void step(bool together) {
    for (std::size_t i = 0; i < 2; ++i) replicas_[i].find_gradients(parts(i));
    tensor<float>& a = gradients_[0];
    tensor<float>& b = gradients_[1];
    for (std::size_t j = 0; together && j < a.size(); ++j) a[j] = b[j] = (a[j] + b[j]) / 2;
    for (std::size_t i = 0; i < 2; ++i) replicas_[i].descend(parts(i));
  }

  std::vector<mlp> take(const turns& all) {
    for (std::uint64_t turn = 0; turn < all.count; ++turn) {
      for (std::uint64_t i = 0; i < all.alone; ++i) step(false);
      for (std::uint64_t i = 0; i < all.together; ++i) step(true);
    }
    return std::move(replicas_);
  }

 private:
  parameters parts(std::size_t i) { return replicas_[i].parts_of(gradients_[i].values()); }

  std::vector<mlp> replicas_;
  std::vector<tensor<float>> gradients_;
};

// A sample of a contender has as many steps as its last one.
const std::vector<mlp>& reference(std::size_t width, const turns& all) {
  static std::map<turns, std::vector<mlp>> known;
  if (!known.empty() && known.begin()->second[0].width() != width) known.clear();
  auto found = known.find(all);
  if (found == known.end()) found = known.emplace(all, lone_trainer(width).take(all)).first;
  return found->second;
}

}  // namespace

mlp::mlp(std::size_t width, std::size_t replica)
    : width_(width),
      weights_({width * width + width + width * outputs + outputs}),
      inputs_({batch, width}),
      targets_({batch, outputs}),
      hidden_({batch, width}),
      hidden_errors_({batch, width}),
      errors_({batch, outputs}) {
  std::mt19937 same(1);
  fill(weights(), same, 1 / std::sqrt(static_cast<float>(width)));
  std::mt19937 own(2 + static_cast<unsigned>(replica));
  fill(inputs_.values(), own, 1);
  fill(targets_.values(), own, 1);
}

std::array<std::size_t, 4> mlp::sizes() const {
  return {width_ * width_, width_, width_ * outputs, outputs};
}

parameters mlp::parts_of(std::span<float> all) const {
  parameters parts;
  std::size_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = all.subspan(first, sizes()[i]);
    first += sizes()[i];
  }
  return parts;
}

void mlp::find_gradients(const parameters& gradients) {
  const parameters weights = parts_of(weights_.values());
  const rows hidden_weights{weights[0].data(), width_, width_};
  const rows output_weights{weights[2].data(), width_, outputs};
  const rows inputs{inputs_.data(), batch, width_};
  const rows hidden{hidden_.data(), batch, width_};
  const rows hidden_errors{hidden_errors_.data(), batch, width_};
  const rows errors{errors_.data(), batch, outputs};

  multiply(inputs, hidden_weights, hidden_.data());
  add_to_each_row(weights[1], hidden_.values());
  for (float& unit : hidden_.values()) unit = std::max(unit, 0.0F);
  multiply(hidden, output_weights, errors_.data());
  add_to_each_row(weights[3], errors_.values());
  for (std::size_t j = 0; j < errors_.size(); ++j) errors_[j] = (errors_[j] - targets_[j]) / batch;

  multiply(hidden.transposed(), errors, gradients[2].data());
  sum_of_rows(errors_.values(), gradients[3]);
  multiply(errors, output_weights.transposed(), hidden_errors_.data());
  for (std::size_t j = 0; j < hidden_.size(); ++j) {
    if (hidden_[j] <= 0) hidden_errors_[j] = 0;
  }
  multiply(inputs.transposed(), hidden_errors, gradients[0].data());
  sum_of_rows(hidden_errors_.values(), gradients[1]);
}

void mlp::descend(const parameters& gradients) {
  float* weight = weights_.data();
  for (const std::span<float>& part : gradients) {
    for (std::size_t j = 0; j < part.size(); ++j) weight[j] -= rate * part[j];
    weight += part.size();
  }
}

std::vector<mlp> two_replicas(std::size_t width) {
  openblas_set_num_threads(1);  // For each of those who call it.
  std::vector<mlp> replicas;
  replicas.emplace_back(width, 0);
  replicas.emplace_back(width, 1);
  return replicas;
}

void expect_trained(const std::vector<mlp>& replicas, const turns& taken) {
  const std::vector<mlp>& wanted = reference(replicas[0].width(), taken);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!std::ranges::equal(replicas[i].weights(), wanted[i].weights())) {
      throw wrong_result("weights differ from those of one thread");
    }
  }
}

}  // namespace troupe::bench
