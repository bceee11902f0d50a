// tensor.hpp - numbers of any shape: what replicas reduce element by element and along axes.
//
//     tensor<float> batch({2, 3}, {1, 2, 3, 4, 5, 6});
//     batch.at({1, 0});                 // 4
//     batch.slice(0, 1);                // shape {1, 3}: what lies along axis 0
//
// Storage with a shape, no arithmetic library. Other types are tensors too, see
// tensor_traits.hpp.
//
// Guarantees
//   dense    row-major, without gaps, aligned for the machine's widest loads;
//   cheap    a move is a pointer's; the moved-from tensor can be assigned and destroyed;
//   steady   memory that small tensors leave is kept for the next ones (recycling.hpp).

#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/core/recycling.hpp"
#include "troupe/strategy/values/float16.hpp"

namespace troupe {

template <class T>
concept arithmetic = (std::is_arithmetic_v<T> && !std::same_as<T, bool>) || detail::fractional<T>;

/// Sizes along the axes, the outermost first; empty for a single number.
using tensor_shape = std::vector<std::size_t>;

namespace detail {

/// \throws errc::shape_mismatch when the sizes cannot be multiplied.
std::size_t elements_of(const tensor_shape& shape);

/// "[2, 3]".
std::string text_of_shape(std::span<const std::size_t> sizes);

[[noreturn]] void throw_wrong_count(const tensor_shape& shape, std::size_t given);
[[noreturn]] void throw_no_such_element(const tensor_shape& shape,
                                        std::span<const std::size_t> index);

}  // namespace detail

template <arithmetic T>
class tensor {
 public:
  using value_type = T;

  static constexpr std::size_t alignment = 64;

  /// No elements: shape {0}.
  tensor() : tensor(tensor_shape{0}) {}

  explicit tensor(tensor_shape shape, T fill = T()) : tensor(std::move(shape), uninitialised()) {
    std::fill_n(data(), size_, fill);
  }

  /// `values` in row-major order. \throws errc::shape_mismatch unless they fill the shape.
  tensor(tensor_shape shape, std::span<const T> values)
      : tensor(std::move(shape), uninitialised()) {
    if (values.size() != size_) detail::throw_wrong_count(shape_, values.size());
    std::copy(values.begin(), values.end(), data());
  }
  tensor(tensor_shape shape, std::initializer_list<T> values)
      : tensor(std::move(shape), std::span<const T>(values.begin(), values.size())) {}

  /// Elements without values: every one has to be written before it is read.
  static tensor for_overwrite(tensor_shape shape) {
    return tensor(std::move(shape), uninitialised());
  }

  /// Rank zero: one number.
  static tensor scalar(T value) { return tensor(tensor_shape(), value); }

  tensor(const tensor& other) : tensor(other.shape_, other.values()) {}
  tensor(tensor&& other) noexcept
      : shape_(std::move(other.shape_)),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  tensor& operator=(tensor other) noexcept {
    shape_.swap(other.shape_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~tensor() {
    if (data_) detail::recycling_free(data_, size_ * sizeof(T));
  }

  const tensor_shape& shape() const noexcept { return shape_; }
  std::size_t rank() const noexcept { return shape_.size(); }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::span<T> values() noexcept { return {data(), size_}; }
  std::span<const T> values() const noexcept { return {data(), size_}; }

  /// The i-th element in row-major order. \pre i < size().
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }

  /// \throws errc::shape_mismatch unless `index` has one valid place for each axis.
  T& at(std::initializer_list<std::size_t> index) {
    return data()[offset({index.begin(), index.size()})];
  }
  const T& at(std::initializer_list<std::size_t> index) const {
    return data()[offset({index.begin(), index.size()})];
  }

  /// The only element. \throws errc::shape_mismatch unless there is exactly one.
  T item() const {
    if (size_ != 1) detail::throw_wrong_count(shape_, 1);
    return data()[0];
  }

  /// The stretch [first, last) along axis 0.
  /// \throws errc::shape_mismatch unless first <= last <= shape()[0].
  tensor slice(std::size_t first, std::size_t last) const {
    if (shape_.empty() || first > last || last > shape_[0]) {
      const std::array<std::size_t, 2> asked{first, last};
      detail::throw_no_such_element(shape_, asked);
    }
    const std::size_t row = shape_[0] == 0 ? 0 : size_ / shape_[0];
    tensor_shape part = shape_;
    part[0] = last - first;
    return tensor(std::move(part), values().subspan(first * row, (last - first) * row));
  }

  /// The same elements in another shape, without a copy.
  /// \throws errc::shape_mismatch unless it has as many.
  tensor reshaped(tensor_shape shape) && {
    if (detail::elements_of(shape) != size_) detail::throw_wrong_count(shape, size_);
    shape_ = std::move(shape);
    return std::move(*this);
  }

  friend bool operator==(const tensor& a, const tensor& b) noexcept {
    return a.shape_ == b.shape_ && std::equal(a.data(), a.data() + a.size_, b.data());
  }

 private:
  struct uninitialised {};

  // Results come and go in the same sizes; what the heap aligns costs more than a small sum.
  static_assert(alignment == detail::recycling_cache::class_bytes);
  tensor(tensor_shape shape, uninitialised)
      : shape_(std::move(shape)),
        size_(detail::elements_of(shape_)),
        data_(static_cast<T*>(detail::recycling_allocate(size_ * sizeof(T)))) {}

  std::size_t offset(std::span<const std::size_t> index) const {
    std::size_t at = 0;
    bool valid = index.size() == shape_.size();
    for (std::size_t axis = 0; valid && axis < index.size(); ++axis) {
      valid = index[axis] < shape_[axis];
      at = at * shape_[axis] + index[axis];
    }
    if (!valid) detail::throw_no_such_element(shape_, index);
    return at;
  }

  tensor_shape shape_;
  std::size_t size_;
  T* data_;
};

}  // namespace troupe
