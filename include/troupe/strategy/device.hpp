// device.hpp - the names of the places that replicas have for themselves.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// "/job:localhost/replica:0/task:0/device:CPU:0" for "cpu:0", "/cpu:0", "/device:CPU:0".
/// \throws errc::invalid_device
std::string canonical_device(std::string_view name);

/// The same of a whole list. \throws errc::invalid_device also for a duplicate or an empty list.
std::vector<std::string> canonical_devices(const std::vector<std::string>& names);

/// cpu:0 and following, canonical. \throws errc::invalid_device for none.
std::vector<std::string> first_devices(int replicas);

namespace detail {

[[noreturn]] void refuse_device(const std::string& what);

}  // namespace detail

}  // namespace troupe
