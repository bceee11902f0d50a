// Bugs of programs that share state through actors.

#include "tests/planted/planted.hpp"

namespace troupe::planted {
namespace {

task<> add_one(cell* counter) {
  const int before = co_await counter->ask<get>();
  counter->tell(put(before + 1));
}
task<> lost_update(stage& w) {
  cell counter(w.runtime());
  co_await together(add_one(&counter), add_one(&counter));
  const int after = co_await counter.ask<get>();
  w.check(after == 2, "both count");
}
task<> two_of_three_lost(stage& w) {
  cell counter(w.runtime());
  co_await together(add_one(&counter), add_one(&counter), add_one(&counter));
  const int after = co_await counter.ask<get>();
  w.check(after > 1, "at most one is lost");
}

task<> take_seat(cell* taken, int* seated) {
  const int before = co_await taken->ask<get>();
  if (before != 0) co_return;
  taken->tell(put(1));
  ++*seated;
}
task<> check_then_act(stage& w) {
  cell taken(w.runtime());
  int seated = 0;
  co_await together(take_seat(&taken, &seated), take_seat(&taken, &seated));
  w.check(seated == 1, "one seat, one guest");
}

task<> debit_then_credit(cell* from, cell* to) {
  from->tell(put(0));
  const int had = co_await to->ask<get>();
  to->tell(put(had + 100));
}
task<> audit(cell* from, cell* to, int* total) {
  *total = co_await from->ask<get>();
  *total += co_await to->ask<get>();
}
task<> audit_beside_a_transfer(stage& w) {
  cell from(w.runtime(), 100);
  cell to(w.runtime());
  int total = 0;
  co_await together(debit_then_credit(&from, &to), audit(&from, &to, &total));
  w.check(total == 100, "no money is made or lost");
}

struct take {
  using answer_type = int;
  explicit take(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
struct give {};

class fork final : public actor<fork, take, give> {
 public:
  explicit fork(runtime& on) : actor(on, "fork") {}
  void on(take m) {
    if (taken_) {
      waiting_.push_back(std::move(m));
    } else {
      taken_ = true;
      m.to.set(1);
    }
  }
  void on(give) {
    taken_ = !waiting_.empty();
    if (!taken_) return;
    waiting_.back().to.set(1);
    waiting_.pop_back();
  }

 private:
  bool taken_ = false;
  std::vector<take> waiting_;
};

task<> eat(fork* first, fork* second) {
  co_await first->ask<take>();
  co_await second->ask<take>();
  first->tell(give());
  second->tell(give());
}
task<> forks_in_two_orders(stage& w) {
  fork left(w.runtime());
  fork right(w.runtime());
  co_await together(eat(&left, &right), eat(&right, &left));
}
task<> forks_in_a_circle(stage& w) {
  fork a(w.runtime());
  fork b(w.runtime());
  fork c(w.runtime());
  co_await together(eat(&a, &b), eat(&b, &c), eat(&c, &a));
}

task<> compare_and_set(cell* value, bool* touched, bool* fooled) {
  const int before = co_await value->ask<get>();
  *touched = false;
  const int after = co_await value->ask<get>();
  if (before == after && *touched) *fooled = true;
}
task<> set_and_set_back(cell* value, bool* touched) {
  for (const int v : {1, 0}) {
    value->tell(put(v));
    static_cast<void>(co_await value->ask<get>());
  }
  *touched = true;
}
task<> same_again(stage& w) {
  cell value(w.runtime());
  bool touched = false;
  bool fooled = false;
  co_await together(compare_and_set(&value, &touched, &fooled), set_and_set_back(&value, &touched));
  w.check(!fooled, "equal values mean that nobody wrote");
}

task<> write_pair(cell* a, cell* b, int value) {
  a->tell(put(value));
  b->tell(put(value));
  co_return;
}
task<> torn_pair(stage& w) {
  cell a(w.runtime());
  cell b(w.runtime());
  co_await together(write_pair(&a, &b, 1), write_pair(&a, &b, 2));
  const int of_a = co_await a.ask<get>();
  const int of_b = co_await b.ask<get>();
  w.check(of_a == of_b, "the pair is of one writer");
}

}  // namespace

bugs of_actors() {
  return {{"actor: an update is lost", 2, lost_update},
          {"actor: two updates of three are lost", 3, two_of_three_lost},
          {"actor: checks, then acts", 2, check_then_act},
          {"actor: audits in the middle of a transfer", 2, audit_beside_a_transfer},
          {"actor: two forks in two orders", 2, forks_in_two_orders},
          {"actor: three forks in a circle", 3, forks_in_a_circle},
          {"actor: the same value again", 3, same_again},
          {"actor: a pair of two writers", 2, torn_pair}};
}

}  // namespace troupe::planted
