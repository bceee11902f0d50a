// simulation_options::draw: each way draws what its name says.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <troupe/troupe.hpp>
#include <utility>
#include <vector>

namespace troupe::test {
namespace {

constexpr int ticks = 6;

struct tick {};
struct until_done {
  explicit until_done(reply<int> r) : to(std::move(r)) {}
  using answer_type = int;
  reply<int> to;
};

/// Ticks by itself, so many times, and leaves its mark each time.
class clock final : public actor<clock, tick, until_done> {
 public:
  clock(runtime& on, std::string& log, char mark) : actor(on, "clock"), log_(log), mark_(mark) {}

  void on(tick) {
    log_ += mark_;
    if (--left_ > 0) {
      tell(tick());
    } else if (asked_) {
      asked_->to.set(0);
    }
  }
  void on(until_done m) {
    if (left_ == 0) {
      m.to.set(0);
    } else {
      asked_.emplace(std::move(m));
    }
  }

 private:
  std::string& log_;
  char mark_;
  int left_ = ticks;
  std::optional<until_done> asked_;
};

task<> three_clocks(world& w, std::vector<std::string>* logs) {
  std::string log;
  clock a(w.runtime(), log, 'a');
  clock b(w.runtime(), log, 'b');
  clock c(w.runtime(), log, 'c');
  a.tell(tick());
  b.tell(tick());
  c.tell(tick());
  co_await a.ask<until_done>();
  co_await b.ask<until_done>();
  co_await c.ask<until_done>();
  co_await a.stop();
  co_await b.stop();
  co_await c.stop();
  logs->push_back(std::move(log));
}

std::vector<std::string> drawn(drawing how) {
  simulation_options options;
  options.heed_environment = false;
  options.partial_orders = false;
  options.exhaustive = 1;
  options.samples = 400;
  options.draw = how;
  std::vector<std::string> logs;
  const auto report = simulation(options).explore([&](world& w) { return three_clocks(w, &logs); });
  CHECK(report.passed());
  return logs;
}

std::size_t changes(const std::string& log) {
  std::size_t n = 0;
  for (std::size_t i = 1; i < log.size(); ++i) {
    if (log[i] != log[i - 1]) ++n;
  }
  return n;
}

/// Of the longest stretch of one letter before which all the others had something left.
std::size_t longest_stretch(const std::string& log) {
  std::size_t longest = 0;
  std::size_t here = 0;
  for (std::size_t i = 0; i < log.size(); ++i) {
    here = i > 0 && log[i] == log[i - 1] ? here + 1 : 1;
    const auto rest = log.substr(i + 1);
    const auto waits = [&](char letter) { return rest.find(letter) != std::string::npos; };
    if (waits('a') && waits('b') && waits('c')) longest = std::max(longest, here);
  }
  return longest;
}

bool somebody_is_last(const std::string& log) {
  const std::string end = log.substr(log.size() - ticks);
  return end.find_first_not_of(end.front()) == std::string::npos;
}

std::size_t most_changes(const std::vector<std::string>& logs) {
  std::size_t most = 0;
  for (const auto& log : logs) most = std::max(most, changes(log));
  return most;
}

TEST_CASE("uniform drawing changes from one to another at any step") {
  const auto logs = drawn(drawing::uniform);
  CHECK(most_changes(logs) >= 14);
  CHECK(std::count_if(logs.begin(), logs.end(), somebody_is_last) < 40);
}

TEST_CASE("by priorities, somebody goes on until he ends or becomes the last") {
  const auto logs = drawn(drawing::priorities);
  CHECK(most_changes(logs) <= 6);
  std::vector<std::string> ways = logs;
  std::sort(ways.begin(), ways.end());
  ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
  CHECK(ways.size() > 20);
}

TEST_CASE("who is starved moves when nobody else can") {
  const auto logs = drawn(drawing::starvation);
  CHECK(std::count_if(logs.begin(), logs.end(), somebody_is_last) > 40);
}

TEST_CASE("in turn, nobody takes more than a few steps before the others have theirs") {
  for (const auto& log : drawn(drawing::round_robin)) {
    if (log == "aaaaaabbbbbbcccccc") continue;  // The run before the first one that is drawn.
    CHECK(longest_stretch(log) <= 3);
  }
}

TEST_CASE("a portfolio has all of them") {
  const auto logs = drawn(drawing::portfolio);
  CHECK(most_changes(logs) >= 14);
  CHECK(std::count_if(logs.begin(), logs.end(), [](const auto& log) { return changes(log) <= 3; }) >
        40);
  CHECK(std::count_if(logs.begin(), logs.end(), somebody_is_last) > 20);
}

}  // namespace
}  // namespace troupe::test
