// merge_request.hpp - what a replica brings to the barrier.
//
// It lives in the awaiting frame and is complete: arguments and function. The function travels
// down inside it, so that the barrier knows nothing of strategies, values or reductions. Where it
// stands is its activity's innermost await.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "troupe/core/activity.hpp"
#include "troupe/core/place.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/core/task.hpp"

namespace troupe {

class replica_actor;
struct merge_kind;
struct merge_request;
struct merge_site;

/// What a replica that goes on looks at: whether its merge has returned something, or at all.
struct merge_outcome {
  void* where;  ///< Null if there is nothing to be had: then somebody knows why.
};

/// What a merge function returned, kept by the barrier until every replica has taken its
/// share: it is looked up, not handed round, so that a round walks the frames once.
class merge_result : public merge_outcome {
 public:
  merge_result() noexcept : merge_outcome{room_} {}
  merge_result(const merge_result&) = delete;
  merge_result& operator=(const merge_result&) = delete;
  ~merge_result() { clear(); }

  template <class T>
  void put(T&& value) {
    using kept = std::remove_cvref_t<T>;
    clear();
    if constexpr (has_room<kept>) {
      where = new (room_) kept(std::forward<T>(value));
      if constexpr (!std::is_trivially_destructible_v<kept>) {
        clear_ = [](void* v) noexcept { static_cast<kept*>(v)->~kept(); };
      }
    } else {
      where = new kept(std::forward<T>(value));
      clear_ = [](void* v) noexcept { delete static_cast<kept*>(v); };
    }
  }
  /// \pre It was put, and `where` is not null.
  template <class T>
  T& value() noexcept {
    void* const at = has_room<T> ? room_ : where;  // In the room it needs not be looked up.
    return *static_cast<T*>(at);
  }
  void clear() noexcept {
    if (clear_) std::exchange(clear_, nullptr)(where);
    if (where != room_) where = room_;  // Other threads have read it: no write for nothing.
  }
  /// There is none.
  void fail() noexcept {
    clear();
    where = nullptr;
  }

 private:
  static constexpr std::size_t room = 48;
  template <class T>
  static constexpr bool has_room = sizeof(T) <= room && alignof(T) <= alignof(std::max_align_t);

  void (*clear_)(void*) noexcept = nullptr;
  alignas(std::max_align_t) std::byte room_[room];
};

/// The arguments of a line's replicas that were taken when these arrived, where that is cheap: if
/// they are copied as bytes. The frames are not walked a second time then, by another thread least
/// of all. They keep the originals, which count as soon as somebody does not agree with the first.
struct merge_intake {
  static constexpr std::size_t columns_max = 2;
  struct column {
    void* values = nullptr;  ///< Recycled memory; index = replica_actor::row().
    std::size_t bytes = 0;
  };

  merge_intake() = default;
  merge_intake(const merge_intake&) = delete;
  merge_intake& operator=(const merge_intake&) = delete;
  ~merge_intake() { drop(); }

  void drop() noexcept {
    kind = expected_kind = nullptr;
    for (auto& c : columns) {
      void* const values = std::exchange(c.values, nullptr);
      if (values && !is_near(values)) detail::recycling_free(values, c.bytes);
    }
  }

  /// Has what another line has put here on its way into this processor's cache.
  void fetch() const noexcept {
    __builtin_prefetch(this);
    for (const auto& c : columns) {
      const std::size_t most = c.values && !is_near(c.values) ? c.bytes : 0;
      for (std::size_t i = 0; i < most && i < 512; i += 64) {
        __builtin_prefetch(static_cast<const std::byte*>(c.values) + i);
      }
    }
  }

  /// Whether the column lies in the room below.
  bool is_near(const void* values) const noexcept {
    return std::less_equal<>()(&room, values) && std::less<>()(values, &room + 1);
  }

  /// Of whoever arrived first: all that came after agree with it, and are taken. Or null.
  const merge_kind* kind = nullptr;
  /// An arrival of this kind that agrees means one more, and nothing else. Null if every one may.
  const merge_kind* expected_kind = nullptr;
  place at;                        ///< Where the one stands that arrived first.
  const void* function = nullptr;  ///< Tells it from others of its kind.
  /// For columns that fit, where others read them: they travel with what is above.
  alignas(std::uint64_t) std::array<std::byte, 16> room;
  std::array<column, columns_max> columns;
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
    outcome = &refused;
  }
  static inline constinit merge_outcome refused{nullptr};

  /// Whose it is; null once it was refused, and outside of all runs.
  replica_actor* who;
  union {
    std::uint64_t run;       ///< Until it arrives: for which run of `who`, odd; zero outside.
    merge_outcome* outcome;  ///< From then on: what it looks at when it goes on.
  };

  /// The barrier fails all waiting replicas of a run together; one alone cannot leave.
  static void stay(wait&) noexcept {}
};

/// The requests of one round, in replica order: what its replicas wait for.
class merge_round {
 public:
  merge_round() noexcept = default;
  /// Of one.
  explicit merge_round(wait* const& alone) noexcept : merge_round(alone, 0, 1) {}
  /// Of `size`, whose activities lie at equal distances; `first` says for what the first one waits.
  merge_round(wait* const& first, std::size_t distance, std::size_t size) noexcept
      : first_(reinterpret_cast<const std::byte*>(&first)), distance_(distance), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  merge_request& operator[](std::size_t i) const noexcept {
    return static_cast<merge_request&>(*at(i));
  }
  merge_request& front() const noexcept { return (*this)[0]; }
  /// Has the memory where the one at `i` is found, and the one at `soon`, brought into the cache.
  void fetch(std::size_t i, std::size_t soon) const noexcept {
    if (i < size_) __builtin_prefetch(&at(i));
    if (soon < size_) __builtin_prefetch(at(soon));
  }

 private:
  wait* const& at(std::size_t i) const noexcept {
    return *reinterpret_cast<wait* const*>(first_ + i * distance_);
  }

  const std::byte* first_ = nullptr;
  std::size_t distance_ = 0;
  std::size_t size_ = 0;
};

/// What the barrier gives to a merge.
struct merge_site {
  merge_result* result = nullptr;  ///< Where the result goes.
  merge_round round;
  /// The arguments of the first line's replicas; those that were not taken are in the frames.
  merge_intake* taken = nullptr;
  /// The same of the other lines; null if there is none. Replicas are dealt out to lines in turn.
  const recycled_vector<merge_intake*>* taken_elsewhere = nullptr;
  void* above = nullptr;    ///< The strategy's, for the context of the function.
  bool by_identity = true;  ///< Whether places and functions must agree, not only types.
};

}  // namespace troupe
