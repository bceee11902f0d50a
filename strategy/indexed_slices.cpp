// indexed_slices.cpp - whether rows fit the tensor they are of, and each other.

#include "troupe/strategy/reductions/indexed_slices.hpp"

#include <algorithm>
#include <string>

#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

using sizes = std::span<const std::size_t>;

/// A shape less its first axis.
sizes row_of(sizes shape) { return shape.empty() ? shape : shape.subspan(1); }

bool same(sizes a, sizes b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

/// Whether there is a row at all: without one, its shape says nothing.
bool has_rows(const slices_view& slices) {
  return !slices.indices.empty() || slices.shape.empty() || slices.shape[0] != 0;
}

[[noreturn]] void refuse(const std::string& what) {
  throw error(errc::shape_mismatch, what,
              "an index is a place along axis 0 of the dense shape, and has one row of values");
}

[[noreturn]] void refuse_all(std::span<const slices_view> all, const char* what, bool rows_only) {
  std::string text = "the replicas' slices differ in the shape of " + std::string(what) + ":";
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += (i == 0 ? " " : ", ");
    if (!rows_only) {
      text += text_of_shape(all[i].dense_shape);
    } else if (has_rows(all[i])) {
      text += text_of_shape(row_of(all[i].shape));
    } else {
      text += "none";
    }
  }
  throw error(errc::shape_mismatch, text + " (in replica order)",
              "slices are reduced if they are of tensors of one shape");
}

/// `whose` is " of replica 1", or empty.
void require_valid_of(const slices_view& slices, const std::string& whose) {
  const tensor_shape& shape = slices.shape;
  const sizes dense = slices.dense_shape;
  if (dense.empty()) refuse("the slices" + whose + " are of a dense shape without axes");
  if (slices.of_numbers && dense.size() != 1) {
    refuse("the slices" + whose + " have numbers for rows and a dense shape " +
           text_of_shape(dense));
  }
  if (!has_rows(slices)) return;
  if (shape.empty() || shape[0] != slices.indices.size()) {
    refuse("the slices" + whose + " have " + std::to_string(slices.indices.size()) +
           " indices and values of shape " + text_of_shape(shape));
  }
  if (!same(row_of(shape), row_of(dense))) {
    refuse("the slices" + whose + " have values of shape " + text_of_shape(shape) +
           ", which are no rows of the dense shape " + text_of_shape(dense));
  }
  for (const std::size_t index : slices.indices) {
    if (index >= dense[0]) {
      refuse("the slices" + whose + " have a row " + std::to_string(index) +
             ", which is not in the dense shape " + text_of_shape(dense));
    }
  }
}

}  // namespace

void require_valid(const slices_view& slices) { require_valid_of(slices, ""); }

void require_valid(std::span<const slices_view> all) {
  const slices_view* with_rows = nullptr;
  for (const slices_view& each : all) {
    if (!same(each.dense_shape, all[0].dense_shape)) refuse_all(all, "the dense tensor", false);
    if (!has_rows(each)) continue;
    if (!with_rows) with_rows = &each;
    if (!same(row_of(each.shape), row_of(with_rows->shape))) refuse_all(all, "a row", true);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    require_valid_of(all[i], " of replica " + std::to_string(i));
  }
}

}  // namespace troupe::detail
