// merge_request.hpp - what a replica brings to the barrier.
//
// It lives in the awaiting frame and is complete: arguments, function and the room for
// this replica's share of the result. The function travels down inside it, so that the
// barrier knows nothing of strategies, values or reductions.

#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "troupe/core/activity.hpp"
#include "troupe/core/place.hpp"
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

/// What the barrier gives to a merge.
struct merge_site {
  merge_round round;
  void* above;           ///< The strategy's, for the context of the function.
  bool by_identity;      ///< Whether places and functions must agree, not only types.
  merge_result& result;  ///< Where the result goes.
  std::size_t differs;   ///< Set when merge() returns false: the first that disagrees.
};

/// What all requests of one type of merge share.
struct merge_kind : wait_kind {
  /// Checks that all requests agree; false if one does not. Then takes the arguments out of
  /// the frames and calls request 0's function, or, if that is a coroutine, makes `body`
  /// the task that does.
  bool (*merge)(merge_site& site, task<>& body);
};

struct merge_request : wait {
  merge_request(const merge_kind& k, replica_actor* whose) noexcept : wait(k), who(whose) {}

  const merge_kind& kind() const noexcept { return static_cast<const merge_kind&>(*kind_); }
  bool same_kind(const merge_request& other) const noexcept { return kind_ == other.kind_; }

  place at;  ///< The co_await; a merge's identity.

  /// Whose it is; null once the round will not happen: the run's verdict is the answer.
  replica_actor* who;

  /// The barrier fails all waiting replicas of a run together; one alone cannot leave.
  static void stay(wait&) noexcept {}
};

}  // namespace troupe
