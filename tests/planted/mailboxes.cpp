// Bugs of what a library makes of messages: barriers, buffers, caches, stopping.

#include <chrono>
#include <deque>

#include "tests/planted/planted.hpp"

namespace troupe::planted {
namespace {

// -- the order of two messages by two ways --------------------------------------------------------

struct forward {};

/// Tells `to` what it was sent to tell.
class relay final : public actor<relay, forward> {
 public:
  relay(runtime& on, cell* to) : actor(on, "relay"), to_(to) {}
  void on(forward) { to_->tell(put(2)); }

 private:
  cell* to_;
};

task<> overtaken(stage& w) {
  cell target(w.runtime());
  relay way(w.runtime(), &target);
  target.tell(put(1));
  way.tell(forward());  // Which comes by another way, and may overtake the first.
  co_await sleep_for(std::chrono::milliseconds(1));
  const int last = co_await target.ask<get>();
  w.check(last == 2, "what was sent last is what stays");
}

// -- a barrier that does not heed who comes while it lets the others go ---------------------------

struct arrive {
  using answer_type = int;
  explicit arrive(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
struct let_go {};

class leaky_barrier final : public actor<leaky_barrier, arrive, let_go> {
 public:
  leaky_barrier(runtime& on, std::size_t everybody) : actor(on, "barrier"), all_(everybody) {}
  void on(arrive m) {
    waiting_.push_back(std::move(m));
    if (waiting_.size() == all_) tell(let_go());
  }
  void on(let_go) {
    if (waiting_.empty()) return;
    waiting_.front().to.set(1);
    waiting_.pop_front();
    // One at a time; whoever arrives again meanwhile is let go with them.
    tell(let_go());
  }

 private:
  std::size_t all_;
  std::deque<arrive> waiting_;
};

task<> two_rounds(leaky_barrier* barrier, int* inside, int* most_ahead, int* other) {
  for (int round = 0; round < 2; ++round) {
    co_await barrier->ask<arrive>();
    ++*inside;
    if (*inside - *other > *most_ahead) *most_ahead = *inside - *other;
  }
}
task<> barrier_lets_one_through_twice(stage& w) {
  leaky_barrier barrier(w.runtime(), 2);
  int a = 0;
  int b = 0;
  int ahead = 0;
  co_await together(two_rounds(&barrier, &a, &ahead, &b), two_rounds(&barrier, &b, &ahead, &a));
  w.check(ahead < 2, "nobody is two rounds ahead");
}

// -- a buffer with room for three -----------------------------------------------------------------

struct produce {};
struct consume {};

class small_buffer final : public actor<small_buffer, produce, consume> {
 public:
  explicit small_buffer(runtime& on) : actor(on, "buffer") {}
  void on(produce) {
    if (held_ == 3) ++lost;
    held_ += held_ < 3 ? 1 : 0;
  }
  void on(consume) { held_ -= held_ > 0 ? 1 : 0; }
  int lost = 0;

 private:
  int held_ = 0;
};

task<> producer(small_buffer* to, cell* pace) {
  for (int i = 0; i < 2; ++i) {
    to->tell(produce());
    static_cast<void>(co_await pace->ask<get>());
    to->tell(consume());
  }
}
task<> buffer_overflows(stage& w) {
  small_buffer buffer(w.runtime());
  cell pace(w.runtime());
  std::vector<task<>> all;
  for (int i = 0; i < 4; ++i) all.push_back(producer(&buffer, &pace));
  co_await when_all(std::move(all));
  co_await buffer.stop();
  w.check(buffer.lost == 0, "nothing is lost");
}

// -- a stop that comes before the question --------------------------------------------------------

task<> ask_late(cell* from, int* got) {
  try {
    *got = co_await from->ask<get>();
  } catch (const error&) {
    *got = -1;
  }
}
task<> stop(cell* which) { co_await which->stop(); }
task<> stopped_before_it_answers(stage& w) {
  cell target(w.runtime(), 7);
  int got = 0;
  co_await together(ask_late(&target, &got), stop(&target));
  w.check(got == 7, "whoever asks is answered");
}

// -- a handler that is entered again --------------------------------------------------------------

struct load_cache {
  int loads = 0;
  bool loaded = false;
};

task<> use(load_cache* cache, cell* store, cell* before) {
  static_cast<void>(co_await before->ask<get>());
  if (!cache->loaded) {
    static_cast<void>(co_await store->ask<get>());  // Others run meanwhile.
    cache->loaded = true;
    ++cache->loads;
  }
}
task<> loaded_twice(stage& w) {
  cell store(w.runtime());
  cell before(w.runtime());
  load_cache cache;
  co_await together(use(&cache, &store, &before), use(&cache, &store, &before));
  w.check(cache.loads == 1, "it is loaded once");
}

// -- two parties that must not take turns --------------------------------------------------

task<> take_turns(cell* clock, std::vector<int>* turns, int who, int times) {
  for (int i = 0; i < times; ++i) {
    turns->push_back(who);
    static_cast<void>(co_await clock->ask<get>());
  }
}
task<> strict_turns(stage& w) {
  cell clock(w.runtime());
  std::vector<int> turns;
  co_await together(take_turns(&clock, &turns, 1, 3), take_turns(&clock, &turns, 2, 2));
  w.check(turns != std::vector<int>({1, 2, 1, 2, 1}), "not strictly in turn");
}

// -- five letters in one order --------------------------------------------------------------------

class reader final : public actor<reader, put> {
 public:
  explicit reader(runtime& on) : actor(on, "reader") {}
  void on(put m) { read.push_back(m.value); }
  std::vector<int> read;
};

task<> write_letter(reader* to, int letter) {
  to->tell(put(letter));
  co_return;
}
task<> five_letters(stage& w) {
  reader postbox(w.runtime());
  std::vector<task<>> all;
  for (int i = 0; i < 5; ++i) all.push_back(write_letter(&postbox, i));
  co_await when_all(std::move(all));
  co_await postbox.stop();
  w.check(postbox.read != std::vector<int>({2, 0, 4, 1, 3}), "read in any order but this");
}

}  // namespace

bugs of_mailboxes() {
  return {{"mailbox: overtaken by another way", 1, overtaken},
          {"mailbox: a barrier lets one through twice", 3, barrier_lets_one_through_twice},
          {"mailbox: a buffer of three overflows", 3, buffer_overflows},
          {"mailbox: stopped before it answers", 1, stopped_before_it_answers},
          {"mailbox: a cache is loaded twice", 2, loaded_twice},
          {"mailbox: strictly in turn, five times", 4, strict_turns},
          {"mailbox: five letters in one order", 4, five_letters, 2'000}};
}

}  // namespace troupe::planted
