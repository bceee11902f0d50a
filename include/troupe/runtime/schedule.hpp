// schedule.hpp - one interleaving of a program, as a string that replays it.
//
//     tr1:k3Qz:d550-7f
//     |   |    |    +-- checksum of the body
//     |   |    +------- deviations from the default order
//     |   +------------ fingerprint of the program's participants
//     +---------------- format
//
// The default order lets the party that stepped last go on, or else the one with the
// lowest id. A schedule lists only where a run left that order: "after step `own_step`
// of party `after`, party `then` came next". Steps are counted per party, so that a
// string survives edits to other parties, and hops inside Asio are not counted at all.
//
// Guarantees
//   shell safe   letters, digits and "_.:-" only;
//   exact        parse(to_string(s)) == s; a damaged string is refused, never guessed.

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct schedule {
  /// "After that step of that party, this one came next."
  struct deviation {
    std::uint32_t after = 0;     ///< party::id + 1; 0 before the first step.
    std::uint32_t own_step = 0;  ///< How many steps `after` had taken.
    std::uint32_t then = 0;      ///< party::id; or, of a choose(), the value.
    std::uint32_t link = 0;      ///< Which of its senders' messages, oldest sender first.

    auto operator<=>(const deviation&) const = default;
  };

  /// Fingerprint, 24 bits: a replay tells when it differs. 0: not known, as in
  /// the text of an error that was made before the run's end.
  std::uint32_t program = 0;
  std::vector<deviation> deviations;

  friend bool operator==(const schedule&, const schedule&) = default;
};

std::string to_string(const schedule&);

/// \throws errc::invalid_schedule, saying what is wrong where.
schedule parse_schedule(std::string_view text);

}  // namespace troupe
