// inverse: select(i, regroup(values)) is values[i], for nests that nobody chose.
//
// The types are drawn while this is compiled, the values when it runs, both from fixed seeds.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <troupe/strategy/structure.hpp>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::test {

/// A struct of any two types, described once for all of them.
template <class A, class B>
struct described_pair {
  A a{};
  B b{};

  friend bool operator==(const described_pair&, const described_pair&) = default;
};

}  // namespace troupe::test

template <class A, class B>
struct troupe::described<troupe::test::described_pair<A, B>> {
  using owner = test::described_pair<A, B>;
  static constexpr auto members = std::tuple(&owner::a, &owner::b);
};

namespace troupe::test {
namespace {

// -- types ----------------------------------------------------------------------------------------

constexpr std::uint32_t scramble(std::uint32_t x) noexcept {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

template <std::uint32_t Kind>
struct leaf;
template <>
struct leaf<0> : std::type_identity<int> {};
template <>
struct leaf<1> : std::type_identity<std::string> {};
template <>
struct leaf<2> : std::type_identity<std::vector<int>> {};
template <>
struct leaf<3> : std::type_identity<std::optional<std::string>> {};

template <std::uint32_t Kind, class A, class B>
struct kind;
template <class A, class B>
struct kind<0, A, B> : std::type_identity<std::tuple<A, B, A>> {};
template <class A, class B>
struct kind<1, A, B> : std::type_identity<std::pair<B, A>> {};
template <class A, class B>
struct kind<2, A, B> : std::type_identity<std::vector<A>> {};
template <class A, class B>
struct kind<3, A, B> : std::type_identity<std::array<A, 2>> {};
template <class A, class B>
struct kind<4, A, B> : std::type_identity<std::map<int, A>> {};
template <class A, class B>
struct kind<5, A, B> : std::type_identity<std::unordered_map<std::string, B>> {};
template <class A, class B>
struct kind<6, A, B> : std::type_identity<described_pair<A, B>> {};

/// A nest of this depth, as the seed has it.
template <std::uint32_t Seed, int Depth>
struct drawn : kind<scramble(Seed) % 7, typename drawn<scramble(Seed + 1), Depth - 1>::type,
                    typename drawn<scramble(Seed + 2), Depth - 1>::type> {};
template <std::uint32_t Seed>
struct drawn<Seed, 0> : leaf<scramble(Seed) % 4> {};

// -- values ---------------------------------------------------------------------------------------

/// Two streams: that of the sizes begins anew for each replica.
struct dice {
  std::mt19937 sizes, values;

  std::size_t size() { return sizes() % 4; }
  int value() { return static_cast<int>(values() % 1000); }
};

void fill(dice& d, int& to) { to = d.value(); }
void fill(dice& d, std::string& to) { to = std::to_string(d.value()); }
void fill(dice& d, std::vector<int>& to) {
  to.resize(static_cast<std::size_t>(d.value() % 4));  // A leaf: its size is its own.
  for (int& each : to) each = d.value();
}
void fill(dice& d, std::optional<std::string>& to) {
  if (d.value() % 2 == 0) fill(d, to.emplace());
}

template <class... Ts>
void fill(dice& d, std::tuple<Ts...>& to);
template <class A, class B>
void fill(dice& d, std::pair<A, B>& to);
template <class T>
void fill(dice& d, std::vector<T>& to);
template <class T>
void fill(dice& d, std::array<T, 2>& to);
template <class T>
void fill(dice& d, std::map<int, T>& to);
template <class T>
void fill(dice& d, std::unordered_map<std::string, T>& to);
template <class A, class B>
void fill(dice& d, described_pair<A, B>& to);

template <class... Ts>
void fill(dice& d, std::tuple<Ts...>& to) {
  std::apply([&](auto&... each) { (fill(d, each), ...); }, to);
}
template <class A, class B>
void fill(dice& d, std::pair<A, B>& to) {
  fill(d, to.first);
  fill(d, to.second);
}
template <class T>
void fill(dice& d, std::vector<T>& to) {
  to.resize(d.size());
  for (T& each : to) fill(d, each);
}
template <class T>
void fill(dice& d, std::array<T, 2>& to) {
  for (T& each : to) fill(d, each);
}
template <class T>
void fill(dice& d, std::map<int, T>& to) {
  const std::size_t size = d.size();
  for (std::size_t i = 0; i < size; ++i) fill(d, to[static_cast<int>(i)]);
}
template <class T>
void fill(dice& d, std::unordered_map<std::string, T>& to) {
  const std::size_t size = d.size();
  for (std::size_t i = 0; i < size; ++i) fill(d, to[std::to_string(i)]);
}
template <class A, class B>
void fill(dice& d, described_pair<A, B>& to) {
  fill(d, to.a);
  fill(d, to.b);
}

// -- inverse --------------------------------------------------------------------------------------

template <class T>
bool comes_back(std::uint32_t seed) {
  dice d{std::mt19937(seed), std::mt19937(seed + 1)};
  std::vector<T> rows(1 + seed % 4);
  for (T& each : rows) {
    d.sizes.seed(seed);
    fill(d, each);
  }
  auto whole = regroup(per_replica<T>(rows.begin(), rows.end()));
  bool good = std::is_same_v<selected_t<decltype(whole)>, T>;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    good = good && select_replica(i, whole) == rows[i];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    good = good && structure<decltype(whole)>::take(i, whole) == rows[i];
  }
  return good;
}

template <int Depth, std::uint32_t Seed>
void check_nest() {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    INFO("nest " << Seed << " of depth " << Depth << ", values " << seed);
    CHECK(comes_back<typename drawn<Seed, Depth>::type>(seed));
  }
}

template <int Depth, std::uint32_t... Seeds>
void check_nests(std::integer_sequence<std::uint32_t, Seeds...>) {
  (check_nest<Depth, Seeds>(), ...);
}

TEST_CASE("inverse: random structures of leaves come back") {
  check_nests<1>(std::make_integer_sequence<std::uint32_t, 30>());
}

TEST_CASE("inverse: random structures of structures come back") {
  check_nests<2>(std::make_integer_sequence<std::uint32_t, 30>());
}

TEST_CASE("inverse: random nests three levels deep come back") {
  check_nests<3>(std::make_integer_sequence<std::uint32_t, 12>());
}

}  // namespace
}  // namespace troupe::test
