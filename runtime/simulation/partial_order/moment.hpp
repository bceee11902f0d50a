// moment.hpp - a moment of a program's runs: a step is taken, or a value chosen, in one way after
// another.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "runtime/simulation/partial_order/step_log.hpp"

namespace troupe::detail {

/// A step as far as others depend on it: all that it was seen to touch there.
struct candidate {
  /// The step, if this is the value that it chooses first.
  struct variant {
    std::uint32_t value;
    std::vector<logged_touch> touches;
  };

  step_key link = 0;
  step_key owner = 0;
  step_key line = 0;
  bool whole = false;        ///< It touches nothing else, whatever is chosen in it.
  bool in_part = false;      ///< It is this one only with the values of its variants.
  std::uint32_t values = 0;  ///< So many there are to choose from first; none: nothing is chosen.
  bool of_fault = false;     ///< What is chosen first is which fault it suffers.
  std::vector<logged_touch> touches;
  std::vector<variant> variants;

  bool depends_on(const candidate& other) const noexcept;
  void add(const step_log& log, std::size_t step);
  /// The same of a step that chose this value first.
  void add_variant(std::uint32_t of_values, std::uint32_t value, const step_log& log,
                   std::size_t step);
  /// Behind a step, what does not depend on it is still asleep. \return false if nothing is.
  bool sleeps_on_behind(const candidate& taken);
  void save(std::ostream& out) const;
  bool load(std::istream& in);
};

struct moment {
  moment* before = nullptr;       ///< Null: it is the first of all.
  std::uint32_t way = 0;          ///< Of those that `before` was left by: the one that leads here.
  std::uint32_t depth = 0;        ///< How many moments are before it.
  std::uint32_t users = 0;        ///< Moments right behind it, and searchers that are at it.
  std::uint32_t step = 0;         ///< Which one, or in which one.
  std::uint32_t values = 0;       ///< How many there are to choose from; none: it is a step.
  bool of_fault = false;          ///< They are faults.
  std::uint32_t begun = 0;        ///< So many of the values were, …
  std::uint32_t known = 0;        ///< … and of so many it is known what their step touches.
  std::vector<candidate> tried;   ///< Steps that were begun here, one after the other.
  std::vector<candidate> asleep;  ///< Leads to what is seen elsewhere.
  std::vector<std::uint32_t> spared;  ///< Values that do, of a step that is asleep in part.
  std::vector<step_key> wanted;       ///< To be begun here, or begun already.

  bool is_value() const noexcept { return values > 0; }
  bool has_left() const noexcept;
  /// Whether it is known what all steps touch that were begun here: the next one is spared them.
  bool is_ready() const noexcept;
  /// Begins what is next. \return which way that is. \pre has_left()
  std::uint32_t begin();
  /// Whether a step was begun here, or need not or is going to be.
  bool leads_to(step_key link) const noexcept;
  /// A run that left this moment by `by` has shown all that its step touches: no other value was
  /// asked for behind it in that step.
  void learn_whole(std::uint32_t by) noexcept;
  /// Whether a step is asleep whatever it chooses.
  bool is_asleep(step_key link) const noexcept;
  /// One of another run, of which nothing is known; keeps its memory.
  void become_new(std::uint32_t of_values, std::uint32_t in_step);
  /// Not all of the values are to be tried. \pre None was.
  void spare(const candidate& asleep_in_part);

  void save(std::ostream& out) const;
  bool load(std::istream& in);

 private:
  std::uint32_t next_value() const noexcept;
};

/// Whether a step is among these.
template <class List>
bool has_link(const List& list, step_key link) noexcept {
  for (const auto& each : list) {
    if (each.link == link) return true;
  }
  return false;
}

}  // namespace troupe::detail
