// footprint.hpp - what a step touches that a step of somebody else may touch, too.
//
// Simulation takes two steps in both orders only where that can make a difference. A step
// touches its own party, always; whatever else it touches, the code says that touches it. Two
// steps that have nothing in common, or only touches that commute, are taken in one order.
//
// Nothing is recorded, and next to nothing done, outside of a simulation that asks for it.
//
// Guarantees
//   named    a thing that its maker reported is the same thing in every run that made it in the
//            same step; all things that nobody reported are one.

#pragma once

#include <cstdint>

namespace troupe {

struct party;

/// How a step touches a thing. Two touches of one thing commute if both look, both arrive, or
/// both finish.
enum class touch : std::uint8_t {
  change,
  look,
  arrive,    ///< Adds one to what is counted …
  finish,    ///< … or to another count.
  conclude,  ///< Comes of all touches before it, and could not have come without them.
};

class footprint {
 public:
  footprint(const footprint&) = delete;
  footprint& operator=(const footprint&) = delete;

  /// Whether anybody wants to know.
  static bool wanted() noexcept { return recorder_ != nullptr; }

  /// The step under way has made `thing`, in memory that may have been another's.
  static void made(const void* thing) noexcept {
    if (recorder_) [[unlikely]]
      recorder_->note_made(thing);
  }

  /// The step under way touches `thing`.
  static void touches(const void* thing, touch how) noexcept {
    if (recorder_) [[unlikely]]
      recorder_->note(thing, how);
  }

  /// It touches what belongs to another party.
  static void touches(const party& other, touch how) noexcept {
    if (recorder_) [[unlikely]]
      recorder_->note(other, how);
  }
  /// The step under way is one of its party's that may be swapped with each other. To be said
  /// first of all.
  static void commutes() noexcept {
    if (recorder_) [[unlikely]]
      recorder_->note_commuting();
  }
  /// What the latest of them have left of the party, as a number: the same in whatever order they
  /// came, or else they do not commute.
  static void shows(const party& who, std::uint64_t state) noexcept {
    if (recorder_) [[unlikely]]
      recorder_->note_state(who, state);
  }

  /// It touches what belongs to any party that lives on its own line.
  static void changes_line() noexcept {
    if (recorder_) [[unlikely]]
      recorder_->note_line();
  }

 protected:
  footprint() = default;
  ~footprint() = default;

  virtual void note_made(const void* thing) noexcept = 0;
  virtual void note(const void* thing, touch how) noexcept = 0;
  virtual void note(const party& other, touch how) noexcept = 0;
  virtual void note_line() noexcept = 0;
  virtual void note_commuting() noexcept = 0;
  virtual void note_state(const party& who, std::uint64_t state) noexcept = 0;

  /// Who listens on this thread.
  static inline constinit thread_local footprint* recorder_ = nullptr;
};

}  // namespace troupe
