// device.hpp - the names of the places that replicas have for themselves.

#pragma once

#include <string>
#include <string_view>

namespace troupe {

/// "/job:localhost/replica:0/task:0/device:CPU:0" for "cpu:0", "/cpu:0", "/device:CPU:0".
/// \throws errc::invalid_device
std::string canonical_device(std::string_view name);

namespace detail {

[[noreturn]] void refuse_device(const std::string& what);

}  // namespace detail

}  // namespace troupe
