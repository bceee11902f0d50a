// device.hpp - the names of the places that replicas have for themselves.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// "/job:localhost/replica:0/task:0/device:CPU:0" for "cpu:0", "/cpu:0", "/device:CPU:0".
/// \throws errc::invalid_device
std::string canonical_device(std::string_view name);

namespace detail {

/// Canonical names, one for each replica; strategies may share them.
using device_names = std::shared_ptr<const std::vector<std::string>>;

/// \throws errc::invalid_device, also for a duplicate or an empty list.
device_names canonical_devices(const std::vector<std::string>& names);

/// cpu:0 and following. \throws errc::invalid_device for none.
device_names first_devices(int replicas);

[[noreturn]] void refuse_device(const std::string& what);

}  // namespace detail

}  // namespace troupe
