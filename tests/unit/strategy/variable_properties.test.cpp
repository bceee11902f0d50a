// Random sequences of everything that may be done to mirrored variables, beside a model that
// does the same to one value: the components are always that value.
//
// All numbers are small multiples of a quarter, so that floats are exact in any order.

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <random>
#include <span>
#include <stdexcept>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/outcome.hpp"
#include "tests/support/variables.hpp"

namespace troupe::test {
namespace {

constexpr int replicas = 4;
constexpr int operations = 12;

/// A value of the model.
using numbers = std::vector<float>;

template <class T>
inline constexpr std::size_t length_of = std::is_arithmetic_v<T> ? 1 : 6;

template <class T>
T value_of(const numbers& from) {
  if constexpr (std::is_arithmetic_v<T>) {
    return from[0];
  } else {
    return T({2, 3}, std::span<const float>(from));
  }
}

enum class kind { assign, add, subtract };

void apply(kind how, numbers& to, const numbers& from) {
  for (std::size_t j = 0; j < to.size(); ++j) {
    if (how == kind::assign) to[j] = from[j];
    if (how == kind::add) to[j] += from[j];
    if (how == kind::subtract) to[j] -= from[j];
  }
}

template <class How>
numbers aggregated(const std::vector<numbers>& values) {
  if (std::is_same_v<How, first_op>) return values[0];
  numbers all(values[0].size(), 0.0f);
  for (const numbers& each : values) apply(kind::add, all, each);
  for (float& x : all) x /= std::is_same_v<How, mean_op> ? static_cast<float>(replicas) : 1.0f;
  return all;
}

// -- what replicas do -----------------------------------------------------------------------------

struct planned_failure : std::runtime_error {
  planned_failure() : runtime_error("planned") {}
};

struct plan {
  kind how = kind::assign;
  std::vector<numbers> values;  // Index = replica.
  int fails_before = -1;
  int fails_after = -1;
};

template <class T, class V, class Value>
task<> write(replica_context ctx, V v, kind how, Value value) {
  if (how == kind::assign) co_await v.assign(ctx, value);
  if (how == kind::add) co_await v.assign_add(ctx, value);
  if (how == kind::subtract) co_await v.assign_sub(ctx, value);
}

template <class T, class V>
task<> write_as_planned(replica_context ctx, V v, const plan* p) {
  const int self = ctx.replica_id();
  if (self == p->fails_before) throw planned_failure();
  co_await write<T>(ctx, v, p->how, value_of<T>(p->values[static_cast<std::size_t>(self)]));
  if (self == p->fails_after) throw planned_failure();
}

template <class T, class V>
task<> write_same(replica_context ctx, V v, const plan* p) {
  co_await write<T>(ctx, v, p->how, mirrored<T>(value_of<T>(p->values[0])));
}

template <class V, class Value>
task<> write_outside(V v, kind how, Value value) {
  if (how == kind::assign) co_await v.assign(value);
  if (how == kind::add) co_await v.assign_add(value);
  if (how == kind::subtract) co_await v.assign_sub(value);
}

/// component = value - component.
template <class T>
void reflect(T& component, const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    component = value - component;
  } else {
    for (std::size_t j = 0; j < component.size(); ++j) component[j] = value[j] - component[j];
  }
}

template <class T>
void reflect_and_fail(T& component, const T& value) {
  reflect(component, value);
  throw planned_failure();
}

// -- one sequence ---------------------------------------------------------------------------------

template <class T, class How>
class sequence {
  using variable_type = variable<T, How>;

 public:
  sequence(runtime& rt, unsigned seed)
      : rt_(rt), random_(seed), here_(some()), there_(some()), strategy_(rt, replicas) {
    v_.emplace_back(strategy_, value_of<T>(here_));
    v_.emplace_back(strategy_, value_of<T>(there_));
  }

  /// How many operations left the components other than the model says.
  int run() {
    int wrong = 0;
    for (int i = 0; i < operations; ++i) {
      step();
      wrong += agrees(v_[0], here_) && agrees(v_[1], there_) ? 0 : 1;
    }
    return wrong;
  }

 private:
  int any(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  numbers some() {
    numbers made;
    for (std::size_t j = 0; j < length_of<T>; ++j) {
      made.push_back(static_cast<float>(any(64)) / 4.0f);
    }
    return made;
  }
  plan any_plan() {
    plan p;
    p.how = static_cast<kind>(any(3));
    for (int i = 0; i < replicas; ++i) p.values.push_back(some());
    return p;
  }

  bool agrees(const variable_type& v, const numbers& wanted) {
    const auto read = block_on(rt_, read_on_replicas(&strategy_, v));
    return all_alike(read) && read[0] == value_of<T>(wanted) && block_on(rt_, v.read()) == read[0];
  }

  template <class Operation>
  void must_fail(Operation operation) {
    const auto thrown = block_on(rt_, outcome_of(std::move(operation)));
    if (!is_a<planned_failure>(thrown)) here_.assign(here_.size(), -999.0f);  // Seen as wrong.
  }

  void step() {
    switch (any(8)) {
      case 0:
      case 1: write_in_replicas(); break;
      case 2: write_the_same(); break;
      case 3: write_across(); break;
      case 4: update_one(); break;
      case 5: update_both(); break;
      case 6: fail_in_a_run(); break;
      default: fail_in_an_update();
    }
  }

  void write_in_replicas() {
    const plan p = any_plan();
    block_on(rt_, strategy_.run(write_as_planned<T, variable_type>, v_[0], &p));
    apply(p.how, here_, aggregated<How>(p.values));
  }

  void write_the_same() {
    const plan p = any_plan();
    if constexpr (std::is_same_v<How, sum_op>) {  // What is the same has no sum.
      block_on(rt_, write_outside(v_[0], p.how, mirrored<T>(value_of<T>(p.values[0]))));
    } else {
      block_on(rt_, strategy_.run(write_same<T, variable_type>, v_[0], &p));
    }
    apply(p.how, here_, p.values[0]);
  }

  void write_across() {
    const plan p = any_plan();
    block_on(rt_, write_outside(v_[0], p.how, value_of<T>(p.values[0])));
    apply(p.how, here_, p.values[0]);
    block_on(rt_, write_outside(v_[1], p.how, v_[0]));
    apply(p.how, there_, here_);
  }

  void reflect_model(numbers& of, const numbers& value) {
    apply(kind::subtract, of, value);
    for (float& x : of) x = -x;
  }

  void update_one() {
    const numbers value = some();
    block_on(rt_, strategy_.extended().update(v_[0], reflect<T>, value_of<T>(value)));
    reflect_model(here_, value);
  }

  void update_both() {
    const numbers value = some();
    updates all;
    all.add(v_[0], reflect<T>, mirrored<T>(value_of<T>(value)));
    all.add(v_[1], reflect<T>, v_[0]);
    block_on(rt_, strategy_.extended().update(std::move(all)));
    reflect_model(here_, value);
    reflect_model(there_, here_);
  }

  void fail_in_a_run() {
    plan p = any_plan();
    const bool after = any(2) == 0;
    (after ? p.fails_after : p.fails_before) = any(replicas);
    must_fail(strategy_.run(write_as_planned<T, variable_type>, v_[0], &p));
    if (after) apply(p.how, here_, aggregated<How>(p.values));
  }

  void fail_in_an_update() {
    const numbers value = some();
    must_fail(strategy_.extended().update(v_[0], reflect_and_fail<T>, value_of<T>(value)));
    reflect_model(here_, value);
  }

  runtime& rt_;
  std::mt19937 random_;
  numbers here_;   // What v_[0] shall be …
  numbers there_;  // … and v_[1].
  mirrored_strategy strategy_;
  std::vector<variable_type> v_;
};

template <class T>
void check_sequences() {
  for (const std::size_t threads : {1u, 2u, 3u}) {
    runtime rt{pool_size{threads}};
    for (unsigned seed = static_cast<unsigned>(threads); seed <= 1'000; seed += 3) {
      INFO("seed " << seed << ", " << threads << " threads");
      int wrong = 0;
      if (seed % 5 < 2) wrong = sequence<T, mean_op>(rt, seed).run();
      if (seed % 5 >= 2 && seed % 5 < 4) wrong = sequence<T, sum_op>(rt, seed).run();
      if (seed % 5 == 4) wrong = sequence<T, first_op>(rt, seed).run();
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("1,000 random sequences on numbers leave the components as the model says") {
  check_sequences<float>();
}

TEST_CASE("1,000 random sequences on tensors leave the components as the model says") {
  check_sequences<tensor<float>>();
}

}  // namespace
}  // namespace troupe::test
