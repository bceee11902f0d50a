// Reductions that are awaited outside of replicas.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using floats = std::vector<float>;
using nest =
    std::tuple<std::vector<per_replica<floats>>, per_replica<int>, per_replica<tensor<int>>>;

per_replica<floats> values_of(std::size_t replicas, std::size_t size) {
  per_replica<floats> all;
  all.reserve(replicas);
  for (std::size_t r = 0; r < replicas; ++r) {
    floats& each = all.append(floats(size));
    for (std::size_t j = 0; j < size; ++j) {
      each[j] = 0.1f * static_cast<float>((j * 7 + r * 3) % 31);
    }
  }
  return all;
}

nest nest_of(std::size_t replicas) {
  nest made;
  for (const std::size_t size : {100'000u, 0u, 3u, 30'000u}) {
    std::get<0>(made).push_back(values_of(replicas, size));
  }
  std::get<1>(made).reserve(replicas);
  std::get<2>(made).reserve(replicas);
  for (std::size_t r = 0; r < replicas; ++r) {
    std::get<1>(made).append(static_cast<int>(r));
    std::get<2>(made).append(tensor<int>(tensor_shape{2, 3}, static_cast<int>(10 * r)));
  }
  return made;
}

task<bool> reduces_all(const strategy* s, std::size_t replicas) {
  const nest values = nest_of(replicas);
  const auto sums = co_await s->extended().batch_reduce(reduce_op::sum, values);
  bool right = true;
  for (std::size_t i = 0; i < 4; ++i) {
    right &= std::get<0>(sums)[i].get() == reduce(reduce_op::sum, std::get<0>(values)[i]);
  }
  right &= std::get<1>(sums).get() == reduce(reduce_op::sum, std::get<1>(values));
  // Of integers the mean is of another type, and not in place.
  auto given = nest_of(replicas);
  const auto means = co_await s->extended().batch_reduce(reduce_op::mean, std::move(given));
  right &= std::get<2>(means).get() == reduce(reduce_op::mean, std::get<2>(values));
  co_return right;
}

TEST_CASE("a nest of values is reduced as value after value, on an executor and on pools") {
  for (const std::size_t replicas : {1u, 2u, 3u}) {
    for (const std::size_t threads : {0u, 1u, 2u, 4u}) {
      INFO(replicas << " replicas, " << threads << " threads");
      asio::io_context io;
      runtime rt = threads == 0 ? runtime(io.get_executor()) : runtime(pool_size{threads});
      const mirrored_strategy strategy(rt, static_cast<int>(replicas));
      CHECK(block_on(rt, reduces_all(&strategy, replicas)));
    }
  }
}

task<const float*> memory_of_sum(const strategy* s, per_replica<floats> values) {
  const mirrored<floats> sum =
      co_await s->extended().batch_reduce(reduce_op::sum, std::move(values));
  co_return sum.get().data();
}

TEST_CASE("what is given away is reduced where it is") {
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, 2);
  auto values = values_of(2, 1'000);
  const float* const first = values[0].data();
  CHECK(block_on(rt, memory_of_sum(&strategy, std::move(values))) == first);
}

task<int> batch_in_replica(const strategy* s) {
  const per_replica<int> one = {1};
  const mirrored<int> sum = co_await s->extended().batch_reduce(reduce_op::sum, one);
  co_return sum.get();
}

TEST_CASE("inside a replica it is an error, and so are shapes that differ") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 2);
  const per_replica<floats> uneven = {{1, 2}, {3}};
  CHECK(is(thrown_by([&] { return block_on(rt, memory_of_sum(&strategy, uneven)); }),
           errc::shape_mismatch));
  CHECK(is(thrown_by([&] { return block_on(rt, strategy.run(batch_in_replica, &strategy)); }),
           errc::cross_replica_required));
}

}  // namespace
}  // namespace troupe::test
