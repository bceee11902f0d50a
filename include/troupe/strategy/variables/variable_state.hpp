// variable_state.hpp - what all handles on a variable share: its components, one for each
// replica, its name and its owner. Users meet it through variable and sync_on_read_variable.
//
// Threading: component i is for the line of replica i; the rest never changes.

#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/actors/owners.hpp"
#include "troupe/strategy/context.hpp"
#include "troupe/strategy/strategy_state.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe {

/// "weight", or variable_options("weight").trainable(false). No aggregate: g++ 12 destroys
/// those twice beside a co_await.
class variable_options {
 public:
  variable_options() : variable_options("Variable") {}
  // Implicit, so that a name is enough.
  variable_options(std::string name) : name_(std::move(name)) {}
  variable_options(const char* name) : name_(name) {}

  /// By default a variable is trainable, unless it is synchronised on read.
  variable_options& trainable(bool whether) & {
    trainable_ = whether;
    return *this;
  }
  variable_options&& trainable(bool whether) && {
    trainable_ = whether;
    return std::move(*this);
  }

  const std::string& name() const noexcept { return name_; }
  bool trainable_or(bool usual) const noexcept { return trainable_.value_or(usual); }

 private:
  std::string name_;
  std::optional<bool> trainable_;
};

/// The name without the numbers that tell repetitions apart: "foo/bar" for "foo_1/bar_1".
/// Replicas that create a variable together may give names that differ in these only.
std::string canonical_variable_name(std::string_view name);

namespace detail {

[[noreturn]] void refuse_context(const char* call);
[[noreturn]] void throw_foreign_variable(const std::string& name, const char* call);
[[noreturn]] void throw_no_aggregation(const std::string& name);
[[noreturn]] void throw_different_variables(std::size_t replica, const std::string& first,
                                            const std::string& other);
[[noreturn]] void throw_wrong_shape(const std::string& name, const tensor_shape& shape,
                                    const tensor_shape& given);

/// The components. Each has a cache line of its own: other lines write the next ones.
template <class T>
struct component_row {
  struct alignas(64) component {
    T value;
    std::exception_ptr failure;  ///< Of a merge's write, for the replica to throw.
  };

  component_row(const T& initial, std::size_t count) {
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i) all.push_back(component{initial, nullptr});
  }

  std::vector<component> all;
};

/// What does not depend on the type of the value.
class variable_base {
 public:
  variable_base(std::shared_ptr<strategy_state> owner, const variable_options& options,
                bool trainable, std::size_t copies);

  strategy_state& owner() const noexcept { return *owner_; }
  const std::shared_ptr<strategy_state>& shared_owner() const noexcept { return owner_; }
  troupe::owners& owners() const noexcept { return *owners_; }
  const std::string& name() const noexcept { return name_; }
  bool trainable() const noexcept { return trainable_; }

  /// How many components there are: one for each replica, or one.
  std::size_t copies() const noexcept { return copies_; }
  bool has(std::size_t i) const noexcept { return i < copies_; }

  /// \throws errc::foreign_context unless `ctx` is that of the code that runs now, or, if that is
  ///         in no replica, errc::replica_required; errc::strategy_mixed in a replica of another
  ///         strategy.
  void require_replica(const replica_context& ctx, const char* call) const {
    if (!ctx.is_current()) [[unlikely]]
      refuse_context(call);
    const mode* const here = current_mode();
    const bool ours = here ? here->owner == owner_.get() : owner_->is_default();
    if (!ours) [[unlikely]]
      throw_foreign_variable(name_, call);
  }
  void require_update(const update_context& ctx, const char* call) const;

  /// A replica's write to the only copy needs one. \throws errc::aggregation_required
  void require_own_component() const {
    if (owner_->one_copy()) throw_no_aggregation(name_);
  }
  void require_owner(const strategy_state& other, const char* call) const {
    if (&other != owner_.get()) throw_foreign_variable(name_, call);
  }

 private:
  std::shared_ptr<strategy_state> owner_;
  troupe::owners* owners_;
  std::string name_;
  bool trainable_;
  std::size_t copies_;
};

template <class T>
class variable_state final : public variable_base {
 public:
  variable_state(std::shared_ptr<strategy_state> owner, const T& initial,
                 const variable_options& options, bool trainable, std::size_t copies)
      : variable_base(std::move(owner), options, trainable, copies),
        row_(std::make_shared<component_row<T>>(initial, copies)) {
    if constexpr (tensor_like<T>) shape_ = tensor_traits<T>::shape(initial);
  }

  /// The component of replica `i`, which may be the only one there is.
  T& component(std::size_t i) const noexcept { return row_->all[i & own_].value; }

  /// The component that a merge has written. \throws what the write threw.
  const T& written(std::size_t i) const {
    auto& of = row_->all[i & own_];
    if (of.failure) [[unlikely]]
      std::rethrow_exception(std::exchange(of.failure, nullptr));
    return of.value;
  }
  const std::shared_ptr<component_row<T>>& row() const noexcept { return row_; }
  const tensor_shape& shape() const noexcept { return shape_; }

  /// A variable keeps its shape. \throws errc::shape_mismatch
  void require_shape(const T& value) const {
    if constexpr (tensor_like<T> && !arithmetic<T>) {
      if (auto given = tensor_traits<T>::shape(value); given != shape_) {
        throw_wrong_shape(name(), shape_, given);
      }
    }
  }

 private:
  std::shared_ptr<component_row<T>> row_;
  std::size_t own_ = copies() == 1 ? 0 : ~std::size_t{0};  // Makes every index that of the one.
  tensor_shape shape_;
};

}  // namespace detail

}  // namespace troupe
