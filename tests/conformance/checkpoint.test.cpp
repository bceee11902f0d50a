// What a checkpoint keeps of a variable.
//
// There are no files of variables here. What the model saves of one is what read() gives in
// cross-replica context, and restoring is assign() of that: so these programs save and restore.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"

namespace troupe::test {
namespace {

using numbers = per_replica<float>;

void put(float& component, float value) { component = value; }

/// A variable whose components are these.
template <class Variable>
task<> fill(Variable v, numbers values) {
  co_await v.strategy().extended().update(v, put, values);
}

// -- mirrored variables ---------------------------------------------------------------------------

/// Saved; restored after other values; restored into a variable of no strategy, and from one.
struct story {
  float saved = 0;
  numbers restored;
  float plain = 0;
  numbers from_plain;
};

task<story> save_and_restore_mirrored(runtime* rt) {
  mirrored_strategy strategy(*rt, 2);
  const variable v(strategy, 0.0f);
  const variable plain(get_default_strategy(), 0.0f);
  const numbers before = {3, 4};
  const numbers between = {5, 6};
  story told;
  co_await fill(v, before);
  told.saved = co_await v.read();
  co_await fill(v, between);
  co_await v.assign(told.saved);
  told.restored = co_await v.components();
  co_await plain.assign(told.saved);
  told.plain = co_await plain.read();
  co_await v.assign(told.plain);
  told.from_plain = co_await v.components();
  co_return told;
}

TEST_CASE("core-158 of a mirrored variable one component is saved, and restored to all") {
  // The components differ, which the model allows, too. On several threads a read gives the
  // component that is nearest; on an io_context, as in the model, the first.
  asio::io_context io;
  runtime rt{io.get_executor()};
  const story told = block_on(rt, save_and_restore_mirrored(&rt));
  CHECK(told.saved == 3);
  CHECK(told.restored == numbers({3, 3}));
  CHECK(told.plain == 3);
  CHECK(told.from_plain == numbers({3, 3}));
}

// -- variables that are synchronised on read ------------------------------------------------------

template <class Op>
task<std::pair<float, numbers>> save_and_restore(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const sync_on_read_variable v(strategy, 0.0f, Op());
  const numbers before = {3, 4};
  const numbers between = {5, 6};
  co_await fill(v, before);
  const float saved = co_await v.read();
  co_await fill(v, between);
  co_await v.assign(saved);
  const numbers restored = co_await v.components();
  co_return std::pair(saved, restored);
}

TEST_CASE("core-173 a sum is saved, and restored to equal parts of it") {
  check_in_every_world(save_and_restore<sum_op>, {7.0f, {3.5f, 3.5f}});
}

TEST_CASE("core-174 a mean is saved, and restored to every component") {
  check_in_every_world(save_and_restore<mean_op>, {3.5f, {3.5f, 3.5f}});
}

/// Into a variable of no strategy; and 2, out of such a one, to the components.
template <class Op>
task<std::pair<float, numbers>> exchange(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const sync_on_read_variable v(strategy, 0.0f, Op());
  const variable plain(get_default_strategy(), 0.0f);
  const numbers before = {4, 3};
  co_await fill(v, before);
  const float saved = co_await v.read();
  co_await plain.assign(saved);
  const float restored = co_await plain.read();
  co_await plain.assign(2.0f);
  const float two = co_await plain.read();
  co_await v.assign(two);
  const numbers components = co_await v.components();
  co_return std::pair(restored, components);
}

TEST_CASE("core-176 what is saved of a synchronised variable is exchanged with ordinary ones") {
  check_in_every_world(exchange<sum_op>, {7.0f, {1, 1}});
  check_in_every_world(exchange<mean_op>, {3.5f, {2, 2}});
}

}  // namespace
}  // namespace troupe::test
