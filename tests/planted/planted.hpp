// planted.hpp - small programs with one bug of order each, which hold in the default order.
//
// They run on a stage, simulated or live. Their own parties share memory only where it may be
// shared on threads as well: what is planted is an order, not a data race.

#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::planted {

/// What a program needs of its world; on threads, choices are drawn.
class stage {
 public:
  explicit stage(world& simulated) : simulated_(&simulated), runtime_(simulated.runtime()) {}
  stage(troupe::runtime& live, std::uint64_t seed) : runtime_(live), drawn_(seed) {}

  troupe::runtime& runtime() noexcept { return runtime_; }

  /// One of 0 … n - 1.
  std::uint32_t choose(std::uint32_t n);

  /// \throws check_failed unless `holds`.
  void check(bool holds, std::string_view claim, place at = place::current());

 private:
  world* simulated_ = nullptr;
  troupe::runtime& runtime_;
  std::uint64_t drawn_ = 0;
};

using program = task<> (*)(stage&);

struct bug {
  const char* name;
  int depth;  ///< How many pairs of steps have to come in one order for it to show.
  program body;
  std::uint64_t budget = 500;  ///< It is found within so many runs.
  int mutant = 0;              ///< The change to the library that it needs; 0: none.
};
using bugs = std::vector<bug>;

bugs of_merges();
bugs of_actors();
bugs of_mailboxes();
bugs of_variables();
bugs of_cancellation();
bugs of_timers();
bugs of_graphs();

/// All of these.
bugs programs();

/// Changes to the library, each with a program that shows it; where they are compiled in.
bugs of_mutants();

/// The number of the change in force.
extern int active;

/// The program of this name. \pre There is one.
program named(std::string_view name);

simulation::program simulated(program body);

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

/// Who was there, in the order of coming.
class notes {
 public:
  void add(int who) {
    const std::lock_guard lock(mutex_);
    all_.push_back(who);
  }
  /// \pre Nobody adds.
  const std::vector<int>& all() const noexcept { return all_; }

 private:
  std::mutex mutex_;
  std::vector<int> all_;
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
