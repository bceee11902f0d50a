// merge_columns.hpp - the arguments of a round, taken as their replicas arrive.
//
// Where a merge's arguments are copied as bytes, each replica puts its own beside those of the
// first one on its line when it arrives: its frame is in the cache then, and needs not be visited a
// second time when all have come. What travels from another thread is the column, not the frames.

#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/actors/merge_request.hpp"
#include "troupe/core/recycling.hpp"
#include "troupe/strategy/merge_function.hpp"
#include "troupe/strategy/structure.hpp"

namespace troupe::detail {

/// Copied as often as one likes, which costs less than another look at the frame.
template <class T>
inline constexpr bool is_small_value = std::is_trivially_copyable_v<T> && sizeof(T) <= 64 &&
                                       alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

/// Whether it can be compared where nothing may throw. Lambdas without captures can.
template <class F>
inline constexpr bool is_compared_quietly = true;
template <std::equality_comparable F>
inline constexpr bool is_compared_quietly<F> =
    noexcept(static_cast<bool>(std::declval<const F&>() == std::declval<const F&>()));

/// Whether a merge of these is taken on arrival.
template <class F, class... Args>
inline constexpr bool taken_on_arrival = sizeof...(Args) <= merge_intake::columns_max &&
                                         (is_small_value<Args> && ...) && is_compared_quietly<F>;

/// Whether it may lie in the intake's own room, where each column is aligned to eight bytes.
template <class T>
inline constexpr bool fits_near = alignof(T) <= alignof(std::uint64_t);

/// Whether there is room for so many values of each argument.
template <class... Args>
bool has_columns(const merge_intake& in, std::size_t rows) noexcept {
  [[maybe_unused]] std::size_t i = 0;
  [[maybe_unused]] const auto fits = [&]<class T>(std::type_identity<T>) {
    const auto& c = in.columns[i++];
    if (!c.values || c.bytes != rows * sizeof(T)) return false;
    return fits_near<T> || !in.is_near(c.values);
  };
  return (fits(std::type_identity<Args>()) && ...);
}

/// Makes it; false if the heap has none. `near`: in the intake itself, as far as they fit.
template <class... Args>
[[gnu::noinline]] bool open_columns(merge_intake& in, std::size_t rows, bool near) noexcept {
  in.drop();
  try {
    [[maybe_unused]] std::size_t i = 0;
    [[maybe_unused]] std::size_t used = 0;
    [[maybe_unused]] const auto open = [&]<class T>(std::type_identity<T>) {
      const std::size_t bytes = rows * sizeof(T);
      auto& c = in.columns[i++];
      c.bytes = bytes;
      if (near && fits_near<T> && used + bytes <= in.room.size()) {
        c.values = &in.room[used];
        used +=
            (bytes + alignof(std::uint64_t) - 1) / alignof(std::uint64_t) * alignof(std::uint64_t);
      } else {
        c.values = recycling_allocate(bytes);
      }
    };
    (open(std::type_identity<Args>()), ...);
    return true;
  } catch (...) {
    return false;  // Then the merge will ask for it, and say so.
  }
}

template <class... Args>
void put_in_columns(merge_intake& in, std::size_t row, const std::tuple<Args...>& args) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (std::construct_at(static_cast<Args*>(in.columns[I].values) + row, std::get<I>(args)), ...);
  }(std::index_sequence_for<Args...>());
}

/// Whether the first ones of all lines mean the same merge. \pre The first line has taken all.
inline bool lines_agree(const merge_site& site) noexcept {
  const merge_intake& mine = *site.taken;
  return std::ranges::all_of(*site.taken_elsewhere, [&](const merge_intake* each) {
    return each->kind == mine.kind && each->function == mine.function &&
           identical(each->at, mine.at);
  });
}

/// Completes the columns of the first line by what the other ones have; false if they do not agree.
template <class... Args>
[[gnu::noinline]] bool join_columns(const merge_site& site) noexcept {
  if (!lines_agree(site)) return false;
  [[maybe_unused]] const auto join = [&]<class T>(std::type_identity<T>, std::size_t column) {
    auto* const into = static_cast<T*>(site.taken->columns[column].values);
    const std::size_t lines = site.taken_elsewhere->size() + 1;
    std::size_t line = 0;
    for (const merge_intake* each : *site.taken_elsewhere) {
      const auto* const from = static_cast<const T*>(each->columns[column].values);
      std::size_t row = 0;
      for (std::size_t i = ++line; i < site.round.size(); i += lines) {
        std::construct_at(into + i, from[row++]);
      }
    }
  };
  [[maybe_unused]] std::size_t column = 0;
  (join(std::type_identity<Args>(), column++), ...);
  return true;
}

/// Whether the first line has what all replicas brought; if not, the frames have to be asked.
template <class... Args>
bool all_have_been_taken(const merge_site& site) noexcept {
  merge_intake& in = *site.taken;
  if (!in.kind) return false;
  if (!site.taken_elsewhere) [[likely]]
    return true;
  if (!join_columns<Args...>(site)) return false;
  in.forget();
  return true;
}

/// What was put there, while a merge function is called: in the same memory.
template <class... Args>
union lent_columns {
  explicit lent_columns(const merge_site& site) noexcept
      : lent_columns(site, std::index_sequence_for<Args...>()) {}
  lent_columns(const lent_columns&) = delete;
  lent_columns& operator=(const lent_columns&) = delete;
  ~lent_columns() {}  // NOLINT(modernize-use-equals-default): see take_back_columns().

  std::tuple<per_replica<Args>...> values;

 private:
  template <std::size_t... I>
  lent_columns(const merge_site& site, std::index_sequence<I...>) noexcept
      : values(per_replica<Args>::from_memory(static_cast<Args*>(site.taken->columns[I].values),
                                              site.round.size())...) {}
};

/// Ends that: the next round fills the same memory, and its first one is compared as all others
/// are, unless the function has kept it.
template <class... Args>
class take_back_columns {
 public:
  take_back_columns(const merge_site& site, lent_columns<Args...>& lent) noexcept
      : round_(site.round), in_(*site.taken), lent_(lent) {}
  take_back_columns(const take_back_columns&) = delete;
  take_back_columns& operator=(const take_back_columns&) = delete;
  ~take_back_columns() {
    const bool all_here = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (std::get<I>(lent_.values).is_memory(in_.columns[I].values, round_.size()) && ...);
    }(std::index_sequence_for<Args...>());
    if (!all_here) [[unlikely]]
      take_what_is_left(in_, round_.size(), lent_);
  }

 private:
  [[gnu::noinline]] static void take_what_is_left(merge_intake& in, std::size_t size,
                                                  lent_columns<Args...>& lent) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((in.columns[I].values = std::get<I>(lent.values).to_memory(size)), ...);
    }(std::index_sequence_for<Args...>());
    std::destroy_at(&lent.values);
    in.forget();
  }

  const merge_round& round_;
  merge_intake& in_;
  lent_columns<Args...>& lent_;
};

/// What the merge function gets: structures of columns, for columns of structures.
template <class... Args>
std::tuple<regrouped_t<Args>...> regroup_columns(std::tuple<per_replica<Args>...>&& from) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<regrouped_t<Args>...>(
        structure<Args>::regroup(std::get<I>(std::move(from)))...);
  }(std::index_sequence_for<Args...>());
}

/// What each replica gets of a merge's result.
template <class T>
struct share_of {
  using type = selected_t<T>;
};
template <>
struct share_of<void> {
  using type = void;
};

/// Why the running replica's merge has no result.
[[noreturn]] void throw_merge_failure(const merge_request& request);

}  // namespace troupe::detail
