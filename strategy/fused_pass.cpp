// fused_pass.cpp - see fused_pass.hpp.

#include "troupe/strategy/reductions/fused_pass.hpp"

#include <algorithm>

#include "troupe/runtime/step_graph.hpp"

namespace troupe::detail {

namespace {

/// Below this many bytes of input a reduction is done where it is: a graph costs more.
constexpr std::size_t graph_pays_from = 256 * 1024;
/// What one step reads, unless there would be too many steps: one costs about as much as reading
/// 2 KiB.
constexpr std::size_t bytes_per_step = 256 * 1024;
constexpr std::size_t steps_max = 256;

}  // namespace

task<> fused_pass::run() const {
  if (bytes_ < graph_pays_from) {
    for (const entry& each : leaves_) each.leaf->run(0, each.leaf->elements());
    co_return;
  }
  const std::size_t steps = std::clamp<std::size_t>(bytes_ / bytes_per_step, 2, steps_max);
  const std::size_t stretch = (bytes_ + steps - 1) / steps;
  step_graph graph;
  for (std::size_t first = 0; first < bytes_; first += stretch) {
    const std::size_t last = std::min(first + stretch, bytes_);
    graph.add([this, first, last] { run_stretch(first, last); });
  }
  co_await troupe::run(graph);
}

void fused_pass::run_stretch(std::size_t first, std::size_t last) const {
  const auto ends_before = [](std::size_t byte, const entry& e) { return byte < e.end; };
  auto at = std::upper_bound(leaves_.begin(), leaves_.end(), first, ends_before);
  for (; at != leaves_.end(); ++at) {
    const leaf_reduction& leaf = *at->leaf;
    const std::size_t begin = at->end - leaf.bytes();
    if (begin >= last) break;
    const std::size_t each = leaf.bytes_each();
    const auto element = [&](std::size_t byte) { return (byte - begin + each - 1) / each; };
    leaf.run(element(std::max(first, begin)), element(std::min(last, at->end)));
  }
}

}  // namespace troupe::detail
