// place.hpp - a line of the user's source, as errors, traces and merges name it.
//
// Guarantees
//   identity   two places are the same when they name the same file, line and column,
//              whatever translation unit or template instantiation they come from;
//   cheap      comparing a place with itself compares two pointers.

#pragma once

#if defined(__clang__) ? __clang_major__ < 17 : defined(__GNUC__) && __GNUC__ < 12
#error "troupe needs g++ 12 or later, or clang 17 or later, with libstdc++"
#endif

#include <bit>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

namespace troupe {

using place = std::source_location;

/// A place as the one pointer that both standard libraries keep of it. As the default argument
/// `place_pointer here = __builtin_source_location()` it is the caller's place without an object:
/// GCC keeps those in the frame of a coroutine that awaits the call.
using place_pointer = const void*;

inline place place_of(place_pointer here) noexcept {
  static_assert(sizeof(place) == sizeof here && std::is_trivially_copyable_v<place>);
  return std::bit_cast<place>(here);
}

/// Whether their pointers are equal. Those are to static data: then they are the same place.
inline bool identical(const place& a, const place& b) noexcept {
  return std::bit_cast<place_pointer>(a) == std::bit_cast<place_pointer>(b);
}

/// True when `a` and `b` are the same spot of the source.
inline bool same_place(const place& a, const place& b) noexcept {
  if (identical(a, b)) return true;
  return a.line() == b.line() && a.column() == b.column() &&
         std::string_view(a.file_name()) == b.file_name();
}

/// "train.cpp:88", without the folders; "?" for a place nobody recorded.
inline std::string to_string(const place& at) {
  if (at.line() == 0) return "?";
  std::string_view file = at.file_name();
  if (auto slash = file.find_last_of('/'); slash != file.npos) file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(at.line());
}

}  // namespace troupe
