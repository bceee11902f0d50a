// sim_test_case.hpp - a Catch2 test case that runs under every schedule.
//
//     #include <troupe/runtime/sim_test_case.hpp>
//
//     SIM_TEST_CASE("gradients are applied once", "[sim]") {
//       mirrored_strategy strategy{w.runtime(), 3};
//       co_await strategy.run(step);
//       w.check(applied == 1, "once");
//     }
//
// The body is a coroutine with a `world& w`; it says what it has to say with w.check(), w.always()
// and their kin. Catch2's own macros do not belong there: they would count every run.
//
// Guarantees
//   one line     a test that holds prints how far: "name: proved: 36 of 36 partial orders …";
//   one failure  a test that does not hold is one failed assertion of Catch2's, at the claim that
//                does not, with the report; and one printed line with the command that replays it;
//   kept         with TROUPE_SIM_CORPUS=<folder> schedules that failed are tried first; see
//                corpus.hpp.
//
// Not part of troupe.hpp: whoever includes it has Catch2 3.

#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/interfaces/catch_interfaces_capture.hpp>
#include <csignal>
#include <iostream>
#include <string>

#include "troupe/runtime/corpus.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe::detail {

/// The argument that makes Catch2 run the test of this name and no other, for a shell.
inline std::string catch_argument(const std::string& name) {
  std::string quoted = "'";
  for (const char c : name) {
    if (c == '\'') {
      quoted += "'\\''";
      continue;
    }
    if (c == ',' || c == '[' || c == '*' || c == '\\' || c == '"' || c == '~') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

inline named_exploration run_sim_test_case(const simulation::program& body,
                                           const simulation_options& options) {
  const std::string name = Catch::getResultCapture().getCurrentTestName();
  named_exploration told = explore_named(name, body, options, catch_argument(name));
  // Beside Catch2's report, which breaks long lines: a command is there to be copied.
  if (told.passed) {
    std::cout << name << ": " << told.text << std::endl;
  } else if (!told.replay.empty()) {
    std::cout << name << ": fails: " << told.replay << std::endl;
  }
  if (told.interrupted) {
    std::cout << name << ": " << told.text << std::endl;
    std::raise(SIGINT);  // The exploration has ended; the other tests are to end, too.
  }
  return told;
}

/// One assertion of the present test, at the line of the claim if that is known.
inline void tell_catch(const named_exploration& told, Catch::SourceLineInfo test) {
  const bool claimed = told.at.line() != 0;
  Catch::AssertionHandler assertion(
      claimed ? "claim in a world" : "SIM_TEST_CASE",
      claimed ? Catch::SourceLineInfo(told.at.file_name(), told.at.line()) : test, "",
      Catch::ResultDisposition::Normal);
  assertion.handleMessage(told.passed ? Catch::ResultWas::Ok : Catch::ResultWas::ExplicitFailure,
                          std::string(told.text));
  assertion.complete();  // Throws what ends a test, if it has failed.
}

}  // namespace troupe::detail

#define TROUPE_JOIN_AGAIN(a, b) a##b
#define TROUPE_JOIN(a, b) TROUPE_JOIN_AGAIN(a, b)
#define TROUPE_SIM_TEST_CASE(body, options, ...)                                     \
  static ::troupe::task<> body(::troupe::world& w);                                  \
  TEST_CASE(__VA_ARGS__) {                                                           \
    ::troupe::detail::tell_catch(::troupe::detail::run_sim_test_case(body, options), \
                                 CATCH_INTERNAL_LINEINFO);                           \
  }                                                                                  \
  static ::troupe::task<> body([[maybe_unused]] ::troupe::world& w)

/// SIM_TEST_CASE(name, tags) { body }
#define SIM_TEST_CASE(...)                                           \
  TROUPE_SIM_TEST_CASE(TROUPE_JOIN(troupe_sim_test_case_, __LINE__), \
                       (::troupe::simulation_options()), __VA_ARGS__)

/// The same with options of its own: SIM_TEST_CASE_WITH(options, name, tags) { body }
#define SIM_TEST_CASE_WITH(options, ...) \
  TROUPE_SIM_TEST_CASE(TROUPE_JOIN(troupe_sim_test_case_, __LINE__), (options), __VA_ARGS__)
