// wording.hpp - numbers and replicas as texts for people name them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "troupe/core/place.hpp"

namespace troupe::detail {

/// 1234567 as "1,234,567".
std::string with_commas(std::uint64_t number);

/// "1 merge", "2 merges".
std::string count_of(std::uint64_t n, std::string_view noun);

/// As many are told one by one, always; of more, those that follow each other as "2-9999".
inline constexpr std::size_t handful = 8;

/// "replica 2", "replicas 0, 1 and 2", "replicas 0 and 2-9999". \pre They are in order.
std::string list_of(const std::vector<std::uint32_t>& replicas);

/// "train.cpp:88" for each; "train.cpp:88:7", with the column, where there are several on a line.
std::vector<std::string> told_apart(const std::vector<place>& places);

}  // namespace troupe::detail
