// device.cpp - the names of devices.

#include "troupe/strategy/device.hpp"

#include <algorithm>
#include <cctype>

#include "troupe/core/error.hpp"

namespace troupe {

void detail::refuse_device(const std::string& what) {
  throw error(errc::invalid_device, what,
              "name devices \"cpu:0\", \"cpu:1\", ..., each once, or give a number of replicas");
}

std::string canonical_device(std::string_view name) {
  std::string_view rest = name;
  const auto drop = [&](std::string_view prefix) {
    if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  };
  drop("/job:localhost");
  drop("/replica:0");
  drop("/task:0");
  drop("/");
  drop("device:");
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

}  // namespace troupe
