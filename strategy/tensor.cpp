// tensor.cpp - shapes, counted and told.

#include "troupe/strategy/values/tensor.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "troupe/core/error.hpp"
#include "troupe/strategy/reductions/reduce.hpp"

namespace troupe::detail {

std::string text_of_shape(std::span<const std::size_t> sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + "]";
}

std::size_t elements_of(const tensor_shape& shape) {
  // Below the limit of signed sizes, in bytes of the widest number.
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 2 / sizeof(long double);
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::size_t count = 1;
  for (const std::size_t size : shape) {
    if (count > most / size) {
      throw error(errc::shape_mismatch,
                  "a tensor of shape " + text_of_shape(shape) + " is too large",
                  "see to the sizes: a negative number may have become a huge one");
    }
    count *= size;
  }
  return count;
}

void throw_wrong_count(const tensor_shape& shape, std::size_t given) {
  throw error(errc::shape_mismatch,
              "shape " + text_of_shape(shape) + " does not hold " + std::to_string(given) +
                  (given == 1 ? " element" : " elements"),
              "the product of the sizes is the number of elements");
}

void throw_no_such_element(const tensor_shape& shape, std::span<const std::size_t> index) {
  throw error(errc::shape_mismatch,
              text_of_shape(index) + " is not inside a tensor of shape " + text_of_shape(shape),
              "give one place for each axis, from 0 to the axis' size less one");
}

void throw_shape_mismatch(std::span<const tensor_shape> shapes) {
  std::string text = "the replicas' values differ in shape:";
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += (i == 0 ? " " : ", ") + text_of_shape(shapes[i]);
  }
  throw error(errc::shape_mismatch, text + " (in replica order)",
              "reduce along the axis in which they differ, or pad them");
}

void throw_plain_sum(std::size_t replicas) {
  throw error(errc::not_per_replica,
              "the sum over " + std::to_string(replicas) + " replicas of a plain value",
              "give a per_replica; or multiply by num_replicas_in_sync() if every replica's copy "
              "counts");
}

void throw_plain_product(std::size_t replicas) {
  throw error(errc::not_per_replica,
              "the product over " + std::to_string(replicas) + " replicas of a plain value",
              "give a per_replica; or raise it to the power num_replicas_in_sync() if every "
              "replica's copy counts");
}

void throw_nothing_to_reduce() {
  throw error(errc::shape_mismatch, "there is no value to reduce",
              "a per_replica has one value for each replica");
}

}  // namespace troupe::detail
