// worlds.hpp - one program in every world troupe has, with the same answer in each.
//
//     task<per_replica<int>> ids(runtime& rt) {
//       mirrored_strategy strategy(rt, 2);
//       co_return co_await strategy.run(id_of);
//     }
//     check_in_every_world(ids, {0, 1});
//
// The worlds: a pool of two threads, an io_context, and the simulation, there under every
// schedule if there are few enough and under seeded ones otherwise.
//
// A program says nothing to Catch2, whose assertions belong to one thread: it returns what it
// saw, and that is compared here, on the thread of the test.

#pragma once

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <cstdint>
#include <exception>
#include <string>
#include <troupe/troupe.hpp>
#include <type_traits>
#include <utility>

#include "tests/support/outcome.hpp"

namespace troupe::test {

/// A program is captureless, so that it may be called once for each schedule.
template <class Program>
using answer_of = typename std::invoke_result_t<Program, runtime&>::value_type;

/// Every schedule is tried while there are at most this many, and otherwise …
inline constexpr std::uint64_t schedules_at_most = 2'000;
/// … this many random ones.
inline constexpr std::uint64_t schedules_drawn = 1'000;

namespace detail {

template <class Program, class Answer>
task<> compare_in(world* w, Program program, const Answer* expected) {
  const Answer answer = co_await program(w->runtime());
  const bool same = answer == *expected;
  // The texts are made for a failure only: there are thousands of schedules.
  std::string claim;
  if (!same) {
    claim = "the answer is " + Catch::Detail::stringify(answer) + " instead of " +
            Catch::Detail::stringify(*expected);
  }
  w->check(same, claim);
}

template <class Program, class Answer>
void check_on(runtime& rt, Program program, const Answer& expected, const char* where) {
  INFO(where);
  const Answer answer = block_on(rt, program(rt));
  CHECK(answer == expected);
}

}  // namespace detail

/// Checks that `program` gives `expected` on a pool.
template <class Program>
void check_on_a_pool(Program program, const answer_of<Program>& expected) {
  runtime rt{pool_size{2}};
  detail::check_on(rt, program, expected, "on a pool of two threads");
}

/// Checks that `program` gives `expected` on an io_context that the test's thread runs.
template <class Program>
void check_on_an_io_context(Program program, const answer_of<Program>& expected) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  detail::check_on(rt, program, expected, "on an io_context");
}

/// Checks that `program` gives `expected` whatever the order of its steps.
template <class Program>
void check_under_schedules(Program program, const answer_of<Program>& expected) {
  simulation_options options;
  options.exhaustive = schedules_at_most;
  options.samples = schedules_drawn;
  const exploration report = simulation(options).explore(
      [&](world& w) { return detail::compare_in(&w, program, &expected); });
  INFO(report.text());
  CHECK(report.passed());
}

template <class Program>
void check_in_every_world(Program program,
                          const std::type_identity_t<answer_of<Program>>& expected) {
  check_on_a_pool(program, expected);
  check_on_an_io_context(program, expected);
  check_under_schedules(program, expected);
}

/// How something ended, as text: "returned", the tag of an error of troupe's, or what() of
/// any other exception.
inline std::string ending(const std::exception_ptr& thrown) {
  if (!thrown) return "returned";
  if (const auto told = as<error>(thrown)) return tag_of(static_cast<errc>(told->code().value()));
  return describe(thrown);
}

/// The same for an operation that is still to be awaited.
template <class Operation>
task<std::string> ending_of(Operation operation) {
  const std::exception_ptr thrown = co_await outcome_of(std::move(operation));
  co_return ending(thrown);
}

}  // namespace troupe::test
