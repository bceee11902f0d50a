// mlp.hpp - what is trained: a perceptron with one hidden layer, whose replicas begin with the same
// weights and learn from a batch each. The products are OpenBLAS's, on the calling thread.
//
// Everybody's arithmetic is this class's or written so that it has the same bits; what contenders
// differ in is how gradients become one.

#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/strategy/values/tensor.hpp>
#include <vector>

#include "bench/harness/measure.hpp"

namespace troupe::bench {

/// Weights and biases of the hidden layer, and of the one that follows, or gradients of them.
using parameters = std::array<std::span<float>, 4>;

class mlp {
 public:
  static constexpr std::size_t batch = 32;
  static constexpr std::size_t outputs = 16;
  static constexpr float rate = 0.001F;

  /// `width` inputs and as many hidden units.
  mlp(std::size_t width, std::size_t replica);

  std::size_t width() const noexcept { return width_; }
  std::array<std::size_t, 4> sizes() const;
  std::span<float> weights() noexcept { return weights_.values(); }
  std::span<const float> weights() const noexcept { return weights_.values(); }

  /// `all` in four parts.
  parameters parts_of(std::span<float> all) const;

  /// Writes what would lower this replica's error most.
  void find_gradients(const parameters& gradients);

  /// Takes a step down.
  void descend(const parameters& gradients);

 private:
  std::size_t width_;
  tensor<float> weights_;
  tensor<float> inputs_;
  tensor<float> targets_;
  tensor<float> hidden_;
  tensor<float> hidden_errors_;
  tensor<float> errors_;
};

std::vector<mlp> two_replicas(std::size_t width);

/// Steps that replicas take in turns: first so many with their own gradients, then so many with
/// the mean of everybody's.
struct turns {
  std::uint64_t count = 0;
  std::uint64_t alone = 0;
  std::uint64_t together = 0;

  auto operator<=>(const turns&) const = default;
};

/// \throws wrong_result unless both have the weights, bit by bit, that one thread finds.
void expect_trained(const std::vector<mlp>& replicas, const turns& taken);

/// The turns of those who tell what it costs to share gradients: short, so that both kinds of
/// steps meet the same neighbours.
/// \pre A multiple of 4. One turn more warms up.
constexpr turns turns_of(std::uint64_t steps) { return {steps / 4 + 1, 4, 4}; }

/// What a replica's steps together took longer than its steps alone, but in the first turn.
class overhead_watch {
 public:
  void start_alone() noexcept { alone_.start(); }
  void stop_alone() noexcept { alone_.stop(); }
  void start_together() noexcept { together_.start(); }
  void stop_together() noexcept {
    together_.stop();
    ++turn_;
    if (turn_ > 1) sum_ += together_.nanoseconds() - alone_.nanoseconds();
  }
  double nanoseconds() const noexcept { return sum_; }

 private:
  stopwatch alone_;
  stopwatch together_;
  std::uint64_t turn_ = 0;
  double sum_ = 0;
};

}  // namespace troupe::bench
