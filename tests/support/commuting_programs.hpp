// commuting_programs.hpp - small random programs whose messages commute, and what can be seen of a
// run of one.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::test::commuting {

/// What replicas do to an actor, and to another one through it.
enum class deed : std::uint8_t { count, forward, break_odd, look, look_late, merge };

struct counted {
  using commutes = void;
  explicit counted(int v) : value(v) {}
  int value;
};
struct forwarded {
  using commutes = void;
  explicit forwarded(int v) : value(v) {}
  int value;
};
struct breaking {
  using commutes = void;
  explicit breaking(int v) : value(v) {}
  int value;
};
struct seen {
  using answer_type = int;
  explicit seen(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
struct seen_late {
  using answer_type = int;
  explicit seen_late(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};

struct heard {
  explicit heard(int v) : value(v) {}
  int value;
};
class recorder final : public actor<recorder, heard> {
 public:
  explicit recorder(runtime& on) : actor(on, "recorder") {}
  void on(heard m) { all.push_back(m.value); }
  std::vector<int> all;
};

class middleman final : public actor<middleman, counted, forwarded, breaking, seen, seen_late> {
 public:
  middleman(runtime& on, recorder& next) : actor(on, "middleman"), next_(next) {}
  void on(counted m) { total_ += m.value; }
  void on(forwarded m) { next_.tell(heard(m.value)); }
  void on(breaking m) {
    if (m.value % 2 == 1) throw std::runtime_error("odd");
    total_ += m.value;
  }
  void on(seen m) { m.to.set(total_); }
  task<> on(seen_late m) {
    co_await sleep_for(std::chrono::milliseconds(1));
    m.to.set(total_);
  }
  int state() const { return total_; }

 private:
  recorder& next_;
  int total_ = 0;
};

using deeds = std::vector<std::vector<deed>>;

inline deeds generated(std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(dice() % n); };
  deeds all(2 + below(2));
  for (auto& each : all) {
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      auto what = static_cast<deed>(below(5));
      if (what == deed::break_odd && below(2) == 0) what = deed::count;
      each.push_back(what);
    }
  }
  if (below(3) == 0) {
    for (auto& each : all) each.push_back(deed::merge);
  }
  return all;
}

inline task<> behave(replica_context ctx, const deeds* all, middleman* with, std::string* told) {
  const int id = ctx.replica_id();
  int number = 10 * id;
  for (const deed what : (*all)[static_cast<std::size_t>(id)]) {
    ++number;
    int answer = -1;
    switch (what) {
      case deed::count: with->tell(counted(number)); break;
      case deed::forward: with->tell(forwarded(number)); break;
      case deed::break_odd: with->tell(breaking(number)); break;
      case deed::look: answer = co_await with->ask<seen>(); break;
      case deed::look_late: answer = co_await with->ask<seen_late>(); break;
      case deed::merge: co_await ctx.merge_call([] {}); break;
    }
    if (answer >= 0) *told += "r" + std::to_string(id) + ":" + std::to_string(answer) + " ";
  }
}

inline task<> play(world& w, const deeds* all, std::set<std::string>* outcomes) {
  std::vector<std::string> told(all->size());
  std::string end;
  recorder last(w.runtime());
  {
    middleman with(w.runtime(), last);
    mirrored_strategy strategy(w.runtime(), static_cast<int>(all->size()));
    try {
      co_await strategy.run(
          [](replica_context ctx, const deeds* what, middleman* whom,
             std::vector<std::string>* into) -> task<> {
            return behave(ctx, what, whom, &(*into)[static_cast<std::size_t>(ctx.replica_id())]);
          },
          all, &with, &told);
    } catch (const error& e) {
      end = std::to_string(e.code().value());
    }
    try {
      co_await with.stop();
    } catch (const std::exception& e) {
      end += e.what();
    }
    end += " left " + std::to_string(with.state());
  }
  co_await last.stop();
  for (const auto& each : told) end += " " + each;
  for (const int each : last.all) end += " " + std::to_string(each);
  outcomes->insert(end);
}

}  // namespace troupe::test::commuting
