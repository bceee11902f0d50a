// reduce_scatter.cpp - a value as rows along an axis.

#include "troupe/strategy/reductions/reduce_scatter.hpp"

#include <string>

#include "troupe/core/error.hpp"

namespace troupe::detail {

rows_along rows_of(const tensor_shape& shape, int axis) {
  if (axis < 0 || static_cast<std::size_t>(axis) >= shape.size()) {
    throw error(errc::invalid_axis,
                "reduce_scatter along axis " + std::to_string(axis) + " of values with " +
                    std::to_string(shape.size()) + (shape.size() == 1 ? " axis" : " axes"),
                "axes count from 0, here not from the end; a single number has none");
  }
  const auto along = static_cast<std::size_t>(axis);
  rows_along all{shape[along], 1};
  for (std::size_t i = along + 1; i < shape.size(); ++i) all.row_size *= shape[i];
  return all;
}

}  // namespace troupe::detail
