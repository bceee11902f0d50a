// one_device_strategy.cpp - a list of one.

#include "troupe/strategy/one_device_strategy.hpp"

#include "troupe/strategy/device.hpp"

namespace troupe {

one_device_strategy::one_device_strategy(troupe::runtime& on, std::string_view device)
    : strategy(on.state(), {.devices = detail::canonical_devices({std::string(device)})}) {}

}  // namespace troupe
