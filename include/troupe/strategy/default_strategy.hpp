// default_strategy.hpp - the strategy of code that has none.

#pragma once

#include <string_view>

#include "troupe/strategy/strategy.hpp"

namespace troupe {

/// The strategy in force where there is no other: one replica, on the caller's runtime.
/// get_strategy() returns it; it is never made by hand.
class default_strategy final : public strategy {
 public:
  std::string_view kind() const noexcept override { return "default_strategy"; }

 private:
  friend const strategy& get_default_strategy() noexcept;
  default_strategy();
};

const strategy& get_default_strategy() noexcept;

}  // namespace troupe
