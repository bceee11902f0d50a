// Letters to an actor that is busy, fails or is stopped.

#include <algorithm>
#include <chrono>

#include "tests/planted/mutants/programs.hpp"

namespace troupe::planted {

namespace {

/// Reads numbers. Number 1 takes it a while; a negative one it cannot bear.
class slow_reader final : public actor<slow_reader, put> {
 public:
  slow_reader(runtime& on, cell* pace) : actor(on, "reader"), pace_(pace) {}
  task<> on(put m) {
    if (m.value == 1) static_cast<void>(co_await pace_->ask<get>());
    read.add(m.value);
    if (m.value < 0) throw own_failure();
  }
  notes read;

 private:
  cell* pace_;
};

task<> tell_one(slow_reader* to, int what) {
  to->tell(put(what));
  co_return;
}
task<> stop_it(slow_reader* which) { co_await which->stop(); }

}  // namespace

task<> letters_in_order(stage& w) {
  cell pace(w.runtime());
  slow_reader postbox(w.runtime(), &pace);
  for (int i = 1; i <= 4; ++i) {
    postbox.tell(put(i));
    // In the default order each is read before the next one is sent.
    static_cast<void>(co_await pace.ask<get>());
    if (w.choose(2) == 0) co_await sleep_for(std::chrono::microseconds(1));
  }
  co_await postbox.stop();
  w.check(postbox.read.all() == std::vector<int>({1, 2, 3, 4}), "read in the order of sending");
}

task<> mail_before_stop(stage& w) {
  cell pace(w.runtime());
  slow_reader postbox(w.runtime(), &pace);
  postbox.tell(put(2));
  if (w.choose(2) == 0) co_await sleep_for(std::chrono::microseconds(1));
  co_await postbox.stop();
  w.check(postbox.read.all() == std::vector<int>({2}), "what was sent before is read");
}

namespace {

task<> stop_and_count(slow_reader* which, std::size_t* count) {
  co_await which->stop();
  *count = which->read.all().size();
}

}  // namespace

task<> mail_after_stop(stage& w) {
  cell pace(w.runtime());
  slow_reader postbox(w.runtime(), &pace);
  std::size_t before = 0;
  co_await together(tell_one(&postbox, 2), stop_and_count(&postbox, &before));
  co_await sleep_for(std::chrono::milliseconds(1));
  w.check(postbox.read.all().size() == before, "what is stopped reads no more");
}

task<> mail_after_a_failure(stage& w) {
  cell pace(w.runtime());
  slow_reader postbox(w.runtime(), &pace);
  co_await together(tell_one(&postbox, 2), tell_one(&postbox, -1));
  const auto thrown = co_await thrown_by(stop_it(&postbox));
  // The stop may have come before the letter that cannot be borne.
  const std::vector<int>& read = postbox.read.all();
  const bool failed = std::find(read.begin(), read.end(), -1) != read.end();
  w.check(is_own(thrown) == failed, "stop() throws what the handler threw");
  w.check(!failed || read.back() == -1, "what has failed reads no more");
}

namespace {

task<> ask_perhaps_late(cell* from, int* got) {
  try {
    *got = co_await from->ask<get>();
  } catch (const error& e) {
    *got = e.code() == errc::broken_reply ? -1 : 0;
  }
}
task<> stop_cell(cell* which) { co_await which->stop(); }

}  // namespace

task<> question_to_the_stopped(stage& w) {
  cell target(w.runtime(), 7);
  int got = 0;
  co_await together(ask_perhaps_late(&target, &got), stop_cell(&target));
  w.check(got == 7 || got == -1, "answered, or told that it is not");
}

}  // namespace troupe::planted
