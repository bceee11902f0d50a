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
  using merged = typename detail::task_value<returned>::type;
  using share = typename detail::share_of<merged>::type;

 public:
  using awaitable_in_task = void;
  using value_type = share;

  merge_operation(replica_context ctx, F fn, Args... args)
      : merge_request(kind_of_this, ctx.run_id_), fn_(std::move(fn)), args_(std::move(args)...) {}
  /// \pre Not awaited yet.
  merge_operation(merge_operation&&) = default;
  merge_operation& operator=(merge_operation&&) = delete;
  ~merge_operation() {
    if (!has_result()) [[unlikely]]
      detail::drop_lone(*this);
  }

  bool await_ready() const noexcept { return false; }

  /// Once: the arguments go with it.
  template <std::derived_from<detail::chain_link> Promise>
  void await_suspend(std::coroutine_handle<Promise> replica) {
    if (is_of(activity::current()->run_id())) [[likely]] {
      barrier_actor::arrive(*this, replica);
    } else {
      detail::begin_alone(*this, replica);
    }
  }

  share await_resume() {
    if (!has_result()) [[unlikely]]
      return resume_alone();
    return share_in(result(), static_cast<replica_actor&>(*activity::current()).replica());
  }

  /// What it brings. \pre Not awaited yet.
  std::tuple<Args...>& arguments() noexcept { return args_; }

  static constexpr bool taken_on_arrival = detail::taken_on_arrival<F, Args...>;

  /// Whether it is what a line of the barrier expects, and nothing has to be arranged.
  bool is_expected(const merge_kind* kind, const merge_intake& in) const noexcept {
    if (kind != &kind_of_this) [[unlikely]]
      return false;
    if constexpr (!taken_on_arrival) return true;
    return identical(in.at, where()) && detail::is_told_by(in.function, fn_);
  }
  void put_into(merge_intake& in, std::size_t row) const noexcept {
    if constexpr (taken_on_arrival) detail::put_in_columns(in, row, args_);
  }
  /// Arranges it, if it is the line's first one. At others that do not agree merge() looks closer.
  void arrive_in(barrier_share& line, std::size_t row) noexcept {
    merge_intake& in = line.intake;
    if (line.arrived() != 0 && is_expected(in.expected_kind, in)) {
      put_into(in, row);
      return;
    }
    line.forget();
    if constexpr (!taken_on_arrival) {
      line.expect(&kind_of_this);
    } else if (line.arrived() == 0 &&
               (detail::has_columns<Args...>(in, line.rows) ||
                detail::open_columns<Args...>(in, line.rows, line.others_read))) {
      in.begin(kind_of_this, where(), detail::told_by(fn_));
      line.expect(&kind_of_this);
      put_into(in, row);
    }
  }

  static share share_in(merge_result& from, std::uint32_t replica) {
    if constexpr (!std::is_void_v<merged>) {
      return structure<merged>::take(replica, from.template value<merged>());
    }
  }
  [[gnu::noinline]] share resume_alone() {
    if (!alone()) detail::throw_merge_failure(*this);
    return share_in(alone()->end(), 0);
  }

  using gathered = std::tuple<regrouped_t<Args>...>;
  using columns = std::tuple<per_replica<Args>...>;
  static merge_operation& cast(merge_request& r) noexcept {
    return static_cast<merge_operation&>(r);
  }

  static bool same_function(merge_request& a, merge_request& b) noexcept {
    if constexpr (std::equality_comparable<F>) return cast(a).fn_ == cast(b).fn_;
    return true;
  }
  /// Whether those two of a round mean the same function, at the same place.
  static bool agree(const merge_round& round, std::size_t i, std::size_t k) noexcept {
    return same_place(round[i].where(), round[k].where()) && same_function(round[i], round[k]);
  }
  /// Walks the frames once: checks that all agree, and takes the arguments out of them.
  static bool gather(merge_site& site, columns& into) {
    const merge_round round = site.round;
    const bool by_identity = site.by_identity;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      (std::get<I>(into).reserve(round.size()), ...);
      [[maybe_unused]] std::tuple<typename per_replica<Args>::filler...> ends(std::get<I>(into)...);
      for (std::size_t i = 0; i < round.size(); ++i) {
        round.fetch(i + 16, i + 8);
        if (!round[i].same_kind(round.front()) || (by_identity && !agree(round, 0, i)))
          return false;
        (std::get<I>(ends).append(std::get<I>(std::move(cast(round[i]).args_))), ...);
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

  static merge_progress merge(merge_site& site, task<>& body) {
    if constexpr (taken_on_arrival) {
      if (detail::all_have_been_taken<Args...>(site)) [[likely]] {
        if constexpr (detail::is_told_by_address<F>) site.taken->forget();
        detail::lent_columns<Args...> lent(site);
        const detail::take_back_columns<Args...> at_end(site, lent);
        return run_regrouped(site, lent.values, body);
      }
    }
    return gather_and_run(site, body);
  }

  /// Apart, so that a merge of arguments that were taken needs no stack for it.
  [[gnu::noinline]] static merge_progress gather_and_run(merge_site& site, task<>& body) {
    columns all;
    return gather(site, all) ? run_regrouped(site, all, body) : merge_progress::disagreed;
  }

  static merge_progress run_regrouped(merge_site& site, columns& all, task<>& body) {
    if constexpr (std::is_same_v<columns, gathered>) {
      return run_first(site, all, body);
    } else {
      gathered values = detail::regroup_columns(std::move(all));
      return run_first(site, values, body);
    }
  }

  static merge_progress run_first(merge_site& site, gathered& values, task<>& body) {
    if constexpr (detail::is_task<returned>) {
      body = merge_in_coroutine(site, std::move(values));
      return merge_progress::goes_on;
    } else if constexpr (std::is_same_v<returned, detail::rest_of_merge>) {
      body = call_first(site, values).body;
      return body ? merge_progress::goes_on : merge_progress::returned;
    } else if constexpr (std::is_void_v<merged>) {
      call_first(site, values);
    } else {
      put_result(site, call_first(site, values));
    }
    return merge_progress::returned;
  }

  template <class R>
  static void put_result(merge_site& site, R&& value) {
    detail::require_components(value, site.round.size());
    site.result->put(std::forward<R>(value));
  }

  /// The values live in this frame: the function may take them by reference.
  static task<> merge_in_coroutine(merge_site site, gathered values) {
    auto body = call_first(site, values);
    if constexpr (std::is_void_v<merged>) {
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

  static constexpr merge_kind kind_of_this{{&stay, &name, true}, &merge, &same_function};

  friend barrier_actor;  // Asks what is expected, and calls arrive_in().

  [[no_unique_address]] F fn_;
  std::tuple<Args...> args_;
};

template <class F, class... Args>
auto replica_context::merge_call(F merge_fn, Args... args) const {
  return merge_operation<F, Args...>(*this, std::move(merge_fn), std::move(args)...);
}

}  // namespace troupe
