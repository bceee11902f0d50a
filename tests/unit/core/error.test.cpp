#include "troupe/core/error.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace troupe::test {
namespace {

constexpr std::array all_codes = {
    errc::missing_replica,  errc::replica_failed,         errc::cancelled,
    errc::merge_mismatch,   errc::foreign_context,        errc::deadlock,
    errc::runtime_gone,     errc::broken_reply,           errc::empty_task,
    errc::foreign_runtime,  errc::cross_replica_required, errc::replica_required,
    errc::scope_required,   errc::strategy_mixed,         errc::inside_scope,
    errc::invalid_device,   errc::shape_mismatch,         errc::invalid_axis,
    errc::not_per_replica,  errc::structure_mismatch,     errc::variable_mismatch,
    errc::not_equivalent,   errc::aggregation_required,   errc::division_by_zero,
    errc::invalid_schedule, errc::schedule_diverged,      errc::too_long,
    errc::would_block,      errc::invalid_hint,           errc::invalid_batch,
    errc::invalid_step,
};

constexpr errc no_such_code = static_cast<errc>(999);

static_assert(std::is_nothrow_copy_constructible_v<error>);
static_assert(std::is_nothrow_copy_assignable_v<error>);

// -- the catalogue --------------------------------------------------------------------------------

TEST_CASE("every code has a meaning of its own") {
  const std::string unknown = category().message(static_cast<int>(no_such_code));
  std::set<std::string> meanings;
  for (const errc code : all_codes) {
    const std::string meaning = make_error_code(code).message();
    CHECK(meaning != unknown);
    meanings.insert(meaning);
  }
  CHECK(meanings.size() == all_codes.size());
}

TEST_CASE("every code has a condition of the standard library") {
  for (const errc code : all_codes) {
    INFO(tag_of(code));
    CHECK(make_error_code(code).default_error_condition().category() == std::generic_category());
  }
}

TEST_CASE("every code has a tag of its own") {
  std::set<std::string> tags;
  for (const errc code : all_codes) tags.insert(tag_of(code));
  CHECK(tags.size() == all_codes.size());
}

TEST_CASE("stable: codes keep their numbers") {
  CHECK(static_cast<int>(errc::missing_replica) == 101);
  CHECK(static_cast<int>(errc::replica_failed) == 102);
  CHECK(static_cast<int>(errc::cancelled) == 103);
  CHECK(static_cast<int>(errc::merge_mismatch) == 104);
  CHECK(static_cast<int>(errc::foreign_context) == 105);
  CHECK(static_cast<int>(errc::deadlock) == 106);
  CHECK(static_cast<int>(errc::runtime_gone) == 107);
  CHECK(static_cast<int>(errc::cross_replica_required) == 201);
  CHECK(static_cast<int>(errc::strategy_mixed) == 204);
  CHECK(static_cast<int>(errc::invalid_device) == 301);
  CHECK(static_cast<int>(errc::shape_mismatch) == 302);
  CHECK(static_cast<int>(errc::invalid_schedule) == 401);
  CHECK(static_cast<int>(errc::would_block) == 501);
}

TEST_CASE("a code's tag is its number") { CHECK(tag_of(errc::merge_mismatch) == "TR-104"); }

TEST_CASE("the category's name is troupe") { CHECK(std::string(category().name()) == "troupe"); }

TEST_CASE("there is one category") {
  CHECK(&category() == &make_error_code(errc::deadlock).category());
}

TEST_CASE("a cancelled run compares equal to operation_canceled") {
  CHECK(error(errc::cancelled, "").code() == std::errc::operation_canceled);
}

TEST_CASE("an error's code compares with the catalogue") {
  const error e(errc::merge_mismatch, "");
  CHECK(e.code() == errc::merge_mismatch);
  CHECK(e.code() != errc::deadlock);
}

// -- what an error tells --------------------------------------------------------------------------

error_facts broken_run() {
  error_facts facts(errc::merge_mismatch, "the headline");
  for (std::uint32_t i = 0; i < 3; ++i) {
    replica_place p;
    p.replica = i;
    p.is = replica_place::state::waiting;
    p.at = place::current();
    p.doing = "doing-" + std::to_string(i);
    facts.replicas.push_back(p);
  }
  facts.merges_agreed = 4;
  facts.last_agreed = place::current();
  facts.note = "the note";
  facts.fix = "the fix";
  facts.replay = "tr1:the-schedule";
  return facts;
}

bool has(const error& e, const std::string& part) {
  return std::string(e.what()).find(part) != std::string::npos;
}

TEST_CASE("what() has the tag and the headline of the code") {
  const error e(broken_run());
  CHECK(has(e, "TR-104"));
  CHECK(has(e, "the headline"));
}

TEST_CASE("what() has a line for every replica, with its place") {
  const error e(broken_run());
  const std::string text = e.what();
  for (const auto& p : e.replicas()) {
    const auto found = text.find("doing-" + std::to_string(p.replica));
    REQUIRE(found != text.npos);
    const auto begin = text.rfind('\n', found) + 1;
    const std::string line = text.substr(begin, text.find('\n', found) - begin);
    INFO(line);
    CHECK(line.find(to_string(p.at)) != line.npos);
  }
}

/// A run of so many replicas, of which every `other`th stands somewhere else.
error run_of(std::uint32_t replicas, std::uint32_t other) {
  error_facts facts(errc::missing_replica, "the headline");
  const place here = place::current();
  for (std::uint32_t i = 0; i < replicas; ++i) {
    replica_place p{i, replica_place::state::waiting, here, "merge"};
    if (i % other == 1) p = {i, replica_place::state::finished, place(), "returned"};
    facts.replicas.push_back(p);
  }
  return error(facts);
}

TEST_CASE("of many replicas those that say the same share a line, and all remain as fields") {
  const error few = run_of(8, 8);
  CHECK(has(few, "\n  replica 1   finished ?"));
  CHECK(has(few, "\n  replica 7   waiting  error.test.cpp:"));

  const error many = run_of(10'000, 10'000);
  CHECK(has(many, "\n  replicas 0 and 2-9999  waiting  error.test.cpp:"));
  CHECK(has(many, "\n  replica 1              finished ?"));
  CHECK(std::string(many.what()).size() < 400);
  CHECK(many.replicas().size() == 10'000);

  CHECK(has(run_of(1'000, 2), "\n  replicas 1, 3, 5, 7, 9, 11, 13, 15 and 492 more  finished ?"));
}

TEST_CASE("of many replicas that all say something else, the first ones have a line") {
  error_facts facts(errc::cancelled, "the headline");
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    facts.replicas.push_back(
        {i, replica_place::state::failed, place(), "threw: " + std::to_string(i)});
  }
  const error e(facts);
  CHECK(has(e, "\n  replica 49  failed   ?  threw: 49\n  ... and 950 replicas more\n"));
}

TEST_CASE("two places on one line are told with their columns") {
  error_facts facts = broken_run();
  facts.replicas[0].at = place::current(), facts.replicas[1].at = place::current();
  const error e(facts);
  for (std::size_t i = 0; i < 2; ++i) {
    const place& at = e.replicas()[i].at;
    CHECK(has(e, to_string(at) + ":" + std::to_string(at.column()) + "  doing"));
  }
  CHECK(has(e, to_string(e.replicas()[2].at) + "  "));
}

TEST_CASE("what() has the last agreed merge") {
  const error e(broken_run());
  CHECK(has(e, to_string(e.last_agreed())));
}

TEST_CASE("what() has the note, the fix and the schedule") {
  const error e(broken_run());
  CHECK(has(e, "the note"));
  CHECK(has(e, "the fix"));
  CHECK(has(e, "tr1:the-schedule"));
}

TEST_CASE("what() has every waiting coroutine's line") {
  error_facts facts(errc::deadlock, "");
  facts.waiting = {"first waits", "second waits"};
  const error e(facts);
  CHECK(has(e, "first waits"));
  CHECK(has(e, "second waits"));
}

TEST_CASE("of very many waiting coroutines the first ones have a line, and all remain as fields") {
  error_facts facts(errc::deadlock, "");
  facts.waiting.assign(10'000, "somebody waits");
  facts.fix = "the fix";
  const error e(facts);
  CHECK(has(e, "somebody waits\n  ... and 9,950 more\n  fix: the fix"));
  CHECK(std::string(e.what()).size() < 1'000);
  CHECK(e.waiting().size() == 10'000);
}

TEST_CASE("an error's fields are what it was made of") {
  const error e(broken_run());
  CHECK(e.replicas().size() == 3);
  CHECK(e.merges_agreed() == 4);
  CHECK(e.fix() == "the fix");
  CHECK(e.replay() == "tr1:the-schedule");
}

TEST_CASE("shared: copies of an error share one text") {
  const error e(broken_run());
  const error copy = e;  // NOLINT(performance-unnecessary-copy-initialization)
  CHECK(copy.what() == e.what());
  CHECK(static_cast<const void*>(copy.what()) == static_cast<const void*>(e.what()));
}

TEST_CASE("an error is a system_error") {
  CHECK_THROWS_AS(throw error(errc::cancelled, ""), std::system_error);
}

TEST_CASE("every state of a replica has a name") {
  std::set<std::string_view> names;
  for (const auto state : {replica_place::state::running, replica_place::state::waiting,
                           replica_place::state::finished, replica_place::state::failed}) {
    names.insert(to_string(state));
  }
  CHECK(names.size() == 4);
}

// -- describe() -----------------------------------------------------------------------------------

TEST_CASE("describe() of an exception is its what()") {
  CHECK(describe(std::make_exception_ptr(std::runtime_error("the text"))) == "the text");
}

TEST_CASE("describe() has words for what is no std::exception, and for nothing") {
  CHECK_FALSE(describe(std::make_exception_ptr(42)).empty());
  CHECK_FALSE(describe(nullptr).empty());
}

}  // namespace
}  // namespace troupe::test
