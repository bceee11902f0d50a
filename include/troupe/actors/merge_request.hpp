// merge_request.hpp - what a replica brings to the barrier.
//
// It lives in the awaiting frame and is complete: arguments and function. The function travels
// down inside it, so that the barrier knows nothing of strategies, values or reductions. Where it
// stands is its activity's innermost await.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "troupe/core/activity.hpp"
#include "troupe/core/place.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/core/task.hpp"

namespace troupe {

class replica_actor;
struct merge_request;

/// The requests of one round, in replica order.
using merge_round = std::span<merge_request* const>;

/// What a merge function returned, kept by the barrier until every replica has taken its
/// share: it is looked up, not handed round, so that a round walks the frames once.
class merge_result {
 public:
  merge_result() = default;
  merge_result(const merge_result&) = delete;
  merge_result& operator=(const merge_result&) = delete;
  ~merge_result() { clear(); }

  template <class T>
  void put(T&& value) {
    using kept = std::remove_cvref_t<T>;
    clear();
    if constexpr (sizeof(kept) <= sizeof(room_) && alignof(kept) <= alignof(std::max_align_t)) {
      value_ = new (room_) kept(std::forward<T>(value));
      if constexpr (!std::is_trivially_destructible_v<kept>) {
        clear_ = [](void* v) noexcept { static_cast<kept*>(v)->~kept(); };
      }
    } else {
      value_ = new kept(std::forward<T>(value));
      clear_ = [](void* v) noexcept { delete static_cast<kept*>(v); };
    }
  }
  /// Where the value is; never null.
  void* where() noexcept { return value_; }
  void clear() noexcept {
    if (clear_) std::exchange(clear_, nullptr)(value_);
  }

 private:
  alignas(std::max_align_t) std::byte room_[48];
  void* value_ = room_;
  void (*clear_)(void*) noexcept = nullptr;
};

/// The arguments of a round that were taken when their replicas arrived, where that is cheap: on
/// one line, of arguments that are copied as bytes. The frames are not walked a second time then.
/// They keep the originals, which count as soon as somebody does not agree with the first.
struct merge_intake {
  static constexpr std::size_t columns_max = 2;
  struct column {
    void* values = nullptr;  ///< Recycled memory; index = replica.
    std::size_t bytes = 0;
  };

  merge_intake() = default;
  merge_intake(const merge_intake&) = delete;
  merge_intake& operator=(const merge_intake&) = delete;
  ~merge_intake() { drop(); }

  void drop() noexcept {
    first = nullptr;
    for (auto& c : columns) {
      if (c.values) detail::recycling_free(std::exchange(c.values, nullptr), c.bytes);
    }
  }

  /// Who arrived first: all that came after agree with it, and are taken. Or null.
  const merge_request* first = nullptr;
  place at;  ///< Where that one stands.
  std::array<column, columns_max> columns;
};

/// What the barrier gives to a merge.
struct merge_site {
  merge_round round;
  merge_intake* taken;   ///< The arguments, if they were taken; null if they are in the frames.
  void* above;           ///< The strategy's, for the context of the function.
  bool by_identity;      ///< Whether places and functions must agree, not only types.
  merge_result& result;  ///< Where the result goes.
};

/// What all requests of one type of merge share.
struct merge_kind : wait_kind {
  /// Checks that all requests agree; false if one does not. Then takes the arguments out of
  /// the frames and calls request 0's function, or, if that is a coroutine, makes `body`
  /// the task that does.
  bool (*merge)(merge_site& site, task<>& body);
};

struct merge_request : wait {
  merge_request(const merge_kind& k, replica_actor* whose, std::uint64_t run_number) noexcept
      : wait(k), who(whose), run(run_number) {}

  const merge_kind& kind() const noexcept { return static_cast<const merge_kind&>(*kind_); }
  bool same_kind(const merge_request& other) const noexcept { return kind_ == other.kind_; }

  /// The round will not happen: the run's verdict is the answer.
  void refuse() noexcept {
    who = nullptr;
    alone = nullptr;
  }

  /// Whose it is; null once it was refused, and outside of all runs.
  replica_actor* who;
  union {
    std::uint64_t run;  ///< For which run of `who`.
    void* alone;        ///< Without one: what the layer above needs, at first null.
  };

  /// The barrier fails all waiting replicas of a run together; one alone cannot leave.
  static void stay(wait&) noexcept {}
};

}  // namespace troupe
