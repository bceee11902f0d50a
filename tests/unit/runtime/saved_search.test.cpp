// A search for partial orders that Ctrl-C ends, and the one that goes on with it.

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <troupe/troupe.hpp>
#include <vector>

#include "tests/support/generated_programs.hpp"

namespace troupe::test {
namespace {

namespace fs = std::filesystem;

/// A file of this test's own, gone afterwards.
class scratch {
 public:
  scratch() {
    std::string name = (fs::temp_directory_path() / "troupe-search-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() { fs::remove_all(folder_); }
  std::string file() const { return (folder_ / "below" / "of.search").string(); }

 private:
  fs::path folder_;
};

struct seen {
  int runs = 0;
  int interrupted_in = 0;
  std::set<std::vector<int>> orders;
};

task<> tell_twice(replica_context ctx, generated::keeper* with, world* w) {
  with->tell(
      generated::number(static_cast<int>(10 * ctx.replica_id()) + static_cast<int>(w->choose(2))));
  co_await ctx.merge_call([] {});
  co_await with->ask<generated::count>();
}

task<> tell_all(world& w, seen* into) {
  if (++into->runs == into->interrupted_in) std::raise(SIGINT);
  generated::keeper with(w.runtime());
  mirrored_strategy strategy(w.runtime(), 2);
  co_await strategy.run(tell_twice, &with, &w);
  co_await with.stop();
  into->orders.insert(with.kept);
}

simulation_options searching(const std::string& file) {
  simulation_options options;
  options.heed_environment = false;
  options.heed_interrupt = true;
  options.check_sequences = false;
  options.frontier = file;
  return options;
}

exploration search(const std::string& file, seen* into) {
  return simulation(searching(file)).explore([into](world& w) { return tell_all(w, into); });
}

TEST_CASE("a search that was interrupted goes on where it was, however often that happens") {
  seen whole;
  const auto at_once = search("", &whole);
  REQUIRE(at_once.complete);
  REQUIRE(at_once.schedules > 20);

  const scratch place;
  seen parts;
  exploration report;
  int pauses = 0;
  do {
    parts.interrupted_in = parts.runs + 8;
    report = search(place.file(), &parts);
    pauses += report.interrupted ? 1 : 0;
    CHECK(report.saved == report.interrupted);
  } while (report.interrupted && pauses < 100);
  CHECK(pauses > 2);
  CHECK(report.complete);
  CHECK(report.schedules == at_once.schedules);
  CHECK(report.orders == at_once.orders);
  CHECK(report.redundant == at_once.redundant);
  CHECK(report.trace == at_once.trace);
  CHECK(report.steps == at_once.steps);
  CHECK(parts.orders == whole.orders);
  CHECK_FALSE(fs::exists(place.file()));
}

task<> claim_the_first(world& w, seen* into) {
  w.sometimes("at \"first\"", into->runs == 0);
  co_await tell_all(w, into);
}

TEST_CASE("what was met before a search was interrupted has been met") {
  const scratch place;
  seen parts;
  parts.interrupted_in = 9;
  const simulation sim(searching(place.file()));
  const auto body = [&](world& w) { return claim_the_first(w, &parts); };
  const auto first_half = sim.explore(body);
  REQUIRE(first_half.saved);
  const auto whole = sim.explore(body);
  INFO(whole.text());
  CHECK(whole.complete);
  CHECK(whole.never.empty());
  CHECK(whole.steps > first_half.steps);
}

TEST_CASE("an interrupted search says that the next one goes on") {
  const scratch place;
  seen parts;
  parts.interrupted_in = 7;
  const auto report = search(place.file(), &parts);
  CHECK(report.text().find("there are more, and the next time it goes on") != std::string::npos);
  seen others;
  others.interrupted_in = 7;
  CHECK(search("", &others).text().find("goes on") == std::string::npos);
}

TEST_CASE("what another build of the program has left is not gone on with") {
  const scratch place;
  seen parts;
  parts.interrupted_in = 7;
  REQUIRE(search(place.file(), &parts).saved);
  std::ifstream in(place.file());
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t space = text.find(' ');
  std::ofstream(place.file()) << text.substr(0, space) << " 1"
                              << text.substr(text.find(' ', space + 1));
  seen anew;
  seen whole;
  CHECK(search(place.file(), &anew).schedules == search("", &whole).schedules);
}

TEST_CASE("what was searched on other lines is not gone on with") {
  const scratch place;
  seen parts;
  parts.interrupted_in = 7;
  REQUIRE(search(place.file(), &parts).saved);
  simulation_options options = searching(place.file());
  options.lines = 1;
  seen anew;
  const auto report = simulation(options).explore([&](world& w) { return tell_all(w, &anew); });
  options.frontier.clear();
  seen whole;
  simulation(options).explore([&](world& w) { return tell_all(w, &whole); });
  CHECK(report.complete);
  CHECK(anew.runs == whole.runs);
}

TEST_CASE("a search that cannot be written says so, and one that is a folder is refused") {
  const scratch place;
  seen parts;
  parts.interrupted_in = 7;
  const auto report = search("/proc/nowhere/of.search", &parts);
  CHECK(report.interrupted);
  CHECK_FALSE(report.saved);
  CHECK(report.text().find("could not be written") != std::string::npos);
  fs::create_directories(place.file());
  try {
    search(place.file(), &parts);
    FAIL("it was read");
  } catch (const error& told) {
    CHECK(told.code() == errc::invalid_schedule);
    CHECK(std::string(told.what()).find("is a folder") != std::string::npos);
  }
}

TEST_CASE("a file that is no search is errc::invalid_schedule") {
  const scratch place;
  seen parts;
  parts.interrupted_in = 7;
  REQUIRE(search(place.file(), &parts).saved);
  const auto size = fs::file_size(place.file());
  for (const auto left : {size / 2, std::uintmax_t{3}}) {
    fs::resize_file(place.file(), left);
    try {
      search(place.file(), &parts);
      FAIL("it was read");
    } catch (const error& told) {
      CHECK(told.code() == errc::invalid_schedule);
    }
  }
}

}  // namespace
}  // namespace troupe::test
