// merge_operation.hpp - merge_call(), step 3 of the walk: from N replicas to one call of
// the merge function and back to N values.
//
// The operation lives in the frame of its replica. The barrier calls merge() of replica
// 0's operation once: it takes everybody's arguments out of the frames, in replica order,
// and leaves the result with the barrier, where each replica finds its share.

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/actors/barrier_actor.hpp"
#include "troupe/actors/merge_request.hpp"
#include "troupe/core/task.hpp"
#include "troupe/strategy/context.hpp"
#include "troupe/strategy/lone_merge.hpp"
#include "troupe/strategy/merge_columns.hpp"
#include "troupe/strategy/structure.hpp"
#include "troupe/strategy/type_name.hpp"

namespace troupe {

template <class F, class... Args>
class merge_operation final : public merge_request {
  static constexpr bool with_context =
      std::is_invocable_v<F&, cross_replica_context, regrouped_t<Args>...>;
  static constexpr bool without_context = std::is_invocable_v<F&, regrouped_t<Args>...>;
  static_assert(with_context || without_context,
                "troupe: merge_call() cannot call this function: it is called as "
                "merge_fn(cross_replica_context, values...) or merge_fn(values...), with one "
                "per_replica for each argument of merge_call()");

  static auto call(F& fn, void* above, regrouped_t<Args>&... values) {
    if constexpr (with_context) {
      const cross_replica_context context(*static_cast<strategy_state*>(above));
      return fn(context, std::move(values)...);
    } else {
      return fn(std::move(values)...);
    }
  }
  using returned =
      decltype(call(std::declval<F&>(), nullptr, std::declval<regrouped_t<Args>&>()...));
  using result = typename detail::task_value<returned>::type;
  using share = typename detail::share_of<result>::type;

 public:
  using awaitable_in_task = void;
  using value_type = share;

  merge_operation(replica_context ctx, F fn, Args... args)
      : merge_request(kind_of_this, ctx.self_, ctx.run_),
        fn_(std::move(fn)),
        args_(std::move(args)...) {}
  /// \pre Not awaited yet.
  merge_operation(merge_operation&&) = default;
  merge_operation& operator=(merge_operation&&) = delete;
  ~merge_operation() {
    if (!who) [[unlikely]]
      detail::drop_lone(*this);
  }

  bool await_ready() const noexcept { return false; }

  /// Once: the arguments go with it.
  template <std::derived_from<detail::chain_link> Promise>
  void await_suspend(std::coroutine_handle<Promise> replica) {
    Promise& promise = replica.promise();
    // Compared before it is looked into: an old context's replica may be gone.
    if (promise.self != who || who->run_number() != static_cast<std::uint32_t>(run)) [[unlikely]] {
      begin_alone(replica);
      return;
    }
    barrier_actor::arrive(*this, replica);
  }

  share await_resume() {
    if (!outcome->where) [[unlikely]]
      return resume_alone();
    return share_in(static_cast<merge_result&>(*outcome), who->replica());
  }

  static constexpr bool taken_on_arrival = detail::taken_on_arrival<F, Args...>;

  /// Whether it is what a line of the barrier expects, and nothing has to be arranged.
  bool is_expected(const merge_intake& in, const place& here) const noexcept {
    if (in.expected_kind != &kind_of_this) [[unlikely]]
      return false;
    if constexpr (!taken_on_arrival) return true;
    return std::memcmp(&in.at, &here, sizeof here) == 0 && detail::is_told_by(in.function, fn_);
  }
  void put_into(merge_intake& in) const noexcept {
    if constexpr (taken_on_arrival) detail::put_in_columns(in, who->row(), args_);
  }
  /// Arranges it, if this is the line's first one. All that do not agree with that are not taken:
  /// they may be meant to meet all the same, and merge() looks closer.
  void arrive_in(barrier_share& line) noexcept {
    merge_intake& in = line.intake;
    in.kind = in.expected_kind = nullptr;
    if constexpr (!taken_on_arrival) {
      in.expected_kind = &kind_of_this;
    } else if (line.arrived() == 0 &&
               (detail::has_columns<Args...>(in, line.rows) ||
                detail::open_columns<Args...>(in, line.rows, line.others_read))) {
      in.kind = in.expected_kind = &kind_of_this;
      in.at = who->where();
      in.function = detail::told_by(fn_);
      put_into(in);
    }
  }

  /// Outside of everything. Apart, so that what is not needs no stack.
  template <class Promise>
  [[gnu::noinline]] void begin_alone(std::coroutine_handle<Promise> caller) {
    detail::require_lone(*this);
    detail::lone_merge* const lone = detail::merge_alone(*this).release();
    outcome = lone;
    lone->begin(caller);
  }
  static share share_in(merge_result& from, std::uint32_t replica) {
    if constexpr (!std::is_void_v<result>) {
      return structure<result>::take(replica, from.template value<result>());
    }
  }
  [[gnu::noinline]] share resume_alone() {
    if (who || outcome == &refused) detail::throw_merge_failure(who);
    return share_in(static_cast<detail::lone_merge*>(outcome)->end(), 0);
  }

  using gathered = std::tuple<regrouped_t<Args>...>;
  using columns = std::tuple<per_replica<Args>...>;
  static merge_operation& cast(merge_request& r) noexcept {
    return static_cast<merge_operation&>(r);
  }

  bool same_function(const merge_request& other) const noexcept {
    if (!same_kind(other)) return false;
    if constexpr (std::equality_comparable<F>) {
      return fn_ == static_cast<const merge_operation&>(other).fn_;
    }
    return true;
  }
  bool agrees_with(const merge_request& other) const noexcept {
    return same_place(who->where(), other.who->where()) && same_function(other);
  }

  /// Walks the frames once: checks that all agree, and takes the arguments out of them. Apart, so
  /// that a merge of arguments that were taken needs no stack for it.
  [[gnu::noinline]] static bool gather(merge_site& site, columns& into) {
    const merge_round round = site.round;
    const bool by_identity = site.by_identity;
    const merge_operation& first = cast(round.front());
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      (std::get<I>(into).reserve(round.size()), ...);
      [[maybe_unused]] std::tuple<typename per_replica<Args>::filler...> ends(std::get<I>(into)...);
      for (std::size_t i = 0; i < round.size(); ++i) {
        round.fetch(i + 16, i + 8);
        merge_request& each = round[i];
        if (!each.same_kind(first) || (by_identity && !first.agrees_with(each))) return false;
        (std::get<I>(ends).append(std::get<I>(std::move(cast(each).args_))), ...);
      }
      return true;
    }(std::index_sequence_for<Args...>());
  }

  /// Calls replica 0's function on what was gathered.
  static returned call_first(merge_site& site, gathered& values) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return call(cast(site.round.front()).fn_, site.above, std::get<I>(values)...);
    }(std::index_sequence_for<Args...>());
  }

  static bool merge(merge_site& site, task<>& body) {
    columns all;
    bool taken = false;
    if constexpr (taken_on_arrival) taken = detail::take_columns(site, all);
    if (!taken && !gather(site, all)) return false;
    if constexpr (std::is_same_v<columns, gathered>) {
      run_first(site, all, body);
      if constexpr (taken_on_arrival) {
        if (taken && detail::give_columns_back(site, all) && !detail::is_told_by_address<F>) {
          site.taken->kind = site.taken->expected_kind = &kind_of_this;  // The next first one, too.
        }
      }
    } else {
      gathered values = detail::regroup_columns(std::move(all));
      run_first(site, values, body);
    }
    return true;
  }

  static void run_first(merge_site& site, gathered& values, [[maybe_unused]] task<>& body) {
    if constexpr (detail::is_task<returned>) {
      body = merge_in_coroutine(site, std::move(values));
    } else if constexpr (std::is_void_v<result>) {
      call_first(site, values);
    } else {
      put_result(site, call_first(site, values));
    }
  }

  template <class R>
  static void put_result(merge_site& site, R&& value) {
    detail::require_components(value, site.round.size());
    site.result->put(std::forward<R>(value));
  }

  /// The values live in this frame: the function may take them by reference.
  static task<> merge_in_coroutine(merge_site site, gathered values) {
    auto body = call_first(site, values);
    if constexpr (std::is_void_v<result>) {
      co_await std::move(body);
    } else {
      put_result(site, co_await std::move(body));
    }
  }

  static std::string name(const wait& w) {
    std::string text;
    if constexpr (requires(const F& f) { f.verb(); }) {
      text = static_cast<const merge_operation&>(w).fn_.verb();
    } else {
      text = "merge_call";
    }
    return text + "(" + detail::type_names<Args...>() + ")";
  }

  static constexpr merge_kind kind_of_this{{&stay, &name, true}, &merge};

  friend barrier_actor;  // Asks what is expected, and calls arrive_in().

  [[no_unique_address]] F fn_;
  std::tuple<Args...> args_;
};

template <class F, class... Args>
auto replica_context::merge_call(F merge_fn, Args... args) const {
  return merge_operation<F, Args...>(*this, std::move(merge_fn), std::move(args)...);
}

}  // namespace troupe
