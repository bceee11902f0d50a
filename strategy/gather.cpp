// gather.cpp - whether values fit together along an axis.

#include "troupe/strategy/reductions/gather.hpp"

#include <string>
#include <utility>

#include "troupe/core/error.hpp"
#include "troupe/strategy/reductions/reduce.hpp"

namespace troupe::detail {

namespace {

[[noreturn]] void refuse_axis(int axis, std::size_t rank) {
  throw error(errc::invalid_axis,
              "gather along axis " + std::to_string(axis) + " of values with " +
                  std::to_string(rank) + (rank == 1 ? " axis" : " axes"),
              "axes count from 0, here not from the end; a single number has none");
}

}  // namespace

void require_first_axis(int axis) {
  if (axis != 0) refuse_axis(axis, 1);
}

tensor_shape gathered_shape(const std::vector<tensor_shape>& shapes, int along) {
  if (shapes.empty()) throw_nothing_to_reduce();
  tensor_shape all = shapes.front();
  if (along < 0 || static_cast<std::size_t>(along) >= all.size()) refuse_axis(along, all.size());
  const auto axis = static_cast<std::size_t>(along);
  all[axis] = 0;
  for (tensor_shape each : shapes) {
    if (each.size() != all.size()) throw_shape_mismatch(shapes);
    all[axis] += std::exchange(each[axis], 0);
    each[axis] = all[axis];
    if (each != all) throw_shape_mismatch(shapes);
  }
  return all;
}

}  // namespace troupe::detail
