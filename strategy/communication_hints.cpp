// communication_hints.cpp - what no hint can be.

#include "troupe/strategy/reductions/communication_hints.hpp"

#include <string>

#include "troupe/core/error.hpp"

namespace troupe {

communication_hints::communication_hints(all_reduce_kind kind, std::int64_t bytes_per_pack,
                                         std::int64_t packs)
    : kind_(kind), bytes_per_pack_(bytes_per_pack), packs_(packs) {
  if (bytes_per_pack < 0) {
    throw error(errc::invalid_hint, "bytes_per_pack is " + std::to_string(bytes_per_pack),
                "give a number of bytes, or 0 for one pack of everything");
  }
  if (packs < 0) {
    throw error(errc::invalid_hint, "the number of packs is " + std::to_string(packs),
                "give a number of packs, or 0 for none");
  }
}

}  // namespace troupe
