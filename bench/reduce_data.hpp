// reduce_data.hpp - what the contenders of reductions work on: the same memory for all of them.

#pragma once

#include <cstddef>
#include <span>
#include <troupe/troupe.hpp>

#include "bench/contenders.hpp"

namespace troupe::bench {

/// A float for each replica and element, and room for results. Made when a sample needs it, and
/// gone when another size does.
struct reduce_data {
  per_replica<tensor<float>> inputs;
  tensor<float> out;

  const float* input(std::size_t replica) const { return inputs[replica].data(); }
  std::size_t size() const { return out.size(); }
};

/// Whole numbers, so that every order of addition has the same sum.
inline float reduce_input(std::size_t replica, std::size_t j) {
  return static_cast<float>((j % 1021) * (replica + 1));
}
inline float reduce_output(std::size_t replicas, std::size_t j) {
  return static_cast<float>((j % 1021) * (replicas * (replicas + 1) / 2));
}

reduce_data& data_of(std::size_t replicas, std::size_t bytes);

/// Writes what no sum is, for the next contender.
void spoil(reduce_data& data);
/// \throws wrong_result unless `out` is the sum of the inputs.
void expect_sum(std::span<const float> out, std::size_t replicas);

}  // namespace troupe::bench
