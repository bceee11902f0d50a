// map.hpp - std::map and std::unordered_map are structure: shared keys, regrouped values.
//
// The keys belong to the structure, so that all replicas have the same ones; the regrouped map
// has those of replica 0.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "troupe/strategy/structure/parts.hpp"
#include "troupe/strategy/structure/sequence.hpp"
#include "troupe/strategy/values/per_replica.hpp"

namespace troupe::detail {

std::string text_of_key(std::string_view key);

/// A key as an error shows it; empty where it cannot be shown.
template <class K>
std::string text_of_key(const K& key) {
  if constexpr (std::is_convertible_v<const K&, std::string_view>) {
    return text_of_key(static_cast<std::string_view>(key));
  } else if constexpr (std::is_arithmetic_v<K>) {
    return std::to_string(key);
  } else {
    return {};
  }
}

/// \throws errc::structure_mismatch: `replica` is the first whose keys are not replica 0's.
[[noreturn]] void throw_key_is_missing(std::size_t replica, const std::string& key);
[[noreturn]] void throw_key_is_extra(std::size_t replica, const std::string& key);

template <class Map>
void require_same_keys(const per_replica<Map>& all) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (const auto& [key, value] : all[0]) {
      if (!all[i].contains(key)) throw_key_is_missing(i, text_of_key(key));
    }
    if (all[i].size() == all[0].size()) continue;
    for (const auto& [key, value] : all[i]) {
      if (!all[0].contains(key)) throw_key_is_extra(i, text_of_key(key));
    }
  }
}

/// An empty map that finds its keys as another one does.
template <class To, class From>
To empty_like(const From& other) {
  if constexpr (requires { other.key_comp(); }) {
    return To(other.key_comp());
  } else {
    return To(0, other.hash_function(), other.key_eq());
  }
}

template <class Map, template <class> class Of>
struct map_parts {
  using mapped = typename Map::mapped_type;
  using types = std::tuple<mapped>;
  using regrouped = Of<regrouped_t<mapped>>;

  template <class Whole, class Make>
  static auto rebuild(Whole& value, const Make& make) -> Of<made_of<Make, Whole, mapped>> {
    auto made = empty_like<Of<made_of<Make, Whole, mapped>>>(value);
    for (auto& [key, part] : value) made.emplace_hint(made.end(), key, make(part));
    return made;
  }

  static regrouped regroup(per_replica<Map>&& all) {
    if (all.empty()) return regrouped();
    require_same_keys(all);
    auto whole = empty_like<regrouped>(all[0]);
    for (auto& [key, first] : all[0]) {
      per_replica<mapped> column;
      column.reserve(all.size());
      column.append(std::move(first));
      for (std::size_t i = 1; i < all.size(); ++i) {
        column.append(std::move(all[i].find(key)->second));
      }
      whole.emplace_hint(whole.end(), key, structure<mapped>::regroup(std::move(column)));
    }
    return whole;
  }
};

template <class K, class Compare, class A>
struct ordered_by {
  template <class T>
  using map = std::map<K, T, Compare, allocator_for<A, std::pair<const K, T>>>;
};
template <class K, class T, class Compare, class A>
struct parts<std::map<K, T, Compare, A>>
    : map_parts<std::map<K, T, Compare, A>, ordered_by<K, Compare, A>::template map> {};

template <class K, class Hash, class Equal, class A>
struct hashed_by {
  template <class T>
  using map = std::unordered_map<K, T, Hash, Equal, allocator_for<A, std::pair<const K, T>>>;
};
template <class K, class T, class Hash, class Equal, class A>
struct parts<std::unordered_map<K, T, Hash, Equal, A>>
    : map_parts<std::unordered_map<K, T, Hash, Equal, A>,
                hashed_by<K, Hash, Equal, A>::template map> {};

}  // namespace troupe::detail
