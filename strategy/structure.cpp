// structure.cpp - how a replica's value differs from replica 0's.

#include "troupe/strategy/structure.hpp"

#include <string>

#include "troupe/core/error.hpp"

namespace troupe::detail {

namespace {

[[noreturn]] void throw_structures_differ(std::size_t replica, const std::string& how) {
  throw error(errc::structure_mismatch,
              "the replicas' values differ in structure: replica " + std::to_string(replica) + how,
              "bring as many elements and the same keys from every replica; what should stay whole "
              "belongs in a struct without a description");
}

std::string elements(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " element" : " elements");
}

}  // namespace

std::string text_of_key(std::string_view key) { return "\"" + std::string(key) + "\""; }

void throw_lengths_differ(std::size_t replica, std::size_t has, std::size_t first_has) {
  throw_structures_differ(replica,
                          " has " + elements(has) + ", replica 0 has " + std::to_string(first_has));
}

void throw_key_is_missing(std::size_t replica, const std::string& key) {
  throw_structures_differ(
      replica, key.empty() ? " has not all keys that replica 0 has" : " has no key " + key);
}

void throw_key_is_extra(std::size_t replica, const std::string& key) {
  throw_structures_differ(replica, key.empty() ? " has a key that replica 0 has not"
                                               : " has the key " + key + ", replica 0 has not");
}

void throw_wrong_number(std::size_t values, std::size_t replicas) {
  throw error(errc::structure_mismatch,
              "a per_replica of " + std::to_string(values) + " values for " +
                  std::to_string(replicas) + " replicas",
              "give one value for each replica, or a plain one that goes to all");
}

}  // namespace troupe::detail
