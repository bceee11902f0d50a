// contract.cpp - the end of the road for a defect of the library.

#include "troupe/core/contract.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::detail {

void broken_contract(const char* promise, std::source_location at) noexcept {
  std::fprintf(stderr,
               "troupe: a promise of the library is broken, which is a defect of troupe:\n"
               "  %s\n  at %s:%u in %s\n",
               promise, at.file_name(), static_cast<unsigned>(at.line()), at.function_name());
  std::abort();
}

}  // namespace troupe::detail
