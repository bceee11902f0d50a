// Bugs of timers: deadlines that meet what they wait for.

#include <chrono>

#include "tests/planted/planted.hpp"

namespace troupe::planted {
namespace {

using std::chrono::milliseconds;

task<> note_after(milliseconds delay, std::vector<int>* order, int who) {
  co_await sleep_for(delay);
  order->push_back(who);
}
/// Somebody else has stepped before the others wake: then the default order is by their numbers.
task<> step_at(milliseconds when) { co_await sleep_for(when); }

task<> equal_deadlines(stage& w) {
  std::vector<int> order;
  co_await together(note_after(milliseconds(5), &order, 1), note_after(milliseconds(5), &order, 2),
                    step_at(milliseconds(1)));
  w.check(order.front() == 1, "who slept first wakes first");
}
task<> three_equal_deadlines(stage& w) {
  std::vector<int> order;
  co_await together(note_after(milliseconds(5), &order, 1), note_after(milliseconds(5), &order, 2),
                    note_after(milliseconds(5), &order, 3));
  w.check(order != std::vector<int>({3, 2, 1}), "not the other way round");
}

// The answer and the time limit come at one time; both count.
task<> answer_in_time(int* results) {
  co_await sleep_for(milliseconds(10));
  ++*results;
}
task<> time_limit(int* results) {
  co_await sleep_for(milliseconds(10));
  if (*results == 0) ++*results;
}
task<> answered_and_timed_out(stage& w) {
  int results = 0;
  co_await together(answer_in_time(&results), time_limit(&results), step_at(milliseconds(1)));
  w.check(results == 1, "one result");
}

// The expiry is under way when the watchdog is patted.
struct pat {};
struct expired {
  explicit expired(int n) : pats(n) {}
  int pats;
};
class watchdog final : public actor<watchdog, pat, expired> {
 public:
  explicit watchdog(runtime& on) : actor(on, "watchdog") {}
  void on(pat) { fresh_ = true; }
  void on(expired) {
    barked = barked || !fresh_;
    fresh_ = false;
  }
  bool barked = false;

 private:
  bool fresh_ = false;
};
task<> pat_regularly(watchdog* dog) {
  for (int i = 0; i < 3; ++i) {
    dog->tell(pat());
    co_await sleep_for(milliseconds(10));
  }
}
task<> let_expire(watchdog* dog) {
  for (int i = 0; i < 2; ++i) {
    co_await sleep_for(milliseconds(10));
    dog->tell(expired(i));
  }
}
task<> barks_though_patted(stage& w) {
  watchdog dog(w.runtime());
  co_await together(pat_regularly(&dog), let_expire(&dog));
  co_await dog.stop();
  w.check(!dog.barked, "a watchdog that is patted in time is quiet");
}

// A lease runs out in the moment in which it is renewed.
struct lease {
  int holder = 0;
  int until = 0;
};
task<> renew(lease* held, int* now) {
  for (int i = 1; i <= 3; ++i) {
    co_await sleep_for(milliseconds(10));
    *now = 10 * i;
    if (held->holder == 0) held->until = 10 * (i + 1);
  }
}
task<> steal_when_over(lease* held, int* stolen) {
  for (int i = 1; i <= 3; ++i) {
    co_await sleep_for(milliseconds(10));
    if (held->until <= 10 * i) ++*stolen;
  }
}
task<> lease_runs_out(stage& w) {
  lease held;
  held.until = 10;
  int now = 0;
  int stolen = 0;
  co_await together(renew(&held, &now), steal_when_over(&held, &stolen), step_at(milliseconds(1)));
  w.check(stolen < 2, "a renewed lease is not stolen twice");
}

// The request is repeated in the moment in which its answer comes.
task<> send_request(int* sent, bool* answered) {
  ++*sent;
  co_await sleep_for(milliseconds(4));
  *answered = true;
}
task<> repeat(int* sent, const bool* answered) {
  for (int i = 0; i < 2; ++i) {
    co_await sleep_for(milliseconds(2));
    if (i == 1 && !*answered) ++*sent;
  }
}
task<> sent_twice(stage& w) {
  int sent = 0;
  bool answered = false;
  co_await together(send_request(&sent, &answered), repeat(&sent, &answered),
                    step_at(milliseconds(3)));
  w.check(sent == 1, "an answered request is not repeated");
}

// One reads the counter in the moment in which the other writes it.
task<> add_slowly(milliseconds start, int* counter) {
  co_await sleep_for(start);
  const int before = *counter;
  co_await sleep_for(milliseconds(1));
  *counter = before + 1;
}
task<> lost_in_one_moment(stage& w) {
  int counter = 0;
  co_await together(add_slowly(milliseconds(1), &counter), add_slowly(milliseconds(2), &counter));
  w.check(counter == 2, "both count");
}

}  // namespace

bugs of_timers() {
  return {{"timer: equal deadlines", 1, equal_deadlines},
          {"timer: one order of three equal deadlines", 2, three_equal_deadlines},
          {"timer: answered and timed out", 1, answered_and_timed_out},
          {"timer: a watchdog barks though patted", 2, barks_though_patted},
          {"timer: a lease runs out twice", 2, lease_runs_out},
          {"timer: sent again when answered", 1, sent_twice},
          {"timer: an update is lost in one moment", 1, lost_in_one_moment}};
}

}  // namespace troupe::planted
