// ambient.cpp - the queries that need no context at hand, and the default strategy.

#include <memory>

#include "troupe/strategy/default_strategy.hpp"

namespace troupe {

namespace detail {

const mode* current_mode() noexcept { return static_cast<const mode*>(activity::ambient_here()); }

void refuse_context(const char* call) {
  if (in_cross_replica_context()) {
    throw error(errc::replica_required,
                std::string(call) + " on a replica context where no replica is: in a scope, a "
                                    "merge function or an update",
                "a merge function has everybody's values already: use them; else call it in a "
                "replica function");
  }
  throw error(errc::foreign_context,
              std::string(call) + " on a replica context outside its own replica function",
              "use the context only in the function that got it, in this run, and not in a "
              "branch of when_all()");
}

void throw_merge_failure(const merge_request& request) {
  const auto& self = static_cast<const replica_actor&>(*activity::current());
  barrier_actor::throw_failure(self, request.was_refused());
}

void require_lone(const merge_request& request) {
  if (request.is_lone()) return;
  if (request.was_awaited()) {
    throw_nothing_to_await(
        "a merge was awaited that has been awaited before",
        "call merge_call() for each merge: the arguments went with the first await",
        request.where());
  }
  refuse_context("merge_call()");
}

void drop_lone(const merge_request& request) noexcept { delete request.alone(); }

std::unique_ptr<lone_merge> merge_alone(merge_request& request) {
  if (current_mode()) refuse_context("merge_call()");
  strategy_state& owner = *get_default_strategy().state();
  auto alone = std::make_unique<lone_merge>(request, &owner.cross_replica_mode());
  merge_site site;
  site.result = &alone->result;
  site.round = merge_round(alone->waits_for);
  site.taken = &alone->taken;
  site.above = &owner;
  site.by_identity = false;  // It is nobody's: there is nobody to ask where it stands.
  activity::call_in(alone->mode, [&] { request.kind().merge(site, alone->body); });
  return alone;
}

}  // namespace detail

strategy_state& replica_context::owner() const noexcept {
  if (!self_) return *get_default_strategy().state();
  return *static_cast<strategy_state*>(barrier_actor::of(*self_).above());
}
int replica_context::num_replicas_in_sync() const noexcept {
  return static_cast<int>(owner().replicas());
}
const strategy& replica_context::strategy() const noexcept { return owner().facade(); }

int update_context::num_replicas_in_sync() const noexcept {
  return static_cast<int>(owner_->replicas());
}
const strategy& update_context::strategy() const noexcept { return owner_->facade(); }

int cross_replica_context::num_replicas_in_sync() const noexcept {
  return static_cast<int>(owner_->replicas());
}
const strategy& cross_replica_context::strategy() const noexcept { return owner_->facade(); }

std::optional<replica_context> get_replica_context() noexcept {
  const auto* mode = detail::current_mode();
  if (!mode) return replica_context();
  if (mode->cross_replica) return std::nullopt;
  // The mode of a replica is set on replica actors and inherited by their branches only.
  auto& self = static_cast<replica_actor&>(*activity::current()->origin());
  return replica_context(self);
}

bool in_cross_replica_context() noexcept {
  const auto* mode = detail::current_mode();
  return mode && mode->cross_replica;
}

std::optional<update_context> get_update_context() noexcept {
  const auto* mode = detail::current_mode();
  if (!mode || mode->updates < 0) return std::nullopt;
  return update_context(*mode->owner, static_cast<std::size_t>(mode->updates));
}

const strategy& get_strategy() noexcept {
  const auto* mode = detail::current_mode();
  return mode ? mode->owner->facade() : get_default_strategy();
}

bool has_strategy() noexcept {
  const auto* mode = detail::current_mode();
  return mode && !mode->owner->is_default();
}

default_strategy::default_strategy() : strategy(nullptr, {.devices = detail::first_devices(1)}) {}

const strategy& get_default_strategy() noexcept {
  // It holds nothing but its one device's name until somebody runs on it.
  static const default_strategy one;
  return one;
}

}  // namespace troupe
