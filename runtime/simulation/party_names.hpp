// party_names.hpp - what schedules call the parties of a run.
//
// A runtime gives the id of somebody who has ended to somebody else; a name is given once.
// Who came as number `birth` is noted at once, names are made when somebody asks: most runs
// do not fail.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "troupe/core/recycling.hpp"
#include "troupe/runtime/schedule.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

class party_names {
 public:
  party_names() {
    births_.reserve(usual_size);
    all_.reserve(usual_size);
  }

  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  void enroll(const party& who);

  /// Of the party that has the id now; `nobody` if there is none.
  std::uint32_t birth_of(std::uint32_t id) const noexcept {
    return id < births_.size() ? births_[id] : nobody;
  }
  schedule::party_name name_of(std::uint32_t birth) const;

 private:
  static constexpr std::size_t usual_size = 16;
  template <class T>
  using row = std::vector<T, recycling_allocator<T>>;

  void count_lives() const;

  row<std::uint32_t> births_;              // Index = party::id.
  mutable row<schedule::party_name> all_;  // Index = birth; …
  mutable std::uint32_t counted_ = 0;      // … so many have got their lives.
  mutable row<std::uint32_t> latest_;      // Births by kind and index: a hash table.
};

}  // namespace troupe::detail
