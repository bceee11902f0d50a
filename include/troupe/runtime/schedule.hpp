// schedule.hpp - one interleaving of a program, as a string that replays it.
//
//     tr1:9Kgq:9Ai2-k8
//     |   |    |    +-- checksum of the body
//     |   |    +------- deviations from the default order
//     |   +------------ fingerprint of the program's participants
//     +---------------- format
//
// The default order lets the party that stepped last go on, or else the one that was made
// first. A schedule lists only where a run left that order: "after step `own_step` of party
// `after`, party `then` came next". Parties are named by what they are and steps are counted
// for each of them, so that a string survives edits to other parties; hops inside Asio are not
// counted at all.
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
  /// A party, by what stays when others come or go. All zero: nobody.
  struct party_name {
    std::uint32_t kind = 0;   ///< kind_of(party::kind).
    std::uint32_t index = 0;  ///< party::index; or, of a choose(), the value.
    std::uint32_t life = 0;   ///< How many of that kind and index were made before it.

    auto operator<=>(const party_name&) const = default;
  };

  /// "After that step of that party, this one came next."
  struct deviation {
    party_name after;            ///< Nobody: before the first step, or at a choose().
    std::uint32_t own_step = 0;  ///< How many steps `after` had taken; or number of the choose().
    party_name then;
    std::uint32_t link = 0;  ///< Which of its senders' messages, oldest sender first.

    auto operator<=>(const deviation&) const = default;
  };

  /// 1 to 31. Kinds that share a number are told apart by their lives.
  static std::uint32_t kind_of(std::string_view kind) noexcept;

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
