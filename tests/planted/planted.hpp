// planted.hpp - small programs that hold in the default order and have one bug of order each.

#pragma once

#include <cstdint>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::planted {

struct bug {
  const char* name;
  simulation::program body;
  std::uint64_t budget = 500;  ///< It is found within so many runs.
};
using bugs = std::vector<bug>;

bugs of_merges();
bugs of_actors();
bugs of_mailboxes();
bugs of_variables();
bugs of_cancellation();
bugs of_timers();

// -- what the programs are made of ---------------------------------------------------------------

struct get {
  using answer_type = int;
  explicit get(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
struct put {
  explicit put(int v) : value(v) {}
  int value;
};

/// A value with a mailbox in front of it.
class cell final : public actor<cell, get, put> {
 public:
  explicit cell(runtime& on, int value = 0) : actor(on, "cell"), value_(value) {}
  void on(get m) { m.to.set(value_); }
  void on(put m) { value_ = m.value; }

 private:
  int value_;
};

/// Runs both to their ends, in every order of their steps.
inline task<> together(task<> a, task<> b) {
  std::vector<task<>> all;
  all.push_back(std::move(a));
  all.push_back(std::move(b));
  co_await when_all(std::move(all));
}
inline task<> together(task<> a, task<> b, task<> c) {
  std::vector<task<>> all;
  all.push_back(std::move(a));
  all.push_back(std::move(b));
  all.push_back(std::move(c));
  co_await when_all(std::move(all));
}

}  // namespace troupe::planted
