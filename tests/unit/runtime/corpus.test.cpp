// The files in which failing schedules are kept, by the names of tests.

#include "troupe/runtime/corpus.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <troupe/troupe.hpp>

namespace troupe::test {
namespace {

TEST_CASE("a name of words is a file's name with underscores") {
  CHECK(corpus_file("gradients are applied once") == "gradients_are_applied_once.schedules");
}

TEST_CASE("different names have different files") {
  std::set<std::string> files;
  std::size_t names = 0;
  for (const std::string middle :
       {"", " ", "_", "-", ".", "/", "\\", "..", "__", " _", "_ ", ".20", ":", "\n", "\xc3\xa4"}) {
    files.insert(corpus_file("a" + middle + "b"));
    ++names;
  }
  for (std::size_t length = 150; length < 400; ++length) {
    files.insert(corpus_file(std::string(length, 'x')));
    ++names;
  }
  CHECK(files.size() == names);
}

TEST_CASE("a file's name holds what every file system takes, and is not too long") {
  std::string every;
  for (int c = 1; c < 256; ++c) every += static_cast<char>(c);
  for (const auto& name : {every, std::string("../../etc"), std::string(), every + every}) {
    const std::string file = corpus_file(name);
    CHECK(file.size() < 200);
    CHECK(std::all_of(file.begin(), file.end(), [](unsigned char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             c == '_' || c == '-' || c == '.';
    }));
    CHECK(file.find("/") == std::string::npos);
  }
}

TEST_CASE("a named exploration without a folder is an exploration with a text") {
  simulation_options options;
  options.heed_environment = false;
  const auto holds = explore_named("holds", [](world&) -> task<> { co_return; }, options);
  CHECK(holds.passed);
  CHECK(holds.text.find("proved: 1 of 1 partial order (1 interleaving, which was run)") == 0);
  CHECK(holds.replay.empty());
  const auto fails = explore_named(
      "fails",
      [](world& w) -> task<> {
        w.check(w.choose(2) == 0, "zero");
        co_return;
      },
      options, "'only this'");
  CHECK_FALSE(fails.passed);
  CHECK(fails.replay.starts_with("TROUPE_SIM_SCHEDULE=tr1:"));
  CHECK(fails.replay.ends_with(" 'only this'"));
  CHECK(fails.text.find("replay:   " + fails.replay) != std::string::npos);
}

}  // namespace
}  // namespace troupe::test
