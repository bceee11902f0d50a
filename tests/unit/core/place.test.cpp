#include "troupe/core/place.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace troupe::test {
namespace {

template <class T>
place inside_a_template(T) {
  return place::current();
}

place of_the_caller(place at = place::current()) { return at; }

TEST_CASE("a place is the same as itself") {
  const place here = place::current();
  CHECK(same_place(here, here));
}

TEST_CASE("identity: places on different lines differ") {
  const place first = place::current();
  const place second = place::current();
  CHECK_FALSE(same_place(first, second));
}

TEST_CASE("identity: places in different columns of a line differ") {
  const place both[] = {place::current(), place::current()};
  CHECK(both[0].line() == both[1].line());
  CHECK_FALSE(same_place(both[0], both[1]));
}

TEST_CASE("identity: one place in two instantiations of a template is the same") {
  CHECK(same_place(inside_a_template(1), inside_a_template(1.0)));
}

TEST_CASE("identity: a loop comes to the same place each time") {
  place visits[2];
  for (auto& each : visits) each = of_the_caller();
  CHECK(same_place(visits[0], visits[1]));
}

TEST_CASE("identity: a recorded place differs from one that nobody recorded") {
  CHECK_FALSE(same_place(place::current(), place{}));
}

TEST_CASE("a place is written as file and line, without folders") {
  const place here = place::current();
  CHECK(to_string(here) == "place.test.cpp:" + std::to_string(here.line()));
}

TEST_CASE("a place that nobody recorded is written as a question mark") {
  CHECK(to_string(place{}) == "?");
}

}  // namespace
}  // namespace troupe::test
