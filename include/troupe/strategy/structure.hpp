// structure.hpp - how values are split between replicas and put together again.
//
//     regroup    one T from each replica -> one value    per_replica<T>, leaf by leaf
//     select     one value -> what replica i gets        the inverse
//
// Structure is std::tuple and std::pair, std::array and std::vector of anything but numbers,
// std::map and std::unordered_map (structure/map.hpp), and a struct that says what its members
// are (structure/described.hpp), nested at will. A function that returns tuple<A, B> on every
// replica yields tuple<per_replica<A>, per_replica<B>>.
//
// Everything else is a leaf, one whole value: a number, a string, a tensor and with it every
// range of numbers, a struct. A std::optional is one, too, so that a value only some replicas
// have is kept: per_replica<std::optional<T>>.
//
// Guarantees
//   inverse    select(i, regroup(values)) is values[i];
//   typed      the structure follows from types alone; nothing collapses at run time:
//              one replica gives a per_replica of one;
//   checked    vectors of different length or maps of different keys are an error that names
//              the first replica that differs. Nothing is padded or dropped.

#pragma once

#include <cstddef>
#include <utility>

#include "troupe/strategy/structure/described.hpp"
#include "troupe/strategy/structure/map.hpp"
#include "troupe/strategy/structure/parts.hpp"
#include "troupe/strategy/structure/product.hpp"
#include "troupe/strategy/structure/sequence.hpp"
#include "troupe/strategy/values/per_replica.hpp"

namespace troupe {

/// What replica `i` gets of `value`.
template <class T>
decltype(auto) select_replica(std::size_t i, const T& value) {
  return structure<T>::select(i, value);
}

/// One value from each replica, put together.
/// \throws errc::structure_mismatch when they differ in the length of a vector or in the keys
///         of a map.
template <class T>
regrouped_t<T> regroup(per_replica<T> all) {
  return structure<T>::regroup(std::move(all));
}

}  // namespace troupe
