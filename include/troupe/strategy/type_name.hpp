// type_name.hpp - types as the compiler writes them, for errors and pictures.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace troupe::detail {

/// "int", "std::vector<float>".
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("T = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}

/// For what is written as another type.
template <class T>
struct written_as {
  using type = T;
};

/// "int, float".
template <class... Ts>
std::string type_names() {
  std::string text;
  ((text += (text.empty() ? "" : ", "), text += type_name<typename written_as<Ts>::type>()), ...);
  return text;
}

}  // namespace troupe::detail
