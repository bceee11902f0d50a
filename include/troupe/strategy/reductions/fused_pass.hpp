// fused_pass.hpp - the reductions of many tensors as one piece of work.
//
//     fused_pass all;
//     all.add(weights);                  // leaf_reduction; stays until the pass has ended
//     all.add(biases);
//     co_await all.run();
//
// A large pass becomes a graph of steps (step_graph.hpp); how large, its pool was told (pool_size
// in runtime.hpp). What a step costs is being handed out, so steps are cut by what they read,
// wherever one tensor ends and the next one begins: a hundred small tensors are no more steps than
// a large one of their size. The graph of so many steps is kept for the next pass of as many.
//
// Guarantees
//   exact    the bits of one tensor after the other, in replica order, wherever steps are cut;
//   small    little is done where it is, at once.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "troupe/core/recycling.hpp"
#include "troupe/core/task.hpp"
#include "troupe/runtime/step_graph.hpp"
#include "troupe/strategy/reductions/element_reduction.hpp"

namespace troupe::detail {

/// The reduction of one tensor, stretch by stretch. A nest makes one for each of its tensors.
class leaf_reduction : public recycled {
 public:
  leaf_reduction(std::size_t elements, std::size_t bytes_each) noexcept
      : elements_(elements), bytes_each_(bytes_each) {}
  leaf_reduction(const leaf_reduction&) = delete;
  leaf_reduction& operator=(const leaf_reduction&) = delete;
  virtual ~leaf_reduction() = default;

  /// The elements [first, last). Stretches that do not overlap may run at once.
  virtual void run(std::size_t first, std::size_t last) const = 0;
  /// Adds what they read and write.
  virtual void tell(memory_use& memory, std::size_t first, std::size_t last) const = 0;

  /// Has it brought into this processor's cache.
  [[gnu::always_inline]] void fetch() const noexcept {
    __builtin_prefetch(this);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + 64);
  }

  std::size_t elements() const noexcept { return elements_; }
  /// Read for one element of the result, of all replicas.
  std::size_t bytes_each() const noexcept { return bytes_each_; }
  std::size_t bytes() const noexcept { return elements_ * bytes_each_; }

 private:
  std::size_t elements_;
  std::size_t bytes_each_;
};

template <class Op, class T, class R>
class reduction_into final : public leaf_reduction {
 public:
  /// As element_reduction.
  reduction_into(Op op, const per_replica<T>& values, std::span<R> out)
      : leaf_reduction(out.size(), values.size() * sizeof(element_t<T>)), all_(op, values, out) {}

  void run(std::size_t first, std::size_t last) const override { all_.run(first, last); }
  void tell(memory_use& memory, std::size_t first, std::size_t last) const override {
    all_.tell(memory, first, last);
  }

 private:
  element_reduction<Op, per_replica<T>, R> all_;
};

/// Into the elements of every replica, which are its own: what is read is written, while it is in
/// the nearest cache.
template <class Op, class Values>
class reduction_for_all final : public leaf_reduction {
  using T = typename Values::value_type;

 public:
  /// \pre All have one shape. \throws nothing but std::bad_alloc.
  reduction_for_all(Op op, Values& values)
      : leaf_reduction(tensor_traits<T>::values(values[0]).size(), values.size() * sizeof(element)),
        all_(op, values, tensor_traits<T>::values(values[0])) {
    everybodys_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      everybodys_.append(tensor_traits<T>::values(values[i]).data());
    }
  }

  void run(std::size_t first, std::size_t last) const override {
    for (; first < last; first = std::min(first + block, last)) {
      const std::size_t end = std::min(first + block, last);
      all_.run(first, end);
      const element* const result = everybodys_[0];
      for (std::size_t i = 1; i < everybodys_.size(); ++i) {
        std::copy(result + first, result + end, everybodys_[i] + first);
      }
    }
  }
  void tell(memory_use& memory, std::size_t first, std::size_t last) const override {
    for (element* const each : everybodys_) {
      memory.writes(std::span<element>(each + first, last - first));
    }
  }

 private:
  using element = element_t<T>;
  static constexpr std::size_t block = 16 * 1024 / sizeof(element);

  element_reduction<Op, Values, element> all_;
  per_replica<element*> everybodys_;
};

class fused_pass {
 public:
  void add(const leaf_reduction& leaf) {
    bytes_ += leaf.bytes();
    leaves_.push_back({&leaf, bytes_});
  }

  std::size_t bytes() const noexcept { return bytes_; }

  /// Whether so many are worth a graph here; if not, run() does them at once.
  static bool is_large(std::size_t bytes) noexcept;

  /// When awaited, all leaves are reduced. \pre It lives until then.
  task<> run() const;

  // For its graph.

  /// Reduces what is read between these bytes; an element belongs to where its first byte is.
  void run_stretch(std::size_t first, std::size_t last) const;
  /// What that reads and writes.
  memory_use memory_of(std::size_t first, std::size_t last) const;

 private:
  struct entry {
    const leaf_reduction* leaf;
    std::size_t end;  ///< Of its bytes, among all.
  };

  template <class F>
  void for_each_part(std::size_t first, std::size_t last, F&& part) const;

  recycled_vector<entry> leaves_;
  std::size_t bytes_ = 0;
};

}  // namespace troupe::detail
