// Destinations, batches of reductions, hints, and state beside variables.

#include "troupe/strategy/extended.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using ints = per_replica<int>;
using floats = per_replica<float>;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, 2};
  mirrored_strategy other{rt, 2};
  strategy_extended extended = strategy.extended();
};

// -- destinations ---------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "a destination says whether a result is mirrored or plain") {
  const variable v(strategy, 1);
  const ints values = {1, 2};
  CHECK(extended.reduce_to(reduce_op::sum, values, v) == mirrored(3));
  CHECK(extended.reduce_to(reduce_op::sum, values, values) == mirrored(3));
  CHECK(extended.reduce_to(reduce_op::mean, values, mirrored(0)) == mirrored(1.5));
  CHECK(extended.reduce_to(reduce_op::sum, values, "cpu:1") == 3);
  CHECK(extended.reduce_to(reduce_op::sum, values, std::string("/device:CPU:0")) == 3);
}

TEST_CASE_METHOD(fixture, "a device that is not the strategy's is no destination") {
  const ints values = {1, 2};
  const auto thrown =
      thrown_by([&] { return extended.reduce_to(reduce_op::sum, values, "cpu:2"); });
  REQUIRE(is(thrown, errc::invalid_device));
  const std::string text = as<error>(thrown)->what();
  CHECK(text.find("device \"cpu:2\" is none of this strategy's") != text.npos);
  CHECK(is(thrown_by([&] { return extended.broadcast_to(1, "gpu:0"); }), errc::invalid_device));
}

TEST_CASE_METHOD(fixture, "another strategy's variable is no destination") {
  const variable foreign(other, 1);
  const ints values = {1, 2};
  CHECK(is(thrown_by([&] { return extended.reduce_to(reduce_op::sum, values, foreign); }),
           errc::strategy_mixed));
  CHECK(is(thrown_by([&] { return extended.broadcast_to(1, foreign); }), errc::strategy_mixed));
}

TEST_CASE_METHOD(fixture, "the parameter device of central storage is a destination") {
  const central_storage_strategy central(rt, {"cpu:0", "cpu:1"}, "cpu:7");
  CHECK(central.extended().reduce_to(reduce_op::sum, ints({1, 2}), "cpu:7") == 3);
  CHECK(central.extended().reduce_to(reduce_op::sum, ints({1, 2}), "cpu:1") == 3);
  CHECK(is(thrown_by([&] { return central.extended().broadcast_to(1, "cpu:2"); }),
           errc::invalid_device));
}

// -- variables as what is reduced -----------------------------------------------------------------

TEST_CASE_METHOD(fixture, "the reduction of a variable is awaited, and delivered as others are") {
  const variable v(strategy, 3.0f);
  const sync_on_read_variable total(strategy, 2.0f, aggregation::sum);
  CHECK(block_on(rt, strategy.reduce(reduce_op::mean, v)) == 3);
  CHECK(block_on(rt, strategy.reduce(reduce_op::sum, total)) == 4);
  CHECK(block_on(rt, strategy.reduce(reduce_op::mean, total)) == 2);
  CHECK(block_on(rt, extended.reduce_to(reduce_op::mean, v, v)) == mirrored(3.0f));
  CHECK(block_on(rt, extended.reduce_to(reduce_op::sum, total, v)) == mirrored(4.0f));
  CHECK(block_on(rt, extended.reduce_to(reduce_op::sum, total, "cpu:0")) == 4);
}

// -- several at once ------------------------------------------------------------------------------

TEST_CASE_METHOD(fixture, "a batch of one kind gives its results in the order of the pairs") {
  const std::vector<std::pair<ints, std::string>> pairs = {{{1, 2}, "cpu:0"}, {{3, 4}, "cpu:1"}};
  CHECK(extended.batch_reduce_to(reduce_op::sum, pairs) == std::vector<int>({3, 7}));
  CHECK(extended.batch_reduce_to(reduce_op::mean, pairs) == std::vector<double>({1.5, 3.5}));
}

TEST_CASE_METHOD(fixture, "an empty batch gives nothing") {
  const std::vector<std::pair<ints, std::string>> none;
  CHECK(extended.batch_reduce_to(reduce_op::sum, none).empty());
  CHECK(extended.batch_reduce_to(reduce_op::sum, std::tuple()) == std::tuple());
}

TEST_CASE_METHOD(fixture, "a batch of several kinds is a tuple of pairs") {
  using rows = std::vector<double>;
  using slices = indexed_slices<rows>;
  const variable v(strategy, 1);
  const per_replica<slices> sparse = {slices({0}, {1}, {2}), slices({0, 1}, {2, 3}, {2})};
  const auto batch =
      std::tuple(std::pair(ints({1, 2}), v),
                 std::pair(per_replica<rows>({{1, 2}, {3, 4}}), std::string("cpu:0")),
                 std::pair(sparse, std::string("cpu:1")));
  const auto [number, range, table] = extended.batch_reduce_to(reduce_op::sum, batch);
  CHECK(number == mirrored(3));
  CHECK(range == rows({4, 6}));
  CHECK(to_dense(table) == rows({3, 3}));
}

TEST_CASE_METHOD(fixture, "nothing to update is updated at once") {
  block_on(rt, extended.update(updates()));
}

// -- hints ----------------------------------------------------------------------------------------

TEST_CASE("hints are kept as they are given, and no negative numbers") {
  const communication_hints none;
  CHECK(none.kind() == all_reduce_kind::automatic);
  CHECK(none.bytes_per_pack() == 0);
  CHECK(none.packs() == 1);
  const communication_hints some(all_reduce_kind::ring, 1 << 20, 8);
  CHECK(some.kind() == all_reduce_kind::ring);
  CHECK(some.bytes_per_pack() == 1 << 20);
  CHECK(some.packs() == 8);
  CHECK_FALSE(some == none);

  const auto thrown = thrown_by([] { return communication_hints(all_reduce_kind::ring, -1); });
  REQUIRE(is(thrown, errc::invalid_hint));
  const std::string text = as<error>(thrown)->what();
  CHECK(text.find("TR-310") != text.npos);
  CHECK(text.find("bytes_per_pack is -1") != text.npos);
  CHECK(is(thrown_by([] { return communication_hints(all_reduce_kind::ring, 0, -2); }),
           errc::invalid_hint));
}

// -- state beside variables -----------------------------------------------------------------------

int ten_and_id(update_context ctx, int ten, int own) { return 100 * ctx.replica_id() + ten + own; }

TEST_CASE("state beside variables is updated on each of the devices, once") {
  // On threads, where each device has a line of its own.
  runtime rt{pool_size{2}};
  const mirrored_strategy strategy(rt, 2);
  const auto on = [&](const std::vector<std::string>& devices) {
    const ints own = {1, 2};
    return block_on(rt, strategy.extended().update_non_slot(devices, ten_and_id, 10, own));
  };
  CHECK(on(strategy.extended().non_slot_devices()) == ints({11, 112}));
  CHECK(on({"cpu:1"}) == ints({112}));
  CHECK(on({"cpu:1", "cpu:0", "cpu:1"}) == ints({112, 11}));
  CHECK(is(thrown_by([&] { return on({}); }), errc::invalid_device));
  CHECK(is(thrown_by([&] { return on({"cpu:0", "cpu:2"}); }), errc::invalid_device));
}

TEST_CASE_METHOD(fixture, "state beside the one copy is updated where that is") {
  const central_storage_strategy central(rt, {"cpu:0", "cpu:1"}, "cpu:1");
  const auto id_of = [](update_context ctx) { return ctx.replica_id(); };
  const auto& devices = central.extended().non_slot_devices();
  CHECK(block_on(rt, central.extended().update_non_slot(devices, id_of)) == ints({0}));
}

}  // namespace
}  // namespace troupe::test
