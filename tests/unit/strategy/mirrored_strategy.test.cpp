#include "troupe/strategy/mirrored_strategy.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

using names = std::vector<std::string>;

struct fixture {
  asio::io_context io;
  runtime rt{io.get_executor()};

  bool refuses(const names& devices) {
    return is(thrown_by([&] { mirrored_strategy(rt, devices); }), errc::invalid_device);
  }
};

bool refuses_name(const char* name) {
  return is(thrown_by([&] { return canonical_device(name); }), errc::invalid_device);
}

TEST_CASE("a device has one canonical name") {
  const std::string canonical = "/job:localhost/replica:0/task:0/device:CPU:3";
  for (const char* name : {"cpu:3", "CPU:3", "/cpu:3", "device:CPU:3", "/device:cpu:3",
                           "/device:CPU:3", "/job:localhost/replica:0/task:0/device:CPU:3",
                           "/replica:0/task:0/device:CPU:3", "cpu:03"}) {
    INFO(name);
    CHECK(canonical_device(name) == canonical);
  }
}

TEST_CASE("a canonical name is its own canonical name") {
  const std::string once = canonical_device("cpu:12");
  CHECK(canonical_device(once) == once);
}

TEST_CASE("what names no device of this machine is errc::invalid_device") {
  for (const char* name :
       {"", "cpu", "cpu:", ":0", "cpu:x", "cpu:-1", "cpu:1x", "gpu:0", "tpu:0", "cpu:99999999999",
        "/job:worker/task:1/cpu:0", "cpu:0,cpu:1", "cpu 0", "/job:localhostcpu:0"}) {
    INFO(name);
    CHECK(refuses_name(name));
  }
}

TEST_CASE_METHOD(fixture, "a strategy has one replica for each device") {
  const mirrored_strategy strategy(rt, names({"cpu:0", "cpu:1", "cpu:5"}));
  CHECK(strategy.num_replicas_in_sync() == 3);
}

TEST_CASE_METHOD(fixture, "a strategy's devices have canonical names, in the order of the list") {
  const mirrored_strategy strategy(rt, names({"cpu:1", "/cpu:0"}));
  CHECK(strategy.worker_devices() == names({"/job:localhost/replica:0/task:0/device:CPU:1",
                                            "/job:localhost/replica:0/task:0/device:CPU:0"}));
}

TEST_CASE_METHOD(fixture, "a strategy can be made of a braced list of names") {
  const mirrored_strategy strategy{rt, {"cpu:0", "cpu:1"}};
  CHECK(strategy.num_replicas_in_sync() == 2);
}

TEST_CASE_METHOD(fixture, "a strategy of a number has the first so many devices") {
  const mirrored_strategy strategy(rt, 2);
  CHECK(strategy.worker_devices() == names({canonical_device("cpu:0"), canonical_device("cpu:1")}));
}

TEST_CASE_METHOD(fixture, "a strategy without devices is errc::invalid_device") {
  CHECK(refuses(names()));
  CHECK(is(thrown_by([&] { mirrored_strategy(rt, 0); }), errc::invalid_device));
  CHECK(is(thrown_by([&] { mirrored_strategy(rt, -1); }), errc::invalid_device));
}

TEST_CASE_METHOD(fixture, "a device that is named twice is errc::invalid_device") {
  CHECK(refuses({"cpu:0", "cpu:0"}));
}

TEST_CASE_METHOD(fixture, "two names of one device are errc::invalid_device") {
  CHECK(refuses({"cpu:0", "/device:CPU:0"}));
}

TEST_CASE_METHOD(fixture, "one wrong name among good ones is errc::invalid_device") {
  CHECK(refuses({"cpu:0", "gpu:0"}));
}

TEST_CASE_METHOD(fixture, "a new strategy has no last failure") {
  CHECK_FALSE(mirrored_strategy(rt, 2).last_failure());
}

TEST_CASE_METHOD(fixture, "the local results of a per_replica are its values") {
  const mirrored_strategy strategy(rt, 2);
  CHECK(strategy.experimental_local_results(per_replica<int>({1, 2})) == std::vector<int>({1, 2}));
}

TEST_CASE_METHOD(fixture, "the local results of a plain value are the value") {
  const mirrored_strategy strategy(rt, 2);
  CHECK(strategy.experimental_local_results(7) == std::vector<int>({7}));
}

TEST_CASE_METHOD(fixture, "a strategy reduces what its run returned") {
  const mirrored_strategy strategy(rt, 3);
  const auto ids = block_on(rt, strategy.run([](replica_context ctx) { return ctx.replica_id(); }));
  CHECK(strategy.reduce(reduce_op::sum, ids) == 3);
  CHECK(strategy.reduce(reduce_op::mean, ids) == 1.0);
}

TEST_CASE_METHOD(fixture,
                 "what has not one value for each replica is neither reduced nor gathered") {
  const mirrored_strategy strategy(rt, 3);
  using row = std::vector<int>;
  const per_replica<row> two = {row({1}), row({2})};
  const auto refused = [](auto&& call) { return is(thrown_by(call), errc::structure_mismatch); };
  CHECK(refused([&] { strategy.reduce(reduce_op::sum, per_replica<int>({1, 2})); }));
  CHECK(refused([&] { strategy.reduce(reduce_op::sum, two); }));
  CHECK(refused([&] { strategy.reduce(reduce_op::sum, two, 0); }));
  CHECK(refused([&] { strategy.gather(two); }));
}

}  // namespace
}  // namespace troupe::test
