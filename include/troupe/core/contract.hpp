// contract.hpp - promises the library makes to itself, checked in every build.
//
// A broken contract is a defect of troupe, never a mistake of its user: user
// mistakes are exceptions (error.hpp). The process prints the broken promise and
// its place, and aborts, because going on would compute with a broken invariant.

#pragma once

#include <source_location>

namespace troupe::detail {

[[noreturn]] void broken_contract(const char* promise, std::source_location at) noexcept;

}  // namespace troupe::detail

/// Holds at this line, whatever the user did.
#define TROUPE_ASSERT(promise) \
  (static_cast<bool>(promise)  \
       ? static_cast<void>(0)  \
       : ::troupe::detail::broken_contract(#promise, std::source_location::current()))
