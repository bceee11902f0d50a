// device.cpp - the names of devices.

#include "troupe/strategy/device.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "troupe/core/error.hpp"

namespace troupe {

void detail::refuse_device(const std::string& what) {
  throw error(errc::invalid_device, what,
              "name devices \"cpu:0\", \"cpu:1\", ..., each once, or give a number of replicas");
}

std::string canonical_device(std::string_view name) {
  std::string_view rest = name;
  // A part of a name ends where the next one begins.
  const auto drop = [&](std::string_view part) {
    if (!rest.starts_with(part)) return;
    const std::string_view after = rest.substr(part.size());
    if (after.empty() || after.starts_with('/')) rest = after;
  };
  drop("/job:localhost");
  drop("/replica:0");
  drop("/task:0");
  if (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.starts_with("device:")) rest.remove_prefix(7);
  const auto colon = rest.find(':');
  const auto number = colon == rest.npos ? std::string_view() : rest.substr(colon + 1);
  std::string type(rest.substr(0, colon));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const bool digits = !number.empty() && std::all_of(number.begin(), number.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
  if (type != "CPU" || !digits || number.size() > 9) {
    detail::refuse_device("\"" + std::string(name) + "\" is not a device of this machine");
  }
  return "/job:localhost/replica:0/task:0/device:CPU:" +
         std::to_string(std::stoul(std::string(number)));
}

detail::device_names detail::canonical_devices(const std::vector<std::string>& names) {
  std::vector<std::string> devices;
  for (const auto& name : names) {
    auto device = canonical_device(name);
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      refuse_device("device \"" + name + "\" is in the list twice");
    }
    devices.push_back(std::move(device));
  }
  if (devices.empty()) refuse_device("a strategy needs at least one device");
  return std::make_shared<const std::vector<std::string>>(std::move(devices));
}

detail::device_names detail::first_devices(int replicas) {
  // A simulation makes its strategies anew in each of its runs, mostly alike.
  thread_local device_names latest;
  if (replicas < 1) {
    refuse_device("a strategy needs at least one replica, not " + std::to_string(replicas));
  }
  if (latest && latest->size() == static_cast<std::size_t>(replicas)) return latest;
  std::vector<std::string> devices;
  devices.reserve(static_cast<std::size_t>(replicas));
  for (int i = 0; i < replicas; ++i) {
    devices.push_back("/job:localhost/replica:0/task:0/device:CPU:" + std::to_string(i));
  }
  latest = std::make_shared<const std::vector<std::string>>(std::move(devices));
  return latest;
}

}  // namespace troupe
