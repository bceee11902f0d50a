// equivalence.cpp - which strategy gave another answer.

#include "troupe/strategy/equivalence.hpp"

namespace troupe::detail {

namespace {

std::string name_of(const strategy& s) {
  return std::string(s.kind()) + " of " + std::to_string(s.num_replicas_in_sync());
}

}  // namespace

void throw_not_equivalent(const strategy& first, const std::string& expected, const strategy& other,
                          const std::string& answer) {
  throw error(errc::not_equivalent,
              "the program gives " + answer + " under " + name_of(other) + ", and " + expected +
                  " under " + name_of(first),
              "look for a sum where a mean is meant; or give assert_equivalent() a comparison of "
              "your own");
}

void throw_nothing_to_compare() {
  throw error(errc::not_equivalent, "there is no strategy to compare",
              "give assert_equivalent() two strategies or more");
}

}  // namespace troupe::detail
