// Which part of the input a function is for.

#include "troupe/strategy/values/input_context.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

TEST_CASE("without a word there is one pipeline, for one replica") {
  const input_context context;
  CHECK(context.num_input_pipelines() == 1);
  CHECK(context.input_pipeline_id() == 0);
  CHECK(context.num_replicas_in_sync() == 1);
  CHECK(context.get_per_replica_batch_size(7) == 7);
  CHECK(context == input_context(1, 0, 1));
  CHECK_FALSE(context == input_context(2, 0, 1));
}

TEST_CASE("a batch is shared out to the replicas without rest") {
  const input_context context(2, 1, 3);
  CHECK(context.get_per_replica_batch_size(12) == 4);
  CHECK(context.get_per_replica_batch_size(0) == 0);
  const auto thrown = thrown_by([&] { return context.get_per_replica_batch_size(13); });
  REQUIRE(is(thrown, errc::invalid_batch));
  const std::string text = as<error>(thrown)->what();
  CHECK(text.find("TR-311") != text.npos);
  CHECK(text.find("a batch of 13 cannot be shared out to 3 replicas") != text.npos);
  CHECK(is(thrown_by([&] { return context.get_per_replica_batch_size(-3); }), errc::invalid_batch));
}

TEST_CASE("a pipeline counts from 0, and feeds one replica at least") {
  for (const auto& [id, replicas] : {std::pair(-1, 1), std::pair(2, 1), std::pair(0, 0)}) {
    CHECK(is(thrown_by([&, i = id, n = replicas] { return input_context(2, i, n); }),
             errc::invalid_batch));
  }
  CHECK(is(thrown_by([] { return input_context(0, 0, 1); }), errc::invalid_batch));
  CHECK(to_string(input_context(3, 2, 8)) == "input pipeline 2 of 3, for 8 replicas");
}

}  // namespace
}  // namespace troupe::test
