// variables.hpp - what the components of a variable are, seen without touching them.
//
// components() asks the owners, who first take the writes they have not taken yet. A replica
// reads its own component as it is: what differs is seen to differ.

#pragma once

#include <algorithm>
#include <troupe/troupe.hpp>

namespace troupe::test {

template <class V>
typename V::value_type component_of(replica_context ctx, V variable) {
  return variable.read(ctx);
}

/// What each replica reads, in replica order.
template <class V>
task<per_replica<typename V::value_type>> read_on_replicas(const strategy* on, V variable) {
  co_return co_await on->run(component_of<V>, variable);
}

/// The same, if the owners see the same afterwards; otherwise nothing.
template <class V>
task<per_replica<typename V::value_type>> values_of(const strategy* on, V variable) {
  auto read = co_await read_on_replicas(on, variable);
  const auto kept = co_await variable.components();
  if (!(read == kept)) read = per_replica<typename V::value_type>();
  co_return read;
}

template <class T>
bool all_alike(const per_replica<T>& values) {
  return std::all_of(values.begin(), values.end(), [&](const T& v) { return v == values[0]; });
}

/// Checks that the replicas read one value, and that asking the owners changes nothing.
template <class V>
task<typename V::value_type> agreed(world* w, const strategy* on, V v) {
  const auto read = co_await read_on_replicas(on, v);
  w->check(all_alike(read), "the components do not differ");
  const auto direct = co_await v.read();
  w->check(direct == read[0], "outside one reads what the replicas read");
  const auto kept = co_await v.components();
  w->check(kept == read, "asking the owners changes nothing");
  co_return read[0];
}

}  // namespace troupe::test
