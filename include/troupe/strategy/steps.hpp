// steps.hpp - several steps over data in one call, with outputs of the last one.
//
//     task<> one(multi_step_context& steps, int batch) {
//       const per_replica<float> losses = co_await get_strategy().run(train, batch);
//       steps.set_last_step_output("loss", losses, reduce_op::mean);
//     }
//     multi_step_context out = co_await strategy.extended().experimental_run_steps_on_iterator(
//         one, batches.begin(), 10);
//     const float* loss = out.last_step_output<float>("loss");
//
// The model keeps this for old programs and so do we. A loop around run() says more.

#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "troupe/core/task.hpp"
#include "troupe/strategy/merge_operation.hpp"
#include "troupe/strategy/reductions/reduce.hpp"
#include "troupe/strategy/scope.hpp"

namespace troupe {

/// Where the steps leave what they give back.
class multi_step_context {
  using outputs = std::map<std::string, std::any, std::less<>>;

  template <class Op>
  struct reduce_into {
    template <class T>
    void operator()(const per_replica<T>& values) const {
      (*into)[name] = reduce(op, values);
    }
    friend bool operator==(const reduce_into& a, const reduce_into& b) { return a.name == b.name; }

    outputs* into;
    std::string name;
    Op op;
  };
  struct put_into {
    template <class T>
    void operator()(const per_replica<T>& values) const {
      (*into)[name] = values;
    }
    friend bool operator==(const put_into& a, const put_into& b) { return a.name == b.name; }

    outputs* into;
    std::string name;
  };

 public:
  /// In cross-replica context: kept as it is, a per_replica with all its values …
  template <class T>
  void set_last_step_output(std::string name, T output) {
    last_[std::move(name)] = std::move(output);
  }
  /// … or reduced.
  template <class T, reduction Op>
  void set_last_step_output(std::string name, const per_replica<T>& output, Op op) {
    last_[std::move(name)] = reduce(op, output);
  }
  /// In a replica: a merge, so that it is set once. There must be an operation.
  template <class T, reduction Op>
  [[nodiscard("co_await it")]] auto set_last_step_output(replica_context ctx, std::string name,
                                                         T output, Op op) {
    return ctx.merge_call(reduce_into<Op>{&last_, std::move(name), op}, std::move(output));
  }

  /// What is no number: as it is, or of every replica.
  template <class T>
  void set_non_tensor_output(std::string name, T output) {
    other_[std::move(name)] = std::move(output);
  }
  template <class T>
  [[nodiscard("co_await it")]] auto set_non_tensor_output(replica_context ctx, std::string name,
                                                          T output) {
    return ctx.merge_call(put_into{&other_, std::move(name)}, std::move(output));
  }

  /// What the last step set; null if it set nothing by that name, or another type.
  template <class T>
  const T* last_step_output(std::string_view name) const noexcept {
    return find<T>(last_, name);
  }
  template <class T>
  const T* non_tensor_output(std::string_view name) const noexcept {
    return find<T>(other_, name);
  }

  /// Drops the outputs of the step before.
  void begin_step() { last_.clear(); }

 private:
  template <class T>
  static const T* find(const outputs& among, std::string_view name) noexcept {
    const auto found = among.find(name);
    return found == among.end() ? nullptr : std::any_cast<T>(&found->second);
  }

  outputs last_;
  outputs other_;
};

namespace detail {

/// Steps one after the other, in cross-replica context of `owner`.
template <class F, class Iterator>
task<multi_step_context> run_steps(std::shared_ptr<strategy_state> owner, F fn, Iterator next,
                                   int iterations) {
  const strategy_scope inside(owner);
  multi_step_context steps;
  for (int i = 0; i < iterations; ++i, ++next) {
    steps.begin_step();
    if constexpr (is_task<decltype(fn(steps, *next))>) {
      co_await fn(steps, *next);
    } else {
      fn(steps, *next);
    }
  }
  co_return steps;
}

}  // namespace detail

}  // namespace troupe
