// merge_request.hpp - what a replica brings to the barrier.
//
// It lives in the awaiting frame and is complete: arguments, function and place. The function
// travels down inside it, so that the barrier knows nothing of strategies, values or reductions.

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

struct merge_kind;
struct merge_request;
struct merge_site;

namespace detail {
struct lone_merge;
}

/// What a merge function returned, kept by the barrier until every replica has taken its
/// share: it is looked up, not handed round, so that a round walks the frames once.
class alignas(std::max_align_t) merge_result {
 public:
  merge_result() = default;
  merge_result(const merge_result&) = delete;
  merge_result& operator=(const merge_result&) = delete;
  ~merge_result() { clear(); }

  /// \pre It is clear.
  template <class T>
  void put(T&& value) {
    using kept = std::remove_cvref_t<T>;
    if constexpr (has_room<kept>) {
      new (room_) kept(std::forward<T>(value));
      if constexpr (!std::is_trivially_destructible_v<kept>) {
        clear_ = [](merge_result& r) noexcept { r.value<kept>().~kept(); };
      }
    } else {
      new (room_) kept*(new kept(std::forward<T>(value)));
      clear_ = [](merge_result& r) noexcept { delete &r.value<kept>(); };
    }
  }
  /// \pre It was put.
  template <class T>
  T& value() noexcept {
    if constexpr (has_room<T>) {
      return *std::launder(reinterpret_cast<T*>(room_));
    } else {
      return **std::launder(reinterpret_cast<T**>(room_));
    }
  }
  void clear() noexcept {
    if (clear_) std::exchange(clear_, nullptr)(*this);
  }

 private:
  static constexpr std::size_t room = 48;
  template <class T>
  static constexpr bool has_room = sizeof(T) <= room && alignof(T) <= alignof(std::max_align_t);

  void (*clear_)(merge_result&) noexcept = nullptr;
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

  /// Whoever comes next is the first of its round here.
  void forget() noexcept { kind = expected_kind = nullptr; }

  void drop() noexcept {
    forget();
    for (auto& c : columns) {
      void* const values = std::exchange(c.values, nullptr);
      if (values && !is_near(values)) detail::recycling_free(values, c.bytes);
    }
  }

  /// Whoever comes next may be taken if he agrees with this one.
  void begin(const merge_kind& of, const place& where, const void* told_by) noexcept {
    kind = &of;
    at = where;
    function = told_by;
  }

  /// Has what another line has put here on its way into this processor's cache.
  [[gnu::always_inline]] void fetch() const noexcept {
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

/// How far a merge has come at once.
enum class merge_progress : std::uint8_t {
  disagreed,  ///< Not all requests mean the same merge, and nothing was called.
  returned,
  goes_on,  ///< In a task.
};

/// What all requests of one type of merge share.
struct merge_kind : wait_kind {
  /// Checks that all requests agree. Then takes the arguments out of the frames and calls request
  /// 0's function, or, if that is a coroutine, makes `body` the task that does.
  merge_progress (*merge)(merge_site& site, task<>& body);
  /// Whether two of this kind bring the same function, as far as functions of their type differ.
  bool (*same_function)(merge_request& a, merge_request& b) noexcept;
};

struct merge_request : placed_wait {
  merge_request(const merge_kind& k, std::uintptr_t run_id) noexcept
      : placed_wait(k), word_(pointer(run_id)) {}

  const merge_kind& kind() const noexcept { return static_cast<const merge_kind&>(*kind_); }
  bool same_kind(const merge_request& other) const noexcept { return kind_ == other.kind_; }

  /// Whether it is of this run of a replica, and has not been awaited.
  bool is_of(std::uintptr_t run_id) const noexcept { return bits() == run_id; }
  /// Made outside of all runs, and not awaited.
  bool is_lone() const noexcept { return word_ == nullptr; }
  bool was_awaited() const noexcept { return !is_lone() && bits() % 2 == 0; }

  /// What it finds when it goes on.
  void look_at(merge_result& result) noexcept { word_ = &result; }
  bool looks_at(const merge_result* one) const noexcept { return word_ == one; }
  void look_at(detail::lone_merge& alone) noexcept {
    word_ = pointer(reinterpret_cast<std::uintptr_t>(&alone) + no_result);
  }
  /// The round will not happen: the run's verdict is the answer.
  void refuse() noexcept { word_ = pointer(refused); }
  /// The merge threw.
  void fail() noexcept { word_ = pointer(failed); }

  /// False once it goes on without one.
  bool has_result() const noexcept { return (bits() & no_result) == 0; }
  merge_result& result() const noexcept { return *static_cast<merge_result*>(word_); }
  bool was_refused() const noexcept { return bits() == refused; }
  /// Null if it has none.
  detail::lone_merge* alone() const noexcept {
    if (has_result() || bits() <= failed) return nullptr;
    return reinterpret_cast<detail::lone_merge*>(bits() - no_result);
  }

  /// The barrier fails all waiting replicas of a run together; one alone cannot leave.
  static void stay(wait&) noexcept {}

 private:
  static constexpr std::uintptr_t no_result = 2;  // A bit that no run and no result's address has.
  static constexpr std::uintptr_t refused = no_result;
  static constexpr std::uintptr_t failed = no_result + 4;

  static void* pointer(std::uintptr_t bits) noexcept { return reinterpret_cast<void*>(bits); }
  std::uintptr_t bits() const noexcept { return reinterpret_cast<std::uintptr_t>(word_); }

  /// One word, because a replica makes one at every merge: of which run it is, odd, or zero outside
  /// of all; and from the await on an address, or what there is instead.
  void* word_;
};

/// The requests of one round, in replica order: what its replicas wait for.
class merge_round {
 public:
  merge_round() noexcept = default;
  /// Of one alone.
  explicit merge_round(wait* const& alone) noexcept
      : first_(reinterpret_cast<const std::byte*>(&alone)), size_(1) {}
  /// Of `size`, whose activities lie at equal distances.
  merge_round(const activity& first, std::size_t distance, std::size_t size) noexcept
      : first_(reinterpret_cast<const std::byte*>(&first.waits_for())),
        distance_(distance),
        size_(size) {}

  std::size_t size() const noexcept { return size_; }
  merge_request& operator[](std::size_t i) const noexcept {
    return static_cast<merge_request&>(*at(i));
  }
  merge_request& front() const noexcept { return (*this)[0]; }
  /// Has the memory where the one at `i` is found, and the one at `soon`, brought into the cache.
  [[gnu::always_inline]] void fetch(std::size_t i, std::size_t soon) const noexcept {
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
