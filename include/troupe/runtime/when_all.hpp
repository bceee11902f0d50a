// when_all.hpp - several tasks at once, in one logical task.
//
//     auto [a, b] = co_await when_all(left(), right());
//     std::vector<int> all = co_await when_all(std::move(tasks));
//
// Each task becomes a branch: it has the contexts of the awaiting task and runs on the
// same line, interleaved with its sisters wherever they wait.
//
// Guarantees
//   whole    when_all() ends when every branch has ended, also when one throws;
//   ordered  results are in the order of the arguments; of several exceptions the first
//            in that order is thrown;
//   stop     a stopped task stops its branches.
//
// A branch is not the replica: merges belong to the replica's own function.

#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/runtime/footprint.hpp"
#include "troupe/runtime/root_task.hpp"

namespace troupe {

namespace detail {

/// One task's own activity.
class branch final : enrollment, public routine {
 public:
  branch(activity& trunk, std::size_t number, std::size_t& left)
      : enrollment(static_cast<routine&>(trunk).owner().on->home().shared_from_this(), "branch",
                   static_cast<std::uint32_t>(number),
                   static_cast<routine&>(trunk).owner().on->index()),
        routine(&branch::take_step, enrollment::who),
        trunk_(trunk),
        left_(left) {
    branch_from(trunk);
  }

  void describe(std::vector<std::string>& lines) const {
    describe_wait(enrollment::who, *this, lines);
  }
  void drop_chain() noexcept { abandon_chain(); }

  /// Branches of one task share its variables: a simulation tries all their orders.
  void touch_task() noexcept {
    footprint::touches(static_cast<routine&>(*origin()).owner(), touch::change);
  }

 private:
  static void take_step(event& self, turn how) noexcept {
    if (how == turn::drop) return;
    auto& me = static_cast<branch&>(self);
    me.touch_task();
    me.resume();
  }
  void root_ended() noexcept override {
    if (--left_ == 0) trunk_.wake();
  }

  activity& trunk_;
  std::size_t& left_;
};

template <class T>
using branch_value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// The waiting half: counts the branches down and tells what they wait for.
class fork : public wait_as<fork>, private root {
 public:
  fork() = default;
  /// \pre Not awaited yet, or ended.
  fork(fork&& other) noexcept : first_await_(std::move(other.first_await_)) {}
  ~fork() override {
    if (on_) on_->delist(*this);
    for (auto& b : branches_) b->drop_chain();
  }

  void cancel_wait() noexcept {
    for (auto& b : branches_) {
      b->touch_task();
      b->stop();
    }
  }
  std::string describe_wait() const {
    return std::to_string(left_) + " of " + std::to_string(branches_.size()) + " branches";
  }

 protected:
  template <class Promise>
  void require_first(std::coroutine_handle<Promise> trunk) {
    first_await_.take("a when_all()", trunk);
  }
  template <class Promise>
  void spread(std::coroutine_handle<Promise> trunk, std::size_t count) {
    activity& self = *activity::current();
    left_ = count;
    for (std::size_t i = 0; i < count; ++i) {
      branches_.push_back(std::make_unique<branch>(self, i, left_));
    }
    on_ = static_cast<routine&>(self).owner().on->home().shared_from_this();
    on_->enlist(*this);
    self.park(trunk, *this);
  }
  branch& at(std::size_t i) noexcept { return *branches_[i]; }
  /// What the branch at `i` gave. If that was cut short, so is what its task does with it.
  template <class T>
  branch_value<T> take(std::size_t i, task<T>& ended) {
    if (branches_[i]->interrupted()) activity::current()->mark_interrupted();
    if constexpr (std::is_void_v<T>) {
      ended.take();
      return {};
    } else {
      return ended.take();
    }
  }
  void start(const activity& trunk) noexcept {
    for (auto& b : branches_) {
      if (trunk.stop_requested()) b->stop();
      b->wake();
    }
  }

 private:
  void describe(std::vector<std::string>& lines) const override {
    for (const auto& b : branches_) b->describe(lines);
  }
  void abandon() noexcept override {}  // The frames are the trunk's, and go with it.

  first_await first_await_;
  std::shared_ptr<runtime_state> on_;
  std::vector<std::unique_ptr<branch>> branches_;
  std::size_t left_ = 0;
};

template <class... Ts>
class fork_of_tuple final : public fork {
 public:
  using awaitable_in_task = void;
  using value_type = std::tuple<branch_value<Ts>...>;

  explicit fork_of_tuple(task<Ts>... tasks) : tasks_(std::move(tasks)...) {}
  fork_of_tuple(fork_of_tuple&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> trunk) {
    require_first(trunk);
    if (sizeof...(Ts) == 0) return false;
    const place& here = trunk.promise().at;
    std::apply([&](auto&... each) { (each.require_cold(here), ...); }, tasks_);
    spread(trunk, sizeof...(Ts));
    std::size_t i = 0;
    std::apply([&](auto&... each) { (each.begin_on(at(i++)), ...); }, tasks_);
    start(*activity::current());
    return true;
  }
  value_type await_resume() {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return value_type{take(I, std::get<I>(tasks_))...};
    }(std::index_sequence_for<Ts...>());
  }

 private:
  std::tuple<task<Ts>...> tasks_;
};

template <class T>
class fork_of_vector final : public fork {
 public:
  using awaitable_in_task = void;
  using value_type = std::vector<branch_value<T>>;

  explicit fork_of_vector(std::vector<task<T>> tasks) : tasks_(std::move(tasks)) {}
  fork_of_vector(fork_of_vector&&) noexcept = default;

  bool await_ready() const noexcept { return false; }
  template <std::derived_from<chain_link> Promise>
  bool await_suspend(std::coroutine_handle<Promise> trunk) {
    require_first(trunk);
    if (tasks_.empty()) return false;
    for (auto& each : tasks_) each.require_cold(trunk.promise().at);
    spread(trunk, tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) tasks_[i].begin_on(at(i));
    start(*activity::current());
    return true;
  }
  value_type await_resume() {
    value_type all;
    all.reserve(tasks_.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) all.push_back(take(i, tasks_[i]));
    return all;
  }

 private:
  std::vector<task<T>> tasks_;
};

}  // namespace detail

/// All of `tasks`, interleaved; a tuple of their results, std::monostate for void.
template <class... Ts>
[[nodiscard("co_await it: nothing runs before")]] detail::fork_of_tuple<Ts...> when_all(
    task<Ts>... tasks) {
  return detail::fork_of_tuple<Ts...>(std::move(tasks)...);
}

/// The same for a number known at run time.
template <class T>
[[nodiscard("co_await it: nothing runs before")]] detail::fork_of_vector<T> when_all(
    std::vector<task<T>> tasks) {
  return detail::fork_of_vector<T>(std::move(tasks));
}

}  // namespace troupe
