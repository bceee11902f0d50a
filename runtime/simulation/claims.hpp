// claims.hpp - what a program says about its world while it runs.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "troupe/core/place.hpp"

namespace troupe::detail {

class claims {
 public:
  void always(std::string claim, std::function<bool()> holds, place at);
  void eventually(std::string claim, std::function<bool()> holds, place at);
  void sometimes(std::string claim, bool happened);

  /// Whether there is anything to look at.
  bool any() const noexcept { return !watched_.empty(); }

  /// Between two steps of a program that has not ended: its variables are alive.
  /// \throws check_failed
  void look() {
    if (!watched_.empty()) look_at_all();
  }
  /// The program has ended. \throws check_failed when something was to happen and has not.
  void require_what_was_to_happen() const;

  /// All claims of sometimes(), and those that were met.
  void take_sometimes(std::vector<std::string>& made, std::vector<std::string>& met);

 private:
  struct watched {
    std::string claim;
    std::function<bool()> holds;
    place at;
    bool always;
    bool seen;
  };
  void look_at_all();

  std::vector<watched> watched_;
  std::vector<std::string> made_;
  std::vector<std::string> met_;
};

}  // namespace troupe::detail
