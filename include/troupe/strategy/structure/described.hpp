// described.hpp - structs that are structure, because somebody says what their members are.
//
//     struct metrics { float loss; int hits; };
//
//     template <>
//     struct troupe::described<metrics> {
//       static constexpr auto members = std::tuple(&metrics::loss, &metrics::hits);
//     };
//
//     fields<metrics> all = co_await strategy.run(step);       // each replica returns metrics
//     per_replica<float> losses = all.get<&metrics::loss>();
//
// A struct without a description is a leaf.
//
// Guarantees
//   inverse    what is selected from fields<S> is an S again. A member that is not described
//              does not come along: it is as S() has it;
//   typed      where members have other types, as the mean of an int has, it is a fields with
//              those, not an S.

#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "troupe/strategy/structure/parts.hpp"
#include "troupe/strategy/structure/product.hpp"
#include "troupe/strategy/values/per_replica.hpp"
#include "troupe/strategy/values/tensor_traits.hpp"

namespace troupe {

/// To be specialised: `members` is a std::tuple of pointers to S's members.
template <class S>
struct described {};

namespace detail {

template <class S>
concept has_description = requires { described<S>::members; } && !tensor_like<S>;

template <class Pointers>
struct pointed_at;
template <class... Members, class... Owners>
struct pointed_at<std::tuple<Members Owners::*...>> {
  using types = std::tuple<Members...>;
};

/// The types of S's described members, as a tuple.
template <class S>
using members_of = typename pointed_at<std::remove_const_t<decltype(described<S>::members)>>::types;

/// The place of `Member` among the described ones, or their number.
template <class S, auto Member>
constexpr std::size_t place_of_member() noexcept {
  return std::apply(
      [](auto... each) {
        std::size_t place = 0;
        const auto is_other = [&place](auto pointer) {
          if constexpr (std::same_as<decltype(pointer), std::remove_const_t<decltype(Member)>>) {
            if (pointer == Member) return false;
          }
          ++place;
          return true;
        };
        (is_other(each) && ...);
        return place;
      },
      described<S>::members);
}

}  // namespace detail

/// A value for each described member of S: by default what all replicas' members regroup to.
template <class S, class Values = regrouped_t<detail::members_of<S>>>
class fields {
 public:
  explicit fields(Values values) : values_(std::move(values)) {}

  template <auto Member>
  const auto& get() const& noexcept {
    return std::get<place<Member>()>(values_);
  }
  template <auto Member>
  auto& get() & noexcept {
    return std::get<place<Member>()>(values_);
  }
  template <auto Member>
  auto&& get() && noexcept {
    return std::get<place<Member>()>(std::move(values_));
  }

  /// All of them, in the order of the description.
  const Values& values() const& noexcept { return values_; }
  Values& values() & noexcept { return values_; }

  friend bool operator==(const fields&, const fields&) = default;

 private:
  template <auto Member>
  static constexpr std::size_t place() noexcept {
    constexpr std::size_t at = detail::place_of_member<S, Member>();
    static_assert(at < std::tuple_size_v<Values>,
                  "troupe: this is no described member: name it in the members of described<S>");
    return at;
  }

  Values values_;
};

namespace detail {

/// An S of its members' values, or, where their types are not the members', fields.
template <class S, class Values>
auto assemble(Values&& values) {
  if constexpr (std::same_as<Values, members_of<S>>) {
    static_assert(std::default_initializable<S>,
                  "troupe: a described struct is made empty and then filled: give it a default "
                  "constructor");
    S made{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((made.*std::get<I>(described<S>::members) = std::get<I>(std::move(values))), ...);
    }(std::make_index_sequence<std::tuple_size_v<Values>>());
    return made;
  } else {
    return fields<S, Values>(std::move(values));
  }
}

template <class S, class Values>
using assembled = std::conditional_t<std::same_as<Values, members_of<S>>, S, fields<S, Values>>;

template <class S, class Types>
struct described_parts;
template <class S, class... Ts>
struct described_parts<S, std::tuple<Ts...>> {
  using types = std::tuple<Ts...>;
  using regrouped = fields<S>;

  template <class Whole, class Make>
  static auto rebuild(Whole& value, const Make& make)
      -> assembled<S, std::tuple<made_of<Make, Whole, Ts>...>> {
    return std::apply(
        [&](auto... member) {
          return assemble<S>(std::tuple<made_of<Make, Whole, Ts>...>(make(value.*member)...));
        },
        described<S>::members);
  }

  static regrouped regroup(per_replica<S>&& all) {
    per_replica<types> rows;
    rows.reserve(all.size());
    for (S& each : all) {
      std::apply([&](auto... member) { rows.append(std::move(each.*member)...); },
                 described<S>::members);
    }
    return regrouped(structure<types>::regroup(std::move(rows)));
  }
};

template <has_description S>
struct parts<S> : described_parts<S, members_of<S>> {};

template <class S, class... Ts>
struct parts<fields<S, std::tuple<Ts...>>> {
  using whole = fields<S, std::tuple<Ts...>>;
  using types = std::tuple<Ts...>;
  using regrouped = fields<S, regrouped_t<types>>;

  template <class Whole, class Make>
  static auto rebuild(Whole& value, const Make& make)
      -> assembled<S, std::tuple<made_of<Make, Whole, Ts>...>> {
    return assemble<S>(parts<types>::rebuild(value.values(), make));
  }

  static regrouped regroup(per_replica<whole>&& all) {
    per_replica<types> rows;
    rows.reserve(all.size());
    for (whole& each : all) rows.append(std::move(each.values()));
    return regrouped(structure<types>::regroup(std::move(rows)));
  }
};

}  // namespace detail

}  // namespace troupe
