// variable_state.cpp - names, and who may touch a variable.

#include "troupe/strategy/variables/variable_state.hpp"

#include <cctype>

#include "troupe/strategy/variables/create_variable.hpp"

namespace troupe {

std::string canonical_variable_name(std::string_view name) {
  if (name.empty()) return "Variable";
  std::string canonical;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    std::string_view part = name.substr(0, slash);
    const std::size_t n = part.size();
    const bool numbered =
        n > 2 && part[n - 2] == '_' && std::isdigit(static_cast<unsigned char>(part[n - 1])) != 0;
    canonical += numbered ? part.substr(0, n - 2) : part;
    if (slash == name.npos) break;
    canonical += '/';
    name.remove_prefix(slash + 1);
  }
  return canonical;
}

namespace detail {

variable_base::variable_base(std::shared_ptr<strategy_state> owner, const variable_options& options,
                             bool trainable, std::size_t copies)
    : owner_(std::move(owner)),
      owners_(&owner_->owners()),
      name_(options.name().empty() ? "Variable" : options.name()),
      trainable_(options.trainable_or(trainable)),
      copies_(copies) {
  const mode* const here = current_mode();
  if (here && here->owner == owner_.get() && !here->cross_replica) {
    throw error(errc::cross_replica_required,
                "variable \"" + name_ + "\" made by one replica alone",
                "let all replicas make it together: co_await create_variable(ctx, ...)");
  }
  owner_->require_cross_replica("making a variable");
}

void variable_base::require_update(const update_context& ctx, const char* call) const {
  const mode* const here = current_mode();
  // The context of an update that has ended is not looked into: its strategy may be gone.
  if (!here || here->updates < 0 || here->updates != ctx.replica_id()) {
    throw error(errc::foreign_context,
                std::string(call) + " of variable \"" + name_ +
                    "\" on an update context outside its own update function",
                "use the context only in the function that got it");
  }
  if (here->owner != owner_.get()) throw_foreign_variable(name_, call);
}

void throw_foreign_variable(const std::string& name, const char* call) {
  throw error(errc::strategy_mixed,
              std::string(call) + " of variable \"" + name +
                  "\" in a context of another strategy than its own",
              "make the variable with the strategy that runs the replicas");
}

void require_one_name(const per_replica<variable_options>& options) {
  const std::string first = canonical_variable_name(options[0].name());
  for (std::size_t i = 1; i < options.size(); ++i) {
    if (canonical_variable_name(options[i].name()) == first) continue;
    throw error(errc::variable_mismatch,
                "replica " + std::to_string(i) + " makes variable \"" + options[i].name() +
                    "\" where replica 0 makes \"" + options[0].name() + "\"",
                "let all replicas make the same variables in the same order");
  }
}

void throw_no_aggregation(const std::string& name) {
  throw error(errc::aggregation_required,
              "variable \"" + name +
                  "\" has one copy for all replicas, and no aggregation that makes one value of "
                  "what they write",
              "make it with an aggregation, or write in a merge function");
}

void throw_different_variables(std::size_t replica, const std::string& first,
                               const std::string& other) {
  throw error(errc::structure_mismatch,
              "replica " + std::to_string(replica) + " gave variable \"" + other +
                  "\", replica 0 gave \"" + first + "\": not the same one",
              "give the same variable on every replica, or its value: v.read(ctx)");
}

void throw_rows_of_another_shape(const tensor_shape& rows, const tensor_shape& shape) {
  throw error(errc::shape_mismatch,
              "rows of a tensor of shape " + text_of_shape(rows) + " for a variable of shape " +
                  text_of_shape(shape),
              "the dense shape of indexed_slices is that of the variable");
}

void throw_resized_component() {
  throw error(errc::shape_mismatch, "a component has another size than its variable",
              "keep the shape when you write to local(ctx) or component(ctx)");
}

void throw_division_by_zero() {
  throw error(errc::division_by_zero, "scatter_div of integers by zero",
              "leave rows out that shall stay as they are");
}

void throw_cancelled_write(const variable_base& state) {
  throw error(errc::cancelled, "a write to variable \"" + state.name() + "\" was cancelled");
}

void throw_wrong_shape(const std::string& name, const tensor_shape& shape,
                       const tensor_shape& given) {
  throw error(errc::shape_mismatch,
              "variable \"" + name + "\" has shape " + text_of_shape(shape) + ", the value has " +
                  text_of_shape(given),
              "a variable keeps the shape of its initial value");
}

}  // namespace detail

}  // namespace troupe
