#include "troupe/strategy/reductions/fused_pass.hpp"

#include <algorithm>
#include <asio/io_context.hpp>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/explore.hpp"
#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

/// Counts how often each of its elements is reduced, and how many calls that takes.
class counted final : public detail::leaf_reduction {
 public:
  counted(std::size_t elements, std::size_t bytes_each)
      : leaf_reduction(elements, bytes_each), times_(elements) {}

  void run(std::size_t first, std::size_t last) const override {
    ++calls_;
    for (std::size_t i = first; i < last; ++i) ++times_[i];
  }

  void tell(memory_use& memory, std::size_t first, std::size_t last) const override {
    memory.writes(times_.data() + first, (last - first) * sizeof times_[0]);
  }

  bool each_once() const {
    for (const auto& each : times_) {
      if (each != 1) return false;
    }
    return true;
  }
  int calls() const { return calls_; }

 private:
  mutable std::vector<std::atomic<int>> times_;
  mutable std::atomic<int> calls_{0};
};

using leaves = std::vector<std::unique_ptr<counted>>;

leaves leaves_of(const std::vector<std::pair<std::size_t, std::size_t>>& sizes) {
  leaves all;
  for (const auto& [elements, bytes] : sizes) {
    all.push_back(std::make_unique<counted>(elements, bytes));
  }
  return all;
}

task<> reduce_all(const leaves* all) {
  detail::fused_pass pass;
  for (const auto& each : *all) pass.add(*each);
  co_await pass.run();
}

void check_each_once(const leaves& all) {
  for (const auto& each : all) {
    INFO(each->elements() << " of " << each->bytes_each() << " bytes");
    CHECK(each->each_once());
  }
}

TEST_CASE("every element is reduced once, wherever steps are cut") {
  runtime rt{pool_size{2}};
  // Elements of 5 bytes and of 3,000, none, one that is longer than a step, and large tensors.
  for (const leaves& all :
       {leaves_of({{0, 8}, {60'000, 5}, {1, 8}, {0, 3}, {200, 3'000}, {0, 1}}),
        leaves_of({{1, 1'000'000}, {1, 1}, {3, 700'000}}), leaves_of({{65'536, 4}}),
        leaves_of({{65'535, 4}}), leaves_of({{3'000'001, 8}, {17, 16}, {1'000'003, 2}})}) {
    block_on(rt, reduce_all(&all));
    check_each_once(all);
  }
}

TEST_CASE("a pass of nothing ends") {
  runtime rt{pool_size{1}};
  const leaves none;
  block_on(rt, reduce_all(&none));
  const leaves empty = leaves_of({{0, 4}, {0, 4}});
  block_on(rt, reduce_all(&empty));
  check_each_once(empty);
}

TEST_CASE("a hundred small tensors are no more steps than a large one of their size") {
  runtime rt{pool_size{2}};
  const leaves one = leaves_of({{100 * 4'096, 8}});
  const leaves hundred =
      leaves_of(std::vector<std::pair<std::size_t, std::size_t>>(100, {4'096, 8}));
  block_on(rt, reduce_all(&one));
  block_on(rt, reduce_all(&hundred));
  check_each_once(one);
  check_each_once(hundred);
  int calls = 0;
  for (const auto& each : hundred) calls += each->calls();
  CHECK(one.front()->calls() > 1);
  CHECK(calls < 100 + one.front()->calls());
}

/// How many calls a pass of two steps' size takes.
int calls_on(pool_size size) {
  runtime rt{size};
  const leaves all = leaves_of({{65'536, 8}});
  block_on(rt, reduce_all(&all));
  check_each_once(all);
  return all.front()->calls();
}

TEST_CASE("small: from which size on a pass is a graph, its pool is told") {
  constexpr std::size_t bytes = 65'536 * 8;
  CHECK(pool_size(2).graph_from == 256 * 1024);
  CHECK(calls_on(pool_size(2)) == 4);
  CHECK(calls_on(pool_size(2, 0)) == 4);
  CHECK(calls_on(pool_size(2, bytes)) == 4);
  CHECK(calls_on(pool_size(2, bytes + 1)) == 1);
  CHECK(calls_on(pool_size(2, std::numeric_limits<std::size_t>::max())) == 1);
}

TEST_CASE("small: where everything is a graph, a pass of nothing and of one element ends, too") {
  runtime rt{pool_size{2, 0}};
  for (const leaves& all : {leaves_of({}), leaves_of({{0, 4}}), leaves_of({{1, 1}, {0, 8}})}) {
    block_on(rt, reduce_all(&all));
    check_each_once(all);
  }
}

// -- nests ----------------------------------------------------------------------------------------

using nest = std::tuple<std::vector<tensor<float>>, std::map<int, std::vector<double>>, float,
                        std::vector<std::vector<short>>>;

nest nest_of(int replica) {
  const auto number = [&](std::size_t i) {
    return static_cast<float>(i % 97) / static_cast<float>(3 + replica);
  };
  nest made;
  for (const std::size_t size : {1u, 0u, 70'000u, 5u, 1'000u, 33'333u}) {
    auto& each = std::get<0>(made).emplace_back(tensor_shape{size});
    for (std::size_t i = 0; i < size; ++i) each[i] = number(i);
  }
  for (const std::size_t size : {3u, 20'000u}) {
    auto& each = std::get<1>(made)[static_cast<int>(size)];
    for (std::size_t i = 0; i < size; ++i) each.push_back(number(i));
  }
  std::get<2>(made) = number(7);
  for (const std::size_t size : {4'000u, 1u}) {
    std::get<3>(made).emplace_back(size, static_cast<short>(replica));
  }
  return made;
}

per_replica<nest> nests_of(int replicas) {
  per_replica<nest> all;
  all.reserve(static_cast<std::size_t>(replicas));
  for (int i = 0; i < replicas; ++i) all.append(nest_of(i));
  return all;
}

/// Leaf by leaf, as reduce() does it.
nest expected(int replicas) {
  const auto each = [&](auto pick) {
    using leaf = std::remove_cvref_t<decltype(pick(nest_of(0)))>;
    per_replica<leaf> all;
    all.reserve(static_cast<std::size_t>(replicas));
    for (int i = 0; i < replicas; ++i) all.append(pick(nest_of(i)));
    return reduce(reduce_op::sum, all);
  };
  nest sums = nest_of(0);
  for (std::size_t i = 0; i < std::get<0>(sums).size(); ++i) {
    std::get<0>(sums)[i] = each([i](const nest& n) { return std::get<0>(n)[i]; });
  }
  for (auto& [key, value] : std::get<1>(sums)) {
    value = each([k = key](const nest& n) { return std::get<1>(n).at(k); });
  }
  std::get<2>(sums) = each([](const nest& n) { return std::get<2>(n); });
  for (std::size_t i = 0; i < std::get<3>(sums).size(); ++i) {
    std::get<3>(sums)[i] = each([i](const nest& n) { return std::get<3>(n)[i]; });
  }
  return sums;
}

task<nest> sum_of(replica_context ctx, nest mine) {
  co_return co_await ctx.all_reduce(reduce_op::sum, std::move(mine));
}

TEST_CASE(
    "exact: a large nest has the bits of its leaves reduced one after the other, on any pool") {
  for (const int replicas : {1, 2, 3, 5}) {
    const nest wanted = expected(replicas);
    for (const pool_size& pool : {pool_size(1), pool_size(2), pool_size(3), pool_size(2, 0),
                                  pool_size(2, std::numeric_limits<std::size_t>::max())}) {
      runtime rt{pool};
      const mirrored_strategy strategy(rt, replicas);
      const auto got = block_on(rt, strategy.run(sum_of, nests_of(replicas)));
      for (int i = 0; i < replicas; ++i) {
        CHECK((select_replica(static_cast<std::size_t>(i), got) == wanted));
      }
    }
  }
}

TEST_CASE("exact: in a world, under drawn orders of the steps, too") {
  const nest wanted = expected(2);
  const auto body = [&](world& w) {
    return [](world* in, const nest* sums) -> task<> {
      const mirrored_strategy strategy(in->runtime(), 2);
      const auto got = co_await strategy.run(sum_of, nests_of(2));
      in->check(select_replica(1, got) == *sums, "the sums are those of the leaves");
    }(&w, &wanted);
  };
  explore_seeds(body, 20);
}

TEST_CASE("exact: 1,000 ways to cut a pass, taken in any order, have the bits of one") {
  const nest whole = expected(3);
  const auto& sums = std::get<0>(whole);
  std::mt19937 random(11);
  per_replica<nest> nests = nests_of(3);
  std::vector<per_replica<tensor<float>>> values(sums.size());
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    values[i].reserve(3);
    for (auto& each : nests) values[i].append(std::get<0>(each)[i]);
    bytes += 3 * sums[i].size() * sizeof(float);
  }
  for (int way = 0; way < 1'000; ++way) {
    std::vector<tensor<float>> out;
    std::vector<std::unique_ptr<detail::leaf_reduction>> parts;
    detail::fused_pass pass;
    for (const auto& each : sums) out.emplace_back(each.shape(), -1.0f);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      parts.push_back(std::make_unique<detail::reduction_into<sum_op, tensor<float>, float>>(
          reduce_op::sum, values[i], out[i].values()));
      pass.add(*parts.back());
    }
    std::vector<std::size_t> cuts{0, bytes};
    for (std::size_t i = random() % 30; i > 0; --i) cuts.push_back(random() % bytes);
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::size_t> order(cuts.size() - 1);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) pass.run_stretch(cuts[i], cuts[i + 1]);
    REQUIRE(out == sums);
  }
}

std::string blame(const auto& nests) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  const mirrored_strategy strategy(rt, 2);
  const auto thrown = thrown_by([&] { block_on(rt, strategy.run(sum_of, nests)); });
  return is(thrown, errc::shape_mismatch) ? "shape" : "something else";
}

TEST_CASE("a leaf whose shapes differ is an error, wherever it is in the nest") {
  auto nests = nests_of(2);
  std::get<3>(nests[1])[1].push_back(1);
  CHECK(blame(nests) == "shape");
  nests = nests_of(2);
  std::get<0>(nests[0])[0] = tensor<float>(tensor_shape{2});
  CHECK(blame(nests) == "shape");
}

}  // namespace
}  // namespace troupe::test
