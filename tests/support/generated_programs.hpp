// generated_programs.hpp - small random programs, and everything that can be seen of a run of one.

#pragma once

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::test {

/// What a replica of such a program does, one thing after the other.
enum class deed : std::uint8_t {
  tell,      ///< Its number to an actor.
  ask,       ///< How much an actor has got; if that is odd, tells it again.
  ask_late,  ///< The same of an actor that takes a millisecond.
  merge,
  sleep,
  look,    ///< At shared memory.
  change,  ///< Shared memory.
  choose,
  fail,
  cancel,  ///< The whole run.
};

struct generated_program {
  struct act {
    deed what;
    std::size_t which;
  };
  std::vector<std::vector<act>> replicas;

  static generated_program make(std::uint64_t seed);
};

inline generated_program generated_program::make(std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(dice() % n); };
  generated_program made;
  made.replicas.resize(2 + below(2));
  // Few replicas merge or fail: most programs would end in the same verdict otherwise.
  const bool merging = below(2) == 0;
  for (auto& acts : made.replicas) {
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      auto what = static_cast<deed>(below(10));
      const bool rare = what == deed::fail || what == deed::cancel;
      if (rare && below(3) != 0) what = deed::tell;
      if (what == deed::merge && !merging) what = deed::ask;
      acts.push_back({what, below(2)});
    }
    if (merging) acts.push_back({deed::merge, 0});
  }
  return made;
}

namespace generated {

struct number {
  explicit number(int v) : value(v) {}
  int value;
};
struct count {
  using answer_type = int;
  explicit count(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};
struct late_count {
  using answer_type = int;
  explicit late_count(reply<int> answer) : to(std::move(answer)) {}
  reply<int> to;
};

/// Keeps what it was told, in order.
class keeper final : public actor<keeper, number, count, late_count> {
 public:
  explicit keeper(runtime& on) : actor(on, "keeper") {}
  void on(number m) { kept.push_back(m.value); }
  void on(count m) { m.to.set(static_cast<int>(kept.size())); }
  task<> on(late_count m) {
    co_await sleep_for(std::chrono::milliseconds(1));
    m.to.set(static_cast<int>(kept.size()));
  }
  std::vector<int> kept;
};

struct stage {
  explicit stage(world& in, std::size_t replicas)
      : w(in), first(in.runtime()), second(in.runtime()), seen(replicas) {}

  keeper& actor(std::size_t which) noexcept { return which == 0 ? first : second; }

  world& w;
  keeper first;
  keeper second;
  sim::shared<int> memory{0};
  asio::cancellation_signal stop;
  std::vector<std::vector<int>> seen;  ///< By each replica.
};

inline task<> act_out(replica_context ctx, const generated_program* program, stage* on) {
  const int self = ctx.replica_id();
  auto& seen = on->seen[static_cast<std::size_t>(self)];
  for (const auto& act : program->replicas[static_cast<std::size_t>(self)]) {
    keeper& with = on->actor(act.which);
    switch (act.what) {
      case deed::tell: with.tell(number(self)); break;
      case deed::ask: {
        seen.push_back(co_await with.ask<count>());
        if (seen.back() % 2 != 0) with.tell(number(self + 10));
        break;
      }
      case deed::ask_late: seen.push_back(co_await with.ask<late_count>()); break;
      case deed::merge: co_await ctx.merge_call([] {}); break;
      case deed::sleep:
        co_await sleep_for(std::chrono::milliseconds(1 + static_cast<int>(act.which)));
        break;
      case deed::look: seen.push_back(on->memory.read()); break;
      case deed::change: on->memory.change([&](int& m) { m = 3 * m + self + 1; }); break;
      case deed::choose: seen.push_back(static_cast<int>(on->w.choose(2))); break;
      case deed::fail: throw self;
      case deed::cancel: on->stop.emit(asio::cancellation_type::terminal); break;
    }
  }
}

inline std::string text_of(const std::vector<int>& numbers) {
  std::string text = "[";
  for (const int n : numbers) text += std::to_string(n) + " ";
  return text + "]";
}

/// Runs the program and notes all that there is to see afterwards.
inline task<> play(world& w, const generated_program* program, std::set<std::string>* outcomes) {
  stage on(w, program->replicas.size());
  std::string how = "ended";
  {
    mirrored_strategy strategy(w.runtime(), static_cast<int>(program->replicas.size()));
    try {
      co_await strategy.async_run(act_out, std::tuple(program, &on),
                                  asio::bind_cancellation_slot(on.stop.slot(), use_task));
    } catch (const std::system_error& told) {
      how = told.code().message();
    } catch (int replica) {
      how = "thrown by " + std::to_string(replica);
    }
  }
  co_await on.first.stop();
  co_await on.second.stop();
  how += " " + text_of(on.first.kept) + text_of(on.second.kept);
  how += std::to_string(on.memory.read());
  for (const auto& each : on.seen) how += text_of(each);
  outcomes->insert(how);
}

}  // namespace generated

}  // namespace troupe::test
