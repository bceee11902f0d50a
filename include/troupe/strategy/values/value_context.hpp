// value_context.hpp - for which replica a function makes a value.

#pragma once

namespace troupe {

struct value_context {
  int replica_id;
  int num_replicas_in_sync;
};

}  // namespace troupe
