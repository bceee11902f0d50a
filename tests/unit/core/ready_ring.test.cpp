// What is ready on a line is taken in the order of posting, however it is stored.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <utility>

#include "troupe/core/event.hpp"

namespace troupe::test {
namespace {

using detail::ready_entry;
using detail::ready_ring;

/// Writes its letter, and posts something once, or drops all that is ready.
struct letter final : event {
  letter() noexcept : event(&letter::write, nobody) {}

  static void write(event& self, turn) noexcept {
    auto& me = static_cast<letter&>(self);
    *me.text += me.what;
    const ready_entry next = std::exchange(me.posts, ready_entry());
    if (next) me.ring->push(next);
    if (!me.drops_all) return;
    me.ring->end();
    while (me.ring->pop()) {
    }
  }

  static inline const party nobody{.kind = "letter"};
  std::string* text = nullptr;
  ready_ring* ring = nullptr;
  char what = '?';
  ready_entry posts;
  bool drops_all = false;
};

/// A row's steps, as replicas take them.
std::size_t take_row(ready_ring& from, std::size_t most) noexcept {
  event_row part = from.take_row(most);
  do {
    part.take_front().step();
  } while (!part.empty() && !from.ended());
  return most;
}
std::size_t take_other_row(ready_ring& from, std::size_t most) noexcept {
  from.row().take_front().step();
  return most - 1;
}

struct fixture {
  fixture() {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      letters[i].what = static_cast<char>('a' + i);
      letters[i].text = &text;
      letters[i].ring = &ring;
    }
  }

  event_row row(std::size_t from, std::size_t count, event_row::step_function steps = take_row) {
    return event_row(letters[from], sizeof(letter), count, steps);
  }
  void push(std::size_t i) { ring.push(ready_entry(letters[i])); }
  void posts(std::size_t i, ready_entry what) { letters[i].posts = what; }

  std::string text;
  ready_ring ring;
  std::array<letter, 8> letters;
};

TEST_CASE_METHOD(fixture, "events and rows are taken in the order of posting") {
  const event_row first = row(1, 2);
  const event_row second = row(4, 3);
  push(0);
  ring.push(ready_entry(first));
  push(3);
  ring.push(ready_entry(second));
  push(7);
  CHECK(ring.take_steps(100) == 92);
  CHECK(text == "abcdefgh");
  CHECK(ring.empty());
}

TEST_CASE_METHOD(fixture, "an event that a row posts comes before the row that the event posts") {
  const event_row all = row(0, 3);
  ring.push(ready_entry(all));
  posts(2, ready_entry(letters[7]));
  posts(7, ready_entry(all));
  CHECK(ring.take_steps(100) == 93);
  CHECK(text == "abchabc");
}

TEST_CASE_METHOD(fixture, "what waits comes before a row that goes on") {
  const event_row all = row(0, 2);
  ring.push(ready_entry(all));
  push(5);                            // Waits from the beginning.
  posts(1, ready_entry(letters[7]));  // Meanwhile something else comes, too.
  posts(7, ready_entry(all));
  posts(5, ready_entry(letters[6]));
  CHECK(ring.take_steps(100) == 93);
  CHECK(text == "abfhgab");
}

TEST_CASE_METHOD(fixture, "a row that goes on takes no more steps than it may") {
  const event_row all = row(0, 2);
  for (std::size_t most = 1; most < 12; ++most) {
    text.clear();
    posts(1, ready_entry(letters[7]));
    posts(7, ready_entry(all));
    ring.push(ready_entry(all));
    CHECK(ring.take_steps(most) == (most > 5 ? most - 5 : 0));
    CHECK(text == std::string("abhab").substr(0, most));
    while (event* const left = ring.pop()) left->step();
    CHECK(text == "abhab");
  }
}

TEST_CASE_METHOD(fixture, "a row of another kind is taken by its own function") {
  const event_row others = row(3, 2, take_other_row);
  const event_row all = row(0, 2);
  ring.push(ready_entry(all));
  posts(1, ready_entry(letters[7]));
  posts(7, ready_entry(others));
  CHECK(ring.take_steps(100) == 95);
  CHECK(text == "abhde");
}

TEST_CASE_METHOD(fixture, "a row that loses its rest in a step takes no more") {
  const event_row all = row(0, 3);
  ring.push(ready_entry(all));
  push(7);
  letters[1].drops_all = true;
  CHECK(ring.take_steps(100) == 97);  // A row counts whole.
  CHECK(text == "ab");
  CHECK(ring.empty());
}

TEST_CASE_METHOD(fixture, "a row that is longer than what may be taken goes on where it was left") {
  const event_row all = row(0, 5);
  ring.push(ready_entry(all));
  push(7);
  CHECK(ring.take_steps(2) == 0);
  CHECK(text == "ab");
  CHECK_FALSE(ring.empty());
  CHECK(ring.take_steps(4) == 0);
  CHECK(text == "abcde");
  CHECK(ring.take_steps(1) == 0);
  CHECK(text == "abcdeh");
  CHECK(ring.empty());
}

}  // namespace
}  // namespace troupe::test
