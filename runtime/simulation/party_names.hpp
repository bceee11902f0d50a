// party_names.hpp - what schedules call the parties of a run.
//
// A runtime gives the id of somebody who has ended to somebody else; a name is given once.
// Who came as number `birth` is noted at once, and its steps are counted; names are made when
// somebody asks: most runs do not fail.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "troupe/core/recycling.hpp"
#include "troupe/core/small_vector.hpp"
#include "troupe/runtime/schedule.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

class party_names {
 public:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  void enroll(const party& who) {
    while (by_id_.size() <= who.id) by_id_.push_back(nobody);
    by_id_[who.id] = static_cast<std::uint32_t>(births_.size());
    births_.push_back({who.kind, who.index, 0});
  }

  /// Of the party that has the id now; `nobody` if there is none.
  std::uint32_t birth_of(std::uint32_t id) const noexcept {
    return id < by_id_.size() ? by_id_[id] : nobody;
  }
  schedule::party_name name_of(std::uint32_t birth) const;

  /// The party that has the id now takes a step.
  void note_step(std::uint32_t id) noexcept {
    if (const std::uint32_t birth = birth_of(id); birth != nobody) ++births_[birth].steps;
  }
  /// How many it has taken so far. \pre `birth` is not nobody.
  std::uint32_t steps_of(std::uint32_t birth) const noexcept { return births_[birth].steps; }

 private:
  static constexpr std::size_t usual_size = 16;
  struct origin {
    std::string_view kind;
    std::uint32_t index;
    std::uint32_t steps;
  };

  void give_names() const;

  small_vector<std::uint32_t, usual_size> by_id_;  // Births.
  small_vector<origin, usual_size> births_;
  mutable recycled_vector<schedule::party_name> names_;  // Of the first births.
  mutable recycled_vector<std::uint32_t> latest_;        // Births by kind and index: a hash table.
};

}  // namespace troupe::detail
