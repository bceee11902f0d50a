// Where the library is as it is.

#include "tests/planted/planted.hpp"

namespace troupe::planted {

bugs of_mutants() { return {}; }

}  // namespace troupe::planted
