#include "troupe/runtime/schedule.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/outcome.hpp"

namespace troupe::test {
namespace {

constexpr std::string_view shell_safe =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.:-";

/// Numbers of every length, the same in every run of the test.
class numbers {
 public:
  std::uint32_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    const auto bits = static_cast<std::uint32_t>(state_ >> 33);
    return bits >> (bits % 31);
  }

 private:
  std::uint64_t state_ = 1;
};

schedule::party_name random_name(numbers& from) {
  schedule::party_name name;
  name.kind = from.next() % 32;
  name.index = from.next();
  name.life = from.next();
  return name;
}

schedule random_schedule(numbers& from) {
  schedule s;
  s.program = from.next() & 0xffffffu;
  for (std::uint32_t n = from.next() % 8; n > 0; --n) {
    schedule::deviation d;
    // Most schedules name somebody twice.
    const bool again = !s.deviations.empty() && from.next() % 2 == 0;
    d.after = again ? s.deviations.front().then : random_name(from);
    d.own_step = from.next();
    d.then = again ? s.deviations.back().after : random_name(from);
    d.link = from.next() % 3;
    s.deviations.push_back(d);
  }
  return s;
}

TEST_CASE("exact: a schedule read back from its string is the same") {
  numbers from;
  for (int i = 0; i < 10'000; ++i) {
    const schedule s = random_schedule(from);
    REQUIRE(parse_schedule(to_string(s)) == s);
  }
}

TEST_CASE("exact: the largest numbers survive their string") {
  schedule s;
  s.program = 0xffffff;
  const auto most = std::numeric_limits<std::uint32_t>::max();
  schedule::deviation d;
  d.after = {31, most, most};
  d.own_step = most;
  d.then = {31, most - 1, most};
  d.link = most;
  s.deviations.push_back(d);
  CHECK(parse_schedule(to_string(s)) == s);
}

TEST_CASE("shell safe: a schedule's string has letters, digits and four signs only") {
  numbers from;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = to_string(random_schedule(from));
    REQUIRE(text.find_first_not_of(shell_safe) == text.npos);
  }
}

TEST_CASE("exact: a string with one changed character is refused, or is the checked part's own") {
  numbers from;
  schedule s = random_schedule(from);
  while (s.deviations.size() < 3) s = random_schedule(from);
  const std::string good = to_string(s);
  // The fingerprint tells which program it was, nothing that is replayed.
  const std::size_t fingerprint = 4, body = 9;  // After the second ':'.
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at >= fingerprint && at < body - 1) continue;
    for (const char c : shell_safe) {
      if (c == good[at]) continue;
      std::string bad = good;
      bad[at] = c;
      INFO(good << " -> " << bad);
      REQUIRE(is(thrown_by([&] { return parse_schedule(bad); }), errc::invalid_schedule));
    }
  }
}

TEST_CASE("exact: a changed fingerprint changes the schedule or is refused") {
  const schedule s{0x123456, {}};
  const std::string good = to_string(s);
  for (std::size_t at = 4; at < 8; ++at) {
    std::string bad = good;
    bad[at] = bad[at] == 'a' ? 'b' : 'a';
    REQUIRE(parse_schedule(bad) != s);
  }
}

TEST_CASE("exact: a string cut short anywhere is refused") {
  schedule s;
  schedule::deviation d;
  d.after = {5, 100, 0};
  d.own_step = 50;
  d.then = {6, 3, 0};
  s.deviations.assign(4, d);
  const std::string good = to_string(s);
  for (std::size_t length = 0; length < good.size(); ++length) {
    const std::string bad = good.substr(0, length);
    INFO(bad);
    REQUIRE(is(thrown_by([&] { return parse_schedule(bad); }), errc::invalid_schedule));
  }
}

TEST_CASE("exact: a string with one more character is refused") {
  const std::string good = to_string(schedule{});
  for (const char c : shell_safe) {
    const std::string bad = good + c;
    REQUIRE(is(thrown_by([&] { return parse_schedule(bad); }), errc::invalid_schedule));
  }
}

TEST_CASE("exact: a number too large for its field is refused, whatever the checksum") {
  const std::string_view signs = shell_safe.substr(0, 64);
  for (const char a : signs) {
    for (const char b : signs) {
      const std::string bad = std::string("tr1:0000:................1-") + a + b;
      REQUIRE(is(thrown_by([&] { return parse_schedule(bad); }), errc::invalid_schedule));
    }
  }
}

TEST_CASE("exact: a body that ends in the middle of a deviation is refused") {
  const std::string_view signs = shell_safe.substr(0, 64);
  // All bodies of one character: a deviation has more than six bits.
  for (const char body : signs) {
    for (const char a : signs) {
      for (const char b : signs) {
        const std::string bad = std::string("tr1:0000:") + body + '-' + a + b;
        const auto thrown = thrown_by([&] { return parse_schedule(bad); });
        if (!is(thrown, errc::invalid_schedule)) FAIL(bad);
      }
    }
  }
}

TEST_CASE("three deviations between two of 32 actors take at most 16 characters") {
  schedule s;
  const std::uint32_t worker = schedule::kind_of("worker");
  for (std::uint32_t i = 0; i < 3; ++i) {
    schedule::deviation d;
    d.after = {worker, i % 2 == 0 ? 31u : 30u, 0};
    d.own_step = 20 + i;
    d.then = {worker, i % 2 == 0 ? 30u : 31u, 0};
    s.deviations.push_back(d);
  }
  const std::string text = to_string(s);
  INFO(text);
  CHECK(text.rfind('-') - text.rfind(':') - 1 <= 16);
}

TEST_CASE("the kinds of a strategy's parties have numbers of their own") {
  const std::set<std::uint32_t> all{schedule::kind_of("task"), schedule::kind_of("replica"),
                                    schedule::kind_of("barrier"), schedule::kind_of("time")};
  CHECK(all.size() == 4);
  CHECK(*all.begin() >= 1);
  CHECK(*all.rbegin() <= 31);
}

TEST_CASE("a schedule without deviations is the default order") {
  CHECK(parse_schedule(to_string(schedule{})).deviations.empty());
}

TEST_CASE("schedules written by earlier builds are still read") {
  schedule s;
  s.program = 0xabcdef;
  schedule::deviation first;
  first.after = {schedule::kind_of("replica"), 1, 0};
  first.own_step = 1;
  first.then = {schedule::kind_of("barrier"), 0, 2};
  schedule::deviation second;
  second.after = first.then;
  second.own_step = 17;
  second.then = {schedule::kind_of("walker"), 40, 0};
  second.link = 1;
  s.deviations = {first, second};
  CHECK(to_string(s) == "tr1:LTYG:xAA2Bfua9-0C");
  CHECK(parse_schedule("tr1:LTYG:xAA2Bfua9-0C") == s);
}

}  // namespace
}  // namespace troupe::test
