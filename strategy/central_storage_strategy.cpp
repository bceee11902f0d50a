// central_storage_strategy.cpp - the devices of the replicas, and the one of the variables.

#include "troupe/strategy/central_storage_strategy.hpp"

#include "troupe/strategy/device.hpp"

namespace troupe {

central_storage_strategy::central_storage_strategy(runtime& on,
                                                   const std::vector<std::string>& compute_devices,
                                                   std::string_view parameter_device,
                                                   run_rules rules)
    : strategy(on.state(), {.devices = detail::canonical_devices(compute_devices),
                            .rules = rules,
                            .parameter_device = canonical_device(parameter_device)}) {}

central_storage_strategy::central_storage_strategy(runtime& on, int replicas, run_rules rules)
    : strategy(on.state(), {.devices = detail::first_devices(replicas),
                            .rules = rules,
                            .parameter_device = canonical_device("cpu:0")}) {}

}  // namespace troupe
