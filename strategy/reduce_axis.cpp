// reduce_axis.cpp - which axes go, and where each number of the others belongs.

#include "troupe/strategy/reductions/reduce_axis.hpp"

#include <string>

#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw error(errc::invalid_axis, what,
              "axes count from 0, or from the end as -1, -2, ...; name each once");
}

std::size_t place_of(int axis, std::size_t rank) {
  const auto signed_rank = static_cast<long long>(rank);
  const long long place = axis < 0 ? axis + signed_rank : axis;
  if (place < 0 || place >= signed_rank) {
    refuse("axis " + std::to_string(axis) + " of a value with " + std::to_string(rank) +
           (rank == 1 ? " axis" : " axes"));
  }
  return static_cast<std::size_t>(place);
}

}  // namespace

axis_choice::axis_choice(const tensor_shape& shape, std::span<const int> axes) : shape_(shape) {
  if (axes.empty()) refuse("no axis is named");
  std::vector<bool> goes(shape.size());
  for (const int axis : axes) {
    const std::size_t place = place_of(axis, shape.size());
    if (goes[place]) refuse("axis " + std::to_string(axis) + " is named twice");
    goes[place] = true;
  }
  strides_.resize(shape.size());
  std::size_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (goes[i]) {
      count_ *= shape[i];
    } else {
      strides_[i] = stride;
      stride *= shape[i];
    }
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!goes[i]) remaining_.push_back(shape[i]);
  }
}

std::size_t axis_choice::next_row(std::vector<std::size_t>& index, std::size_t at) const noexcept {
  for (std::size_t i = index.size(); i-- > 0;) {
    at += strides_[i];
    if (++index[i] < shape_[i]) return at;
    at -= index[i] * strides_[i];
    index[i] = 0;
  }
  return at;
}

}  // namespace troupe::detail
