// mirrored_strategy.cpp - a device for each replica.

#include "troupe/strategy/mirrored_strategy.hpp"

namespace troupe {

namespace {

run_rules rules_of(const mirrored_options& options) {
  return {.check = options.check, .order = options.order};
}

}  // namespace

mirrored_strategy::mirrored_strategy(troupe::runtime& on, const std::vector<std::string>& devices,
                                     mirrored_options options)
    : strategy(on.state(),
               {.devices = detail::canonical_devices(devices), .rules = rules_of(options)}) {}

mirrored_strategy::mirrored_strategy(troupe::runtime& on, int replicas, mirrored_options options)
    : strategy(on.state(),
               {.devices = detail::first_devices(replicas), .rules = rules_of(options)}) {}

}  // namespace troupe
