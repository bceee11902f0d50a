// fused_pass.cpp - see fused_pass.hpp.

#include "troupe/strategy/reductions/fused_pass.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/runtime_state.hpp"

namespace troupe::detail {

namespace {

/// What one step reads, unless there would be too many steps: one costs about as much as reading
/// 2 KiB.
constexpr std::size_t bytes_per_step = 128 * 1024;
constexpr std::size_t steps_max = 256;

constexpr std::ptrdiff_t leaves_ahead = 4;

/// Steps without an order, each of which does the stretch of its number, of one pass or the next.
class stretches {
 public:
  explicit stretches(std::size_t steps) {
    for (std::size_t i = 0; i < steps; ++i) graph_.add(step(i));
  }
  /// The same, whose steps say what they touch.
  stretches(std::size_t steps, const fused_pass& pass) {
    work_on(pass, steps);
    for (std::size_t i = 0; i < steps; ++i) {
      graph_.add(step(i), pass.memory_of(first_byte(i), first_byte(i + 1)));
    }
  }

  void work_on(const fused_pass& pass, std::size_t steps) noexcept {
    pass_ = &pass;
    length_ = (pass.bytes() + steps - 1) / steps;
  }
  step_graph& graph() noexcept { return graph_; }

 private:
  std::function<void()> step(std::size_t i) {
    return [this, i] { pass_->run_stretch(first_byte(i), first_byte(i + 1)); };
  }
  std::size_t first_byte(std::size_t i) const noexcept {
    return std::min(i * length_, pass_->bytes());
  }

  const fused_pass* pass_ = nullptr;
  std::size_t length_ = 0;
  step_graph graph_;
};

/// What this thread's passes have left for the next ones.
class kept_stretches {
 public:
  static std::unique_ptr<stretches> take(std::size_t steps) {
    for (auto& each : kept_) {
      if (each && each->graph().size() == steps) return std::exchange(each, nullptr);
    }
    return std::make_unique<stretches>(steps);
  }
  static void give(std::unique_ptr<stretches> used) noexcept {
    const auto empty = std::find(kept_.begin(), kept_.end(), nullptr);
    auto& place = empty != kept_.end() ? *empty : kept_[next_++ % kept_.size()];
    place = std::move(used);
  }

 private:
  // Programs have a few sizes of passes, and come back to each of them.
  static inline thread_local std::array<std::unique_ptr<stretches>, 8> kept_;
  static inline thread_local std::size_t next_ = 0;
};

}  // namespace

bool fused_pass::is_large(std::size_t bytes) noexcept {
  const scheduler* const here = scheduler::current();
  return bytes >= (here ? here->home().graph_from() : runtime_state::graph_pays_from);
}

task<> fused_pass::run() const {
  if (!is_large(bytes_)) {
    for (const entry& each : leaves_) each.leaf->run(0, each.leaf->elements());
    co_return;
  }
  const std::size_t steps = std::clamp<std::size_t>(bytes_ / bytes_per_step, 2, steps_max);
  if (footprint::wanted()) {
    stretches told(steps, *this);
    co_await troupe::run(told.graph());
    co_return;
  }
  std::unique_ptr<stretches> kept = kept_stretches::take(steps);
  kept->work_on(*this, steps);
  co_await troupe::run(kept->graph());
  kept_stretches::give(std::move(kept));
}

template <class F>
void fused_pass::for_each_part(std::size_t first, std::size_t last, F&& part) const {
  const auto ends_before = [](std::size_t byte, const entry& e) { return byte < e.end; };
  auto at = std::upper_bound(leaves_.begin(), leaves_.end(), first, ends_before);
  for (; at != leaves_.end(); ++at) {
    // Another thread has made it, on a processor that may be far away.
    if (leaves_.end() - at > leaves_ahead) at[leaves_ahead].leaf->fetch();
    const leaf_reduction& leaf = *at->leaf;
    const std::size_t begin = at->end - leaf.bytes();
    if (begin >= last) break;
    const std::size_t each = leaf.bytes_each();
    const auto element = [&](std::size_t byte) { return (byte - begin + each - 1) / each; };
    part(leaf, element(std::max(first, begin)), element(std::min(last, at->end)));
  }
}

void fused_pass::run_stretch(std::size_t first, std::size_t last) const {
  for_each_part(first, last, [](const leaf_reduction& leaf, std::size_t begin, std::size_t end) {
    leaf.run(begin, end);
  });
}

memory_use fused_pass::memory_of(std::size_t first, std::size_t last) const {
  memory_use memory;
  for_each_part(first, last, [&](const leaf_reduction& leaf, std::size_t begin, std::size_t end) {
    leaf.tell(memory, begin, end);
  });
  return memory;
}

}  // namespace troupe::detail
