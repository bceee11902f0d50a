// saved_search.hpp - the file from which an interrupted search for orders goes on.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/simulation/partial_order/frontier.hpp"
#include "troupe/runtime/simulation.hpp"

namespace troupe::detail {

/// How often an order was drawn that the search has met: it is none that was drawn once only.
constexpr std::uint32_t met_by_search = 2;

using order_counts = std::unordered_map<std::uint64_t, std::uint32_t>;

/// What a search that is not over knows.
struct search_state {
  frontier& left;
  exploration& result;
  order_counts& orders;
  bool& sequences_known;
  std::vector<std::string>& made;  ///< Claims of world::sometimes(): all …
  std::vector<std::string>& met;   ///< … and those that were met.
  std::uint64_t of_world;  ///< What the options make of it: in another one it tells nothing.
};

/// \return whether the file is written; it is as it was before, or whole.
bool save_search(const std::string& file, const search_state& state);

/// Goes on with what is in the file. \return false if there is none, or another program's.
/// \throws errc::invalid_schedule if it is no such file.
bool load_search(const std::string& file, const search_state& state);

void forget_search(const std::string& file);

}  // namespace troupe::detail
