#include "troupe/strategy/values/eigen.hpp"

#include <Eigen/Core>
#include <catch2/catch_test_macros.hpp>
#include <concepts>
#include <troupe/troupe.hpp>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using by_rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST_CASE("matrices of Eigen are added element by element") {
  Eigen::Matrix2f a;
  a << 1, 2, 3, 4;
  const Eigen::Matrix2f b = 10 * a;
  const Eigen::Matrix2f sum = reduce(reduce_op::sum, per_replica<Eigen::Matrix2f>({a, b}));
  CHECK(sum == 11 * a);
  const Eigen::MatrixXf wide = Eigen::MatrixXf::Constant(2, 3, 4);
  const Eigen::MatrixXf narrow = Eigen::MatrixXf::Constant(3, 2, 4);
  const auto mean = reduce(reduce_op::mean, per_replica<Eigen::MatrixXf>({wide, wide}));
  CHECK(mean == wide);
  CHECK(is(thrown_by([&] {
             return reduce(reduce_op::sum, per_replica<Eigen::MatrixXf>({wide, narrow}));
           }),
           errc::shape_mismatch));
}

TEST_CASE("the mean of Eigen's integers is floating") {
  const Eigen::Vector2i a(1, 2);
  const Eigen::Vector2i b(2, 4);
  const auto mean = reduce(reduce_op::mean, per_replica<Eigen::Vector2i>({a, b}));
  STATIC_CHECK(std::same_as<std::remove_const_t<decltype(mean)>, Eigen::Vector2d>);
  CHECK(mean == Eigen::Vector2d(1.5, 3));
}

template <class T>
using along_axis = typename tensor_traits<T>::template along<float>;
template <class T>
concept has_axes = requires { typename along_axis<T>; };

TEST_CASE("vectors and matrices by rows have axes, matrices by columns have none to tell") {
  by_rows m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  const tensor<float> sums = reduce(reduce_op::sum, per_replica<by_rows>({m, m}), 0);
  CHECK(sums == tensor<float>({3}, {10, 14, 18}));
  const float all = reduce(reduce_op::sum, per_replica<Eigen::VectorXf>({m.row(0)}), 0).item();
  CHECK(all == 6);
  STATIC_CHECK(has_axes<by_rows>);
  STATIC_CHECK_FALSE(has_axes<Eigen::MatrixXf>);
}

task<Eigen::VectorXd> descend(replica_context ctx, variable<Eigen::VectorXd, mean_op> weight,
                              Eigen::VectorXd gradient) {
  const Eigen::VectorXd mean = co_await ctx.all_reduce(reduce_op::mean, gradient);
  const Eigen::VectorXd step = 0.5 * mean;
  co_await weight.assign_sub(ctx, step);
  co_return mean;
}

TEST_CASE("a variable may hold a vector of Eigen's") {
  runtime rt{pool_size{2}};
  mirrored_strategy strategy(rt, 2);
  const Eigen::VectorXd start = Eigen::VectorXd::Ones(3);
  const variable weight(strategy, start, aggregation::mean);
  const per_replica<Eigen::VectorXd> gradients = {2 * start, 4 * start};
  block_on(rt, strategy.run(descend, weight, gradients));
  const Eigen::VectorXd now = block_on(rt, weight.read());
  CHECK(now == -0.5 * start);
}

}  // namespace
}  // namespace troupe::test
