// example.hpp - an error of the catalogue, as a public call raised it and docs/errors.md shows it.
//
//     const error e = raised({.code = errc::not_per_replica, .what = "...", .fix = "..."},
//                            thrown_by([&] { strategy.reduce(reduce_op::sum, 1); }));
//     show(e);
//
// show() writes the error's text to TR-304.txt in the folder that TROUPE_ERROR_EXAMPLES names,
// and does nothing when that is not set. tools/errors.py sets it.

#pragma once

#include <algorithm>
#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>

#include "tests/support/outcome.hpp"

namespace troupe::test {

struct on_an_io_context {
  asio::io_context io;
  runtime rt{io.get_executor()};

  template <class Operation>
  std::exception_ptr thrown_on(Operation operation) {
    return thrown_by([&] { static_cast<void>(block_on(rt, std::move(operation))); });
  }
};

/// What an error should tell. What is not named should not be there.
struct wanted {
  errc code;
  std::string what;
  std::string fix;
  std::size_t replicas = 0;
  std::uint64_t merges_agreed = 0;
  std::size_t waiting = 0;
  bool replay = false;
};

/// The error that was thrown, if it is the wanted one.
inline error raised(const wanted& as_wanted, const std::exception_ptr& thrown) {
  const auto e = as<error>(thrown);
  INFO(describe(thrown));
  REQUIRE(e);
  CHECK(e->code() == as_wanted.code);
  CHECK(e->facts().what == as_wanted.what);
  CHECK(e->fix() == as_wanted.fix);
  CHECK(e->replicas().size() == as_wanted.replicas);
  CHECK(e->merges_agreed() == as_wanted.merges_agreed);
  CHECK((e->last_agreed().line() != 0) == (as_wanted.merges_agreed != 0));
  CHECK(e->waiting().size() == as_wanted.waiting);
  CHECK(e->replay().empty() != as_wanted.replay);
  return *e;
}

/// Whether replica `replica` of the error's picture is in `state`, doing `doing`.
inline bool stands(const error& e, std::size_t replica, replica_place::state state,
                   const std::string& doing) {
  const replica_place& p = e.replicas().at(replica);
  INFO(p.doing);
  CHECK(p.doing == doing);
  return p.replica == replica && p.is == state;
}

/// "runs.test.cpp:88" as "example.cpp:3": places are counted from the line above the program, so
/// that they stay what they are when something is written above it.
inline std::string with_lines_from(unsigned above_program, std::string text) {
  const std::string places = ".test.cpp:";
  for (auto at = text.find(places); at != text.npos; at = text.find(places, at)) {
    const auto name = text.find_last_of(" (", at) + 1;
    const auto digits = at + places.size();
    const auto end = std::min(text.find_first_not_of("0123456789", digits), text.size());
    const unsigned long line = std::stoul(text.substr(digits, end - digits));
    std::string place = "example.cpp:" + std::to_string(line - above_program);
    text.replace(name, end - name, place);
    at = name + place.size();
  }
  return text;
}

/// The error's text as the documents show it.
inline std::string text_of(const error& e, unsigned above_program) {
  std::istringstream lines(with_lines_from(above_program, e.what()));
  std::string text;
  // Shorter places leave the columns of the picture ragged.
  constexpr std::size_t place_at = 23, place_width = 16;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  replica ") && line.size() > place_at) {
      const auto end = line.find(' ', place_at);
      const auto doing = std::min(line.find_first_not_of(' ', end), line.size());
      line.replace(end, doing - end, place_width - (end - place_at), ' ');
    }
    text += line + '\n';
  }
  return text;
}

/// `above_program` is the __LINE__ just above the program that shows the error.
inline void show(const error& e, unsigned above_program = 0) {
  const char* const folder = std::getenv("TROUPE_ERROR_EXAMPLES");
  if (!folder) return;
  const std::string name = tag_of(static_cast<errc>(e.code().value())) + ".txt";
  std::ofstream file(std::string(folder) + "/" + name);
  file << text_of(e, above_program);
  file.flush();
  REQUIRE(file.good());
}

/// The first failure of a program, whatever TROUPE_SIM_SCHEDULE says.
inline failure failure_of(const simulation::program& body,
                          simulation_options options = simulation_options()) {
  options.heed_environment = false;
  const exploration report = simulation(options).explore(body);
  REQUIRE(report.failure);
  return *report.failure;
}

}  // namespace troupe::test
