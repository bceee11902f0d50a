// Variables that are put together when they are read.

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <concepts>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

#include "tests/conformance/worlds.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

using floats = per_replica<float>;
template <class How, class T = float>
using on_read = sync_on_read_variable<T, How>;

float id_of(replica_context ctx) { return static_cast<float>(ctx.replica_id()); }

/// The components and what a read makes of them.
template <class T>
using state = std::pair<per_replica<T>, T>;

template <class How, class T>
task<state<T>> state_of(const strategy* on, on_read<How, T> v) {
  const per_replica<T> components = co_await values_of(on, v);
  const T read = co_await v.read();
  co_return std::pair(components, read);
}

// -- assignments in cross-replica context ---------------------------------------------------------

template <class How>
task<std::pair<state<float>, state<float>>> assign_six(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<How> v(strategy, 1.0f);
  const state<float> before = co_await state_of(&strategy, v);
  co_await v.assign(6.0f);
  const state<float> after = co_await state_of(&strategy, v);
  co_return std::pair(before, after);
}

TEST_CASE("core-160 an assigned sum is shared out to the components, and read whole") {
  check_in_every_world(assign_six<sum_op>, {{{1, 1}, 2}, {{3, 3}, 6}});
}

TEST_CASE("core-161 an assigned mean is every component") {
  check_in_every_world(assign_six<mean_op>, {{{1, 1}, 1}, {{6, 6}, 6}});
}

template <int N>
task<floats> assign_count(runtime& rt) {
  mirrored_strategy strategy(rt, N);
  const on_read<sum_op> v(strategy, 0.0f);
  co_await v.assign(N);
  co_return co_await values_of(&strategy, v);
}

TEST_CASE("core-166 a sum of as many as there are replicas is one for each") {
  check_in_every_world(assign_count<1>, {1});
  check_in_every_world(assign_count<2>, {1, 1});
  check_in_every_world(assign_count<3>, {1, 1, 1});
}

task<state<int>> assign_five_to_two(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<sum_op, int> v(strategy, 0);
  co_await v.assign(5);
  co_return co_await state_of(&strategy, v);
}

TEST_CASE("core-178 an assigned sum of integers loses the remainder") {
  check_in_every_world(assign_five_to_two, {{2, 2}, 4});
}

// -- writes in replicas ---------------------------------------------------------------------------

void add_two_and_id(replica_context ctx, on_read<sum_op> v) { v.assign_add(ctx, 2 + id_of(ctx)); }
void assign_six_ids(replica_context ctx, on_read<mean_op> v) { v.assign(ctx, 6 * id_of(ctx)); }

task<state<float>> add_to_sum(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<sum_op> v(strategy, 1.0f);
  co_await strategy.run(add_two_and_id, v);
  co_return co_await state_of(&strategy, v);
}
task<state<float>> assign_to_mean(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<mean_op> v(strategy, 4.0f);
  co_await strategy.run(assign_six_ids, v);
  co_return co_await state_of(&strategy, v);
}

TEST_CASE("core-162 a replica writes to its own component, without the others") {
  check_in_every_world(add_to_sum, {{3, 4}, 7});
  check_in_every_world(assign_to_mean, {{0, 6}, 3});
}

template <class How>
void add_id(replica_context ctx, on_read<How> v) {
  v.assign_add(ctx, id_of(ctx));
}

template <class How>
task<float> read_sum_of_ids(runtime& rt) {
  mirrored_strategy strategy(rt, 3);
  const on_read<How> v(strategy, 0.0f);
  co_await strategy.run(add_id<How>, v);
  const float outside = co_await v.read();
  const auto in = strategy.scope();
  const float inside = co_await v.read();
  const float by_name = co_await strategy.extended().read_var(v);
  co_return outside == inside&& inside == by_name ? outside : -1.0f;
}

TEST_CASE("core-164 a read in cross-replica context aggregates, inside the scope and outside") {
  check_in_every_world(read_sum_of_ids<sum_op>, 3);
  check_in_every_world(read_sum_of_ids<mean_op>, 1);
  check_in_every_world(read_sum_of_ids<first_op>, 0);
}

template <class How>
float write_three_times(replica_context ctx, on_read<How> v) {
  // Integers become the variable's type.
  const float a = v.assign(ctx, 1);
  const float b = v.assign_add(ctx, 1);
  const float c = v.assign_sub(ctx, -1);
  return 100 * a + 10 * b + c;
}

template <class How>
task<std::pair<floats, floats>> write_inside(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<How> v(strategy, 0.0f);
  const floats returned = co_await strategy.run(write_three_times<How>, v);
  const floats components = co_await values_of(&strategy, v);
  co_return std::pair(returned, components);
}

template <class How>
task<std::vector<floats>> write_outside(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<How> v(strategy, 0.0f);
  std::vector<floats> seen;
  co_await v.assign(1);
  seen.push_back(co_await values_of(&strategy, v));
  co_await v.assign_add(1);
  seen.push_back(co_await values_of(&strategy, v));
  co_await v.assign_sub(-1);
  seen.push_back(co_await values_of(&strategy, v));
  co_return seen;
}

TEST_CASE("core-165 all three writes reach the components, and literals become their type") {
  const std::pair<floats, floats> inside = {{123, 123}, {3, 3}};
  check_in_every_world(write_inside<no_aggregation>, inside);
  check_in_every_world(write_inside<sum_op>, inside);
  check_in_every_world(write_inside<mean_op>, inside);
  check_in_every_world(write_inside<first_op>, inside);
  // To a sum nothing can be added from outside; tests/compile_fail/programs.cpp.
  const std::vector<floats> outside = {{1, 1}, {2, 2}, {3, 3}};
  check_in_every_world(write_outside<mean_op>, outside);
  check_in_every_world(write_outside<first_op>, outside);
  check_in_every_world(write_outside<no_aggregation>, outside);
}

// -- reads ----------------------------------------------------------------------------------------

task<floats> look_at_components(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<no_aggregation> v(strategy, 1.0f);
  co_await strategy.run(add_id<no_aggregation>, v);
  co_return co_await v.components();
}

TEST_CASE("core-168 without an aggregation there is no value, but there are the components") {
  // v.read() does not compile; tests/compile_fail/programs.cpp has the sentence.
  check_in_every_world(look_at_components, {1, 2});
}

template <class How>
bool reads_its_own(replica_context ctx, on_read<How> v) {
  v.assign(ctx, 5 + id_of(ctx));
  return v.read(ctx) == 5 + id_of(ctx) && &v.read(ctx) == &v.local(ctx);
}

template <class How>
task<per_replica<bool>> read_inside(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<How> v(strategy, 0.0f);
  co_return co_await strategy.run(reads_its_own<How>, v);
}

TEST_CASE("core-169 a replica reads its own component, whatever the aggregation") {
  check_in_every_world(read_inside<no_aggregation>, {true, true});
  check_in_every_world(read_inside<sum_op>, {true, true});
  check_in_every_world(read_inside<mean_op>, {true, true});
  check_in_every_world(read_inside<first_op>, {true, true});
}

float one_more(replica_context ctx, on_read<mean_op> v) { return v.read(ctx) + 1; }

task<std::pair<float, floats>> calculate_with_it(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<mean_op> v(strategy, 0.0f);
  co_await strategy.run(add_id<mean_op>, v);
  const float outside = co_await v.read();
  const floats inside = co_await strategy.run(one_more, v);
  co_return std::pair(outside + 1, inside);
}

TEST_CASE("core-177 outside replicas one calculates with the mean, inside with the component") {
  check_in_every_world(calculate_with_it, {1.5, {1, 2}});
}

// -- beside mirrored ones -------------------------------------------------------------------------

using on_write = variable<float, first_op>;

task<> add_to_both(replica_context ctx, on_read<first_op> r, on_write w, float a, float b) {
  r.assign_add(ctx, a * (id_of(ctx) + 1));
  co_await w.assign_add(ctx, b * (id_of(ctx) + 1));
}

task<std::vector<state<float>>> add_to_both_twice(runtime& rt) {
  mirrored_strategy strategy(rt, 2);
  const on_read<first_op> r(strategy, 2.0f);
  const on_write w(strategy, 3.0f);
  std::vector<state<float>> seen;
  for (const float a : {5.0f, 11.0f}) {
    co_await strategy.run(add_to_both, r, w, a, a + 2);
    seen.push_back(co_await state_of(&strategy, r));
    const floats components = co_await values_of(&strategy, w);
    const float read = co_await w.read();
    seen.emplace_back(components, read);
  }
  co_return seen;
}

TEST_CASE("core-170 with only_first_replica the others' writes are seen by themselves alone") {
  check_in_every_world(add_to_both_twice,
                       {{{7, 12}, 7}, {{10, 10}, 10}, {{18, 34}, 18}, {{23, 23}, 23}});
}

template <class V>
concept scatters =
    requires(V v) { v.scatter_sub(0, 0); } || requires(V v) { v.scatter_mul(0, 0); } ||
    requires(V v) { v.scatter_div(0, 0); } || requires(V v) { v.scatter_min(0, 0); } ||
    requires(V v) { v.scatter_max(0, 0); } || requires(V v) { v.scatter_update(0, 0); };

TEST_CASE("core-172 what is synchronised on read has no scatter operations") {
  // scatter_add is there for the sake of its sentence; tests/compile_fail/programs.cpp.
  STATIC_CHECK_FALSE(scatters<on_read<no_aggregation>>);
  STATIC_CHECK_FALSE(scatters<on_read<sum_op>>);
  STATIC_CHECK_FALSE(scatters<on_read<mean_op>>);
  STATIC_CHECK_FALSE(scatters<on_read<first_op>>);
}

}  // namespace
}  // namespace troupe::test
