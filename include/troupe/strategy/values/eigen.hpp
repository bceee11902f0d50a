// eigen.hpp - matrices and vectors of Eigen are tensors. Not in troupe.hpp: include it beside
// Eigen's own headers, 3.3 or later.
//
//     Eigen::MatrixXf gradient = …;
//     gradient = co_await ctx.all_reduce(reduce_op::mean, gradient);
//
// Eigen's own arithmetic does the rest. Of matrices whose elements lie column by column, Eigen's
// default, there is no reduction along an axis; of vectors and Eigen::RowMajor matrices there is,
// and it makes a tensor.

#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe {

namespace detail {

template <class Matrix>
inline constexpr bool is_eigen_vector =
    Matrix::RowsAtCompileTime == 1 || Matrix::ColsAtCompileTime == 1;

/// What is left when an axis is gone, where axes can be told.
template <class Matrix, bool = is_eigen_vector<Matrix> || Matrix::IsRowMajor>
struct eigen_axes {};
template <class Matrix>
struct eigen_axes<Matrix, true> {
  template <class U>
  using along = tensor<U>;
};

}  // namespace detail

template <arithmetic T, int Rows, int Columns, int Options, int MostRows, int MostColumns>
struct tensor_traits<Eigen::Matrix<T, Rows, Columns, Options, MostRows, MostColumns>>
    : detail::eigen_axes<Eigen::Matrix<T, Rows, Columns, Options, MostRows, MostColumns>> {
  using matrix = Eigen::Matrix<T, Rows, Columns, Options, MostRows, MostColumns>;
  using element = T;
  template <class U>
  using of = Eigen::Matrix<U, Rows, Columns, Options, MostRows, MostColumns>;

  static std::span<const T> values(const matrix& value) noexcept {
    return {value.data(), static_cast<std::size_t>(value.size())};
  }
  static std::span<T> values(matrix& value) noexcept {
    return {value.data(), static_cast<std::size_t>(value.size())};
  }
  static tensor_shape shape(const matrix& value) {
    if (detail::is_eigen_vector<matrix>) return {static_cast<std::size_t>(value.size())};
    return {static_cast<std::size_t>(value.rows()), static_cast<std::size_t>(value.cols())};
  }
  template <class R>
  static R make(const tensor_shape& shape) {
    const auto first = static_cast<Eigen::Index>(shape[0]);
    if constexpr (R::ColsAtCompileTime == 1) {
      return R::Zero(first, 1);
    } else if constexpr (R::RowsAtCompileTime == 1) {
      return R::Zero(1, first);
    } else {
      return R::Zero(first, static_cast<Eigen::Index>(shape[1]));
    }
  }
};

}  // namespace troupe
