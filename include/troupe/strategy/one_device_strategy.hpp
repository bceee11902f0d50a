// one_device_strategy.hpp - one replica, with all the contexts of many.
//
//     one_device_strategy strategy{rt, "cpu:0"};
//
// For trying a program before it is distributed: the same code, and every value a
// per_replica of one.

#pragma once

#include <string_view>

#include "troupe/strategy/strategy.hpp"

namespace troupe {

class one_device_strategy final : public strategy {
 public:
  /// \throws errc::invalid_device for a name that is none.
  explicit one_device_strategy(runtime& on, std::string_view device = "cpu:0");

  std::string_view kind() const noexcept override { return "one_device_strategy"; }
};

}  // namespace troupe
