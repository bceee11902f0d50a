// One program under several strategies: what counts as the same answer, and what is said of
// another one.

#include "troupe/strategy/equivalence.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  one_device_strategy one{rt};
  mirrored_strategy two{rt, 2};
  central_storage_strategy three{rt, 3};

  std::string text_of(const std::exception_ptr& thrown) const {
    REQUIRE(is(thrown, errc::not_equivalent));
    return as<error>(thrown)->what();
  }
};

double give_one() { return 1.0; }

task<double> mean_of_ones(const strategy& s) {
  const per_replica<double> ones = co_await s.run(give_one);
  co_return s.reduce(reduce_op::mean, ones);
}

task<double> sum_of_ones(const strategy& s) {
  const per_replica<double> ones = co_await s.run(give_one);
  co_return s.reduce(reduce_op::sum, ones);
}

TEST_CASE_METHOD(fixture, "an answer that is the same everywhere is given") {
  CHECK(block_on(rt, assert_equivalent({&one, &two, &three}, mean_of_ones)) == 1);
  CHECK(block_on(rt, assert_equivalent({&two}, sum_of_ones)) == 2);
}

TEST_CASE_METHOD(fixture, "another answer is TR-307 with the strategy that gives it and both") {
  const std::string text = text_of(
      thrown_by([&] { return block_on(rt, assert_equivalent({&one, &one, &two}, sum_of_ones)); }));
  CHECK(text.find("TR-307") != text.npos);
  CHECK(text.find("the program gives 2 under mirrored_strategy of 2, and 1 under "
                  "one_device_strategy of 1") != text.npos);
}

TEST_CASE_METHOD(fixture, "the first strategy that differs is named, and no other is tried") {
  const std::string text = text_of(thrown_by(
      [&] { return block_on(rt, assert_equivalent({&one, &three, &two}, sum_of_ones)); }));
  CHECK(text.find("3 under central_storage_strategy of 3") != text.npos);
}

TEST_CASE_METHOD(fixture, "a comparison of one's own decides what is the same, and for whom") {
  std::vector<std::string> compared;
  const auto close_to = [&](double expected, double answer, const strategy& other) {
    compared.emplace_back(other.kind());
    return std::abs(expected - answer) <= 1;
  };
  CHECK(block_on(rt, assert_equivalent({&one, &two}, sum_of_ones, close_to)) == 1);
  CHECK(is(thrown_by([&] {
             return block_on(rt, assert_equivalent({&one, &two, &three}, sum_of_ones, close_to));
           }),
           errc::not_equivalent));
  CHECK(compared == std::vector<std::string>(
                        {"mirrored_strategy", "mirrored_strategy", "central_storage_strategy"}));
}

TEST_CASE_METHOD(fixture, "with no strategy there is nothing to compare") {
  const std::string text =
      text_of(thrown_by([&] { return block_on(rt, assert_equivalent({}, sum_of_ones)); }));
  CHECK(text.find("there is no strategy to compare") != text.npos);
}

task<int> fail_with_two(const strategy& s) {
  if (s.num_replicas_in_sync() == 2) throw std::runtime_error("no two");
  co_return 1;
}

TEST_CASE_METHOD(fixture, "what the program throws is thrown as it is") {
  CHECK(is_a<std::runtime_error>(
      thrown_by([&] { return block_on(rt, assert_equivalent({&one, &two}, fail_with_two)); })));
}

struct opaque {
  int value = 0;
  friend bool operator==(const opaque&, const opaque&) = default;
};

task<opaque> give_opaque(const strategy& s) {
  opaque answer;
  answer.value = s.num_replicas_in_sync();
  co_return answer;
}

task<per_replica<int>> give_ids(const strategy& s) {
  co_return co_await s.run([](replica_context ctx) { return ctx.replica_id(); });
}

TEST_CASE_METHOD(fixture, "answers are shown as far as they can be printed") {
  const auto text_under = [&](auto program) {
    return text_of(thrown_by([&] { block_on(rt, assert_equivalent({&one, &two}, program)); }));
  };
  CHECK(text_under(give_opaque).find("gives a value that cannot be printed") != std::string::npos);
  CHECK(text_under(give_ids).find("gives [0, 1] under mirrored_strategy of 2, and [0] under") !=
        std::string::npos);
}

}  // namespace
}  // namespace troupe::test
