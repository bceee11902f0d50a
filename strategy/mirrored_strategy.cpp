// mirrored_strategy.cpp - a device for each replica.

#include "troupe/strategy/mirrored_strategy.hpp"

#include <algorithm>

namespace troupe {

namespace {

std::vector<std::string> canonical_devices(const std::vector<std::string>& names) {
  std::vector<std::string> devices;
  for (const auto& name : names) {
    auto device = canonical_device(name);
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      detail::refuse_device("device \"" + name + "\" is in the list twice");
    }
    devices.push_back(std::move(device));
  }
  if (devices.empty()) detail::refuse_device("a mirrored_strategy needs at least one device");
  return devices;
}

std::vector<std::string> first_devices(int replicas) {
  if (replicas < 1) {
    detail::refuse_device("a mirrored_strategy needs at least one replica, not " +
                          std::to_string(replicas));
  }
  std::vector<std::string> devices;
  for (int i = 0; i < replicas; ++i) {
    devices.push_back("/job:localhost/replica:0/task:0/device:CPU:" + std::to_string(i));
  }
  return devices;
}

run_rules rules_of(const mirrored_options& options) {
  return {.check = options.check, .order = options.order};
}

}  // namespace

mirrored_strategy::mirrored_strategy(troupe::runtime& on, const std::vector<std::string>& devices,
                                     mirrored_options options)
    : strategy(on.state(), canonical_devices(devices), rules_of(options)) {}

mirrored_strategy::mirrored_strategy(troupe::runtime& on, int replicas, mirrored_options options)
    : strategy(on.state(), first_devices(replicas), rules_of(options)) {}

}  // namespace troupe
