// budget: a case is a few lines, and there is one for each sentence a compiler says.
// Programs that must not compile, and the sentence that has to be the first complaint.
//
// tests/compile_fail/check compiles this file once for each of them, with CASE set to its number:
// an `#elif CASE == n`, with the beginning of its sentence in the comment behind. Case 0 compiles.
//
// budget: a list of programs of one shape, which grows by what must not compile.

#include <asio/awaitable.hpp>
#include <asio/deferred.hpp>
#include <coroutine>
#include <map>
#include <string>
#include <troupe/troupe.hpp>
#include <tuple>
#include <utility>
#include <vector>

#ifndef CASE
#define CASE 0
#endif

using namespace troupe;

int sum(cross_replica_context, const per_replica<int>& values);
asio::awaitable<int> foreign();

struct greeting {};
struct listener : actor<listener, greeting> {
  using actor::actor;
  void on(greeting) {}
};
struct noted {
  using commutes = void;
};

struct point {
  int x, y;
};
template <>
struct troupe::described<point> {
  static constexpr auto members = std::tuple(&point::x);
};

#if CASE == 0
task<int> fine(replica_context ctx) { co_return co_await ctx.merge_call(sum, ctx.replica_id()); }

// --- functions and arguments that do not fit -----------------------------------------------------
#elif CASE == 1   // troupe: merge_call() cannot call this function
task<int> f(replica_context ctx) { co_return co_await ctx.merge_call(sum, std::string("one")); }
#elif CASE == 2   // troupe: merge_call() cannot call this function
task<int> f(replica_context ctx) { co_return co_await ctx.merge_call(sum); }
#elif CASE == 3   // troupe: merge_call() cannot call this function
int of_a_replica(replica_context, int);
task<int> f(replica_context ctx) { co_return co_await ctx.merge_call(of_a_replica, 1); }
#elif CASE == 4   // troupe: run() cannot call this function with these arguments
int wants_text(replica_context, std::string);
auto f(const strategy& s) { return s.run(wants_text, 3); }
#elif CASE == 5   // troupe: run() cannot call this function with these arguments
int wants_two(int, int);
auto f(const strategy& s) { return s.run(wants_two, 3); }
#elif CASE == 6   // troupe: run() cannot call this function with these arguments
int wants_text(std::string);
auto f(const strategy& s) { return s.run(wants_text, per_replica<int>({1, 2})); }
#elif CASE == 7   // troupe: run() cannot call this function with these arguments
int of_a_merge(cross_replica_context);
auto f(const strategy& s) { return s.run(of_a_merge); }
#elif CASE == 94  // troupe: what a replica function returns to run() is aligned to 64 bytes at most
struct alignas(128) two_lines {
  char bytes[128];
};
two_lines wide();
auto f(const strategy& s) { return s.run(wide); }
#elif CASE == 8   // troupe: this actor does not understand this message
void f(listener& l) { l.tell(3); }
#elif CASE == 92  // troupe: an actor whose messages commute has a `state() const`
struct silent final : actor<silent, noted> {
  explicit silent(runtime& on) : actor(on, "silent") {}
  void on(noted);
};
void f(silent& s) { s.tell(noted()); }

// --- what a task cannot await --------------------------------------------------------------------
#elif CASE == 9   // troupe: a task awaits an asio::awaitable as a part of itself
task<int> f() { co_return co_await foreign(); }
#elif CASE == 10  // troupe: a task cannot await this
task<> f() { co_await std::suspend_always(); }
#elif CASE == 11  // troupe: this is a value already
task<> f() { co_await 3; }
#elif CASE == 95  // troupe: this is a value already
task<int> f(replica_context ctx, variable<int> v) { co_return co_await v.read(ctx); }
#elif CASE == 96  // troupe: this is a value already
task<> f(asio::any_io_executor e) { co_await asio::post(e, asio::deferred); }
#elif CASE == 97  // troupe: a task awaits an asio::awaitable as a part of itself
task<int> f(asio::awaitable<int> kept) { co_return co_await kept; }
#elif CASE == 98  // troupe: a task is awaited once: co_await std::move(t)
task<int> f(task<int> t) { co_return co_await t; }
#elif CASE == 12  // troupe: a task yields a value
task<int&> f();
auto g() { return f(); }

// --- what cannot be reduced or gathered ----------------------------------------------------------
#elif CASE == 13  // troupe: all_reduce() is defined for
task<> f(replica_context ctx) { co_await ctx.all_reduce(reduce_op::sum, std::string("a")); }
#elif CASE == 14  // troupe: the operation is reduce_op::sum or reduce_op::mean
struct most {};
task<> f(replica_context ctx) { co_await ctx.all_reduce(most(), 1); }
#elif CASE == 15  // troupe: all_reduce() is defined for
task<> f(replica_context ctx) { co_await ctx.all_reduce(reduce_op::sum, std::tuple(1, true)); }
#elif CASE == 75  // troupe: all_reduce() is defined for
task<> f(replica_context ctx, std::map<int, std::vector<std::string>> mine) {
  co_await ctx.all_reduce(reduce_op::sum, mine);
}
#elif CASE == 16  // troupe: sum, mean, min, max and product are defined for
auto f(const per_replica<std::string>& v) { return reduce(reduce_op::sum, v); }
#elif CASE == 17  // troupe: sum, mean, min, max and product are defined for
auto f(const strategy& s, const per_replica<bool>& v) { return s.reduce(reduce_op::mean, v); }
#elif CASE == 18  // troupe: only std::vector, std::array and std::span of numbers
auto f(const per_replica<int>& v) { return reduce(reduce_op::sum, v, 0); }
#elif CASE == 19  // troupe: only std::vector, std::array and std::span of numbers
auto f(const strategy& s) { return s.reduce(reduce_op::sum, 3, {0}); }
#elif CASE == 84  // troupe: along axes there are reduce_op::sum and reduce_op::mean
auto f(const per_replica<std::vector<int>>& v) { return reduce(reduce_op::max, v, 0); }
#elif CASE == 85  // troupe: indexed_slices have a sum and a mean
auto f(const per_replica<indexed_slices<tensor<int>>>& v) { return reduce(reduce_op::min, v); }
#elif CASE == 86  // troupe: this operation makes no such value of two
struct joined : own_reduction {
  static constexpr const char* name = "joined";
  std::string operator()(std::string a, std::string b) const { return a + b; }
};
auto f(const per_replica<std::vector<int>>& v) { return reduce(joined(), v); }
#elif CASE == 87  // troupe: an operation that has members has an operator==
struct nearest_to : own_reduction {
  static constexpr const char* name = "nearest_to";
  int wanted = 0;
  int operator()(int a, int b) const { return b == wanted ? b : a; }
};
task<> f(replica_context ctx) { co_await ctx.all_reduce(nearest_to(), 1); }
#elif CASE == 20  // troupe: what has an axis can be gathered
auto f(const per_replica<int>& v) { return gather(v); }
#elif CASE == 21  // troupe: what has an axis can be gathered
task<> f(replica_context ctx) { co_await ctx.all_gather(3.0); }

#elif CASE == 88  // troupe: reduce_scatter() is defined for
task<> f(replica_context ctx) { co_await ctx.reduce_scatter(reduce_op::sum, 3.0); }
#elif CASE == 93  // troupe: reduce_scatter() is defined for
auto f(const per_replica<double>& v) { return reduce_scatter(reduce_op::sum, v); }
#elif CASE == 89  // troupe: batch_reduce() takes a nest of per_replica values
auto f(const strategy& s) { return s.extended().batch_reduce(reduce_op::sum, point()); }
#elif CASE == 90  // troupe: order::global is for integers, float, double, float16 and bfloat16
auto f(per_replica<std::vector<long double>> v) { return reduce(sum_op(), v, 0, order::global); }

#elif CASE == 76  // troupe: gather does not support indexed_slices
auto f(const per_replica<indexed_slices<tensor<int>>>& v) { return gather(v); }
#elif CASE == 77  // troupe: gather does not support indexed_slices
auto f(const strategy& s, const per_replica<indexed_slices<tensor<int>>>& v) { return s.gather(v); }
#elif CASE == 78  // troupe: all_gather does not support indexed_slices
task<> f(replica_context ctx, indexed_slices<tensor<int>> v) { co_await ctx.all_gather(v); }
#elif CASE == 79  // troupe: the rows of indexed_slices are a std::vector of numbers or a tensor
indexed_slices<int> one;
#elif CASE == 34  // troupe: reduce() takes one value
auto f(const strategy& s, const std::pair<per_replica<int>, per_replica<int>>& both) {
  return s.reduce(reduce_op::sum, both);
}
#elif CASE == 80  // troupe: reduce() takes one value
auto f(const strategy& s, const std::vector<per_replica<int>>& all) {
  return s.reduce(reduce_op::mean, all);
}
#elif CASE == 81  // troupe: reduce() takes one value
auto f(const strategy& s, const std::map<int, per_replica<int>>& all) {
  return s.reduce(reduce_op::sum, all);
}
#elif CASE == 82  // troupe: reduce() takes one value
auto f(const strategy& s, const fields<point>& all) { return s.reduce(reduce_op::sum, all); }
#elif CASE == 83  // troupe: this is no described member
auto f(const fields<point>& all) { return all.get<&point::y>(); }

// --- what belongs to the other context -----------------------------------------------------------
#elif CASE == 22  // troupe: run() needs cross-replica context, but this is a replica
task<> f(replica_context ctx) { co_await ctx.run(foreign); }
#elif CASE == 23  // troupe: reduce() needs cross-replica context, but this is a replica
auto f(replica_context ctx) { return ctx.reduce(reduce_op::sum, per_replica<int>()); }
#elif CASE == 24  // troupe: gather() needs cross-replica context, but this is a replica
auto f(replica_context ctx) { return ctx.gather(per_replica<std::vector<int>>()); }
#elif CASE == 25  // troupe: merge_call() is a replica's, but this is cross-replica context
task<> f(cross_replica_context cross) { co_await cross.merge_call(sum, 1); }
#elif CASE == 26  // troupe: all_reduce() is a replica's, but this is cross-replica context
task<> f(cross_replica_context cross) { co_await cross.all_reduce(reduce_op::sum, 1); }
#elif CASE == 27  // troupe: all_gather() is a replica's, but this is cross-replica context
task<> f(cross_replica_context cross) { co_await cross.all_gather(std::vector<int>()); }
#elif CASE == 91  // troupe: ctx.reduce_scatter() is a replica's, but this is cross-replica context
task<> f(cross_replica_context cross) { co_await cross.reduce_scatter(reduce_op::sum, 1); }
#elif CASE == 28  // troupe: cross-replica context is no replica and has no replica_id()
int f(cross_replica_context cross) { return cross.replica_id(); }

// --- what cannot be done with a variable ---------------------------------------------------------
#elif CASE == 35  // troupe: this aggregation cannot make one value of this type of many
auto f(const strategy& s) { return variable(s, 1.0f, std::string("invalid")); }
#elif CASE == 36  // troupe: this aggregation cannot make one value of this type of many
auto f(const strategy& s) { return variable(s, std::string("a"), aggregation::mean); }
#elif CASE == 37  // troupe: this aggregation cannot make one value of this type of many
auto f(const strategy& s) { return sync_on_read_variable(s, true, aggregation::sum); }
#elif CASE == 38  // troupe: the mean of integers is no integer
auto f(replica_context ctx, variable<int, mean_op> v) { return v.assign(ctx, ctx.replica_id()); }
#elif CASE == 39  // troupe: a value that is the same on all replicas has no sum
auto f(replica_context ctx, variable<int, sum_op> v) { return v.assign_add(ctx, mirrored(1)); }
#elif CASE == 40  // troupe: a value that is the same on all replicas has no sum
auto f(replica_context ctx, variable<int, sum_op> v) { return v.assign(ctx, v); }
#elif CASE == 41  // troupe: this value cannot be written to the variable
auto f(replica_context ctx, variable<int> v) { return v.assign(ctx, std::string("one")); }
#elif CASE == 42  // troupe: a variable's components must not differ
auto f(variable<int> v, const per_replica<int>& values) { return v.assign(values); }
#elif CASE == 43  // troupe: this value cannot be written to the variable
auto f(variable<int> v) { return v.assign_add(std::string("one")); }
#elif CASE == 44  // troupe: without an aggregation there is no way to make one value
auto f(sync_on_read_variable<int, no_aggregation> v) { return v.read(); }
#elif CASE == 45  // troupe: adding to every component of a sum
auto f(sync_on_read_variable<int> v) { return v.assign_add(1); }
#elif CASE == 46  // troupe: adding to every component of a sum
auto f(sync_on_read_variable<int> v) { return v.assign_sub(1); }
#elif CASE == 47  // troupe: this value cannot be written to the variable
auto f(sync_on_read_variable<int> v, const per_replica<int>& values) { return v.assign(values); }
#elif CASE == 48  // troupe: this value cannot be written to the variable
void f(replica_context ctx, sync_on_read_variable<int> v) { v.assign(ctx, std::string("one")); }
#elif CASE == 49  // troupe: a variable that is synchronised on read has no scatter operations
auto f(sync_on_read_variable<int> v) { return v.scatter_add(1); }
#elif CASE == 50  // troupe: update() cannot call this function
void wants_text(int&, std::string);
auto f(const strategy& s, variable<int> v) { return s.extended().update(v, wants_text, 1); }
#elif CASE == 51  // troupe: a variable that is synchronised on read has another value on each
void put(int& to, int from);
auto f(const strategy& s, variable<int> v, sync_on_read_variable<int> all) {
  return s.extended().update(v, put, all);
}
#elif CASE == 52  // troupe: what is updated is a variable
void put(int& to, int from);
auto f(const strategy& s) { return s.extended().update(3, put, 1); }
#elif CASE == 57  // troupe: an update function is a plain function
task<> put(int& to, int from);
auto f(const strategy& s, variable<int> v) { return s.extended().update(v, put, 1); }
#elif CASE == 58  // troupe: an update function is a plain function
task<int> put(update_context ctx, int& to);
void f(updates& all, variable<int> v) { all.add(v, put); }
#elif CASE == 59  // troupe: an update function is a plain function
task<> put(update_context ctx);
auto f(const strategy& s) { return s.extended().update_non_slot({}, put); }

// --- variables and their updates -----------------------------------------------------------------
#elif CASE == 60  // troupe: of minima, maxima and new values there is no sum and no mean
using rows = std::vector<float>;
auto f(const variable<rows, sum_op>& v) { return v.scatter_min(indexed_slices<rows>()); }
#elif CASE == 61  // troupe: of minima, maxima and new values there is no sum and no mean
using rows = std::vector<float>;
auto f(replica_context ctx, const variable<rows, mean_op>& v) {
  return v.scatter_max(ctx, indexed_slices<rows>());
}
#elif CASE == 62  // troupe: of minima, maxima and new values there is no sum and no mean
using rows = std::vector<float>;
auto f(replica_context ctx, const variable<rows, sum_op>& v) {
  return v.scatter_update(ctx, indexed_slices<rows>());
}
#elif CASE == 63  // troupe: what is updated is a variable
void put(float&);
auto f(const strategy& s, float plain) { return s.extended().update(plain, put); }
#elif CASE == 64  // troupe: what is updated is a variable
void put(float&);
void f(updates& all, float plain) { all.add(plain, put); }
#elif CASE == 65  // troupe: a variable that is synchronised on read has another value
void put(float&, float);
auto f(const strategy& s, const variable<float>& v, const sync_on_read_variable<float>& other) {
  return s.extended().update(v, put, other);
}
#elif CASE == 66  // troupe: colocate_vars_with() takes a variable of this strategy
void f(const strategy& s) {
  const auto here = s.extended().colocate_vars_with(s.extended().non_slot_devices());
}

// --- destinations --------------------------------------------------------------------------------
#elif CASE == 67  // troupe: a destination is a variable
auto f(const strategy& s, const std::vector<std::string>& devices) {
  return s.extended().reduce_to(reduce_op::sum, per_replica<int>(), devices);
}
#elif CASE == 68  // troupe: a destination is a variable
auto f(const strategy& s) { return s.extended().broadcast_to(1, 3); }
#elif CASE == 69  // troupe: broadcast_to() takes one value, not one for each
auto f(const strategy& s) { return s.extended().broadcast_to(per_replica<int>(), "cpu:0"); }
#elif CASE == 70  // troupe: a variable is the same on all replicas
auto f(const strategy& s, const variable<int>& v) { return s.reduce(reduce_op::sum, v); }
#elif CASE == 71  // troupe: logical devices are for strategies with model parallelism
void f(const strategy& s) { s.experimental_assign_to_logical_device(1.0f, 0); }

// --- what is warned of ---------------------------------------------------------------------------
#elif CASE == 72  // troupe: a mean of means is wrong where replicas hold uneven numbers
auto f(const strategy& s, const per_replica<unweighted<float>>& means) {
  return s.reduce(reduce_op::mean, means);
}
#elif CASE == 73  // troupe: a mean of means is wrong where replicas hold uneven numbers
task<float> f(replica_context ctx, std::vector<float> mine) {
  const auto mean = local_mean(mine);
  co_return co_await ctx.all_reduce(reduce_op::mean, mean);
}
#elif CASE == 74  // write the loop around run()
void step(multi_step_context&, int);
auto f(const strategy& s, const int* batches) {
  return s.extended().experimental_run_steps_on_iterator(step, batches);
}

// --- what is thrown away -------------------------------------------------------------------------
#elif CASE == 29  // co_await it, or give it to block_on(): nothing runs before
void f(const strategy& s) { s.run(foreign); }
#elif CASE == 30  // co_await it: a merge happens when it is awaited
void f(replica_context ctx) { ctx.merge_call(sum, 1); }
#elif CASE == 31  // co_await it: a reduction happens when it is awaited
void f(replica_context ctx) { ctx.all_reduce(reduce_op::sum, 1); }
#elif CASE == 32  // a task does nothing until it is awaited
task<> g();
void f() { g(); }
#elif CASE == 33  // a scope ends with the object: give it a name
void f(const strategy& s) { s.scope(); }
#elif CASE == 53  // co_await it: nothing is written before
void f(replica_context ctx, variable<int> v) { v.assign(ctx, 1); }
#elif CASE == 54  // co_await it: nothing is written before
void f(variable<int> v) { v.assign_add(1); }
#elif CASE == 55  // co_await it: nothing is updated before
void put(int& to, int from);
void f(const strategy& s, variable<int> v) { s.extended().update(v, put, 1); }
#elif CASE == 56  // co_await it: nothing is made before
void f(replica_context ctx) { create_variable(ctx, 1); }
#endif
