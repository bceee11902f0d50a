// step_log.hpp - the steps of one run: whose they were, what made them possible, what they touched.
//
// Parties and things have keys by which two runs that differ in the order of their steps can
// be compared: a key says in which step of whom the party or thing was made, not when.
//
// Letters of one actor that commute, from different senders, are steps of different parties here:
// each sender has a lane to the actor. They touch the actor in a way that commutes, so that
// everything else that the actor does comes before or after them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/scheduler.hpp"

namespace troupe::detail {

using step_key = std::uint64_t;

/// Every bit of the result depends on all of `z`: the last part of splitmix64.
constexpr std::uint64_t scrambled(std::uint64_t z) noexcept {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One number of two.
constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) noexcept {
  return scrambled(a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u);
}

struct chosen_value {
  static constexpr std::uint32_t untold = ~std::uint32_t{0};

  std::uint32_t value;
  std::uint32_t told;
};

struct logged_touch {
  enum class what : std::uint8_t { thing, party, line };

  step_key thing;  ///< Its key.
  touch how;
  what is;
  std::uint32_t number;  ///< Of the party, or of the line.
};

/// What letters that commute had left of an actor when something else came.
struct shown_state {
  step_key whose;
  std::uint64_t state;
  std::string name;
};

class step_log final : public footprint {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct step {
    step_key link;             ///< Of its owner and whoever posted it.
    std::uint32_t owner;       ///< Number of the party, in the order of enrollment.
    std::uint32_t line;        ///< Where the owner lives.
    std::uint32_t cause;       ///< The step that posted it, or none.
    std::uint32_t own_number;  ///< How many steps of its owner there are so far, with this one.
    std::uint32_t touches;     ///< Where its touches begin; they end where the next one's do.
    std::uint32_t values;      ///< The same for what it chose.
    bool after_idling;         ///< Before it, nothing could run and time moved.
    bool watched = false;      ///< A claim looks at the world after it.
  };

  step_log() = default;

  /// Forgets the run before.
  void clear() noexcept;
  /// Listens on this thread until told otherwise.
  void listen() noexcept { recorder_ = this; }
  void stop_listening() noexcept { recorder_ = nullptr; }

  // The engine's side.
  void enroll(std::uint32_t id, std::uint32_t line);
  /// Of this party are the steps in which time passes early.
  void note_clock(std::uint32_t id) noexcept { clock_link_ = link_of(id, 0); }
  step_key link_of(std::uint32_t owner_id, std::uint32_t sender_id_plus_1) const noexcept;
  step_key link_of_conclusion(std::uint32_t owner_id, const void* done) const noexcept;
  void begin(std::uint32_t owner_id, step_key link, std::uint32_t cause);
  void end() noexcept { acting_ = none; }
  /// What the step under way does to time, everybody may notice.
  void touch_all_lines(std::size_t lines);
  void chose(std::uint32_t value) { chose(value, value); }
  /// \param told Of what orders are known by, if others could have had another number for it; or
  /// untold, if it could have been nothing to choose as well.
  void chose(std::uint32_t value, std::uint32_t told) { values_.push_back({value, told}); }
  /// The step under way has posted something to somebody.
  void posted(std::uint32_t owner_id) {
    if (acting_ != none && is_lane(acting_)) touch_link_to(owner_id);
  }
  void time_moves() noexcept { idle_ = true; }
  void watched() noexcept { steps_.back().watched = true; }
  /// The step under way; none outside of all.
  std::uint32_t now() const noexcept {
    return acting_ == none ? none : static_cast<std::uint32_t>(steps_.size() - 1);
  }

  // The reader's side.
  const std::vector<step>& steps() const noexcept { return steps_; }
  std::size_t parties() const noexcept { return parties_.size(); }
  step_key key_of(std::uint32_t party) const noexcept { return parties_[party].key; }
  std::uint32_t line_of(std::uint32_t party) const noexcept { return parties_[party].line; }
  /// Whether this party is a lane, and to whom; to itself, if it is none.
  bool is_lane(std::uint32_t party) const noexcept { return parties_[party].actor != party; }
  std::uint32_t actor_of(std::uint32_t party) const noexcept { return parties_[party].actor; }
  /// The link of the clock's steps; none if it makes none.
  step_key clock_link() const noexcept { return clock_link_; }
  bool has_lanes() const noexcept { return !lanes_.empty(); }
  const std::vector<shown_state>& shown() const noexcept { return shown_; }
  std::span<const logged_touch> touches(std::size_t at) const noexcept;
  std::span<const chosen_value> values(std::size_t at) const noexcept;

  /// The key of a line, as a thing.
  static step_key line_key(std::uint32_t line) noexcept { return mixed(2, line); }

 private:
  struct enrolled {
    step_key key;
    std::uint32_t line;
    std::uint32_t steps;
    std::uint32_t actor;  // Itself, or whose lane it is.
  };
  static constexpr step_key unknown_thing = 1;

  void note_made(const void* thing) noexcept override;
  void note(const void* thing, touch how) noexcept override;
  void note(const party& other, touch how) noexcept override;
  void note_line() noexcept override;
  void note_commuting() noexcept override;
  void note_state(const party& who, std::uint64_t state) noexcept override;
  void touch_link_to(std::uint32_t owner_id);
  step_key key_of(const void* thing) const noexcept;
  void add(const logged_touch& touched);
  step_key fresh_key();

  std::vector<step> steps_;
  std::vector<logged_touch> touches_;
  std::vector<chosen_value> values_;
  std::vector<enrolled> parties_;
  std::vector<std::uint32_t> by_id_;  // Number of the party that has this id now.
  std::vector<std::pair<const void*, step_key>> things_;
  std::vector<std::pair<step_key, std::uint32_t>> lanes_;  // By link.
  std::vector<shown_state> shown_;
  std::uint32_t acting_ = none;  // The party whose step is under way.
  std::uint32_t made_ = 0;       // In this step, or outside of all.
  std::uint32_t made_outside_ = 0;
  step_key clock_link_ = 0;
  bool idle_ = false;
};

}  // namespace troupe::detail
