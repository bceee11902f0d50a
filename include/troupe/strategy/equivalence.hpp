// equivalence.hpp - one program under several strategies: does it give the same answer?
//
//     task<double> total_loss(const strategy& s);
//
//     co_await assert_equivalent({&one, &mirrored, &central}, total_loss);
//
// For programs that shall not depend on how many replicas there are, or where their variables
// live. Where the answer may depend on it, say how much:
//
//     co_await assert_equivalent({&one, &mirrored}, total_loss, close_to);
//
// `close_to(expected, answer, strategy)` decides; `expected` is the first strategy's answer.

#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "troupe/core/task.hpp"
#include "troupe/strategy/strategy.hpp"
#include "troupe/strategy/values/per_replica.hpp"

namespace troupe {

/// Answers are the same when they are equal.
struct same_answer {
  template <class T>
  bool operator()(const T& expected, const T& answer, const strategy&) const {
    return expected == answer;
  }
};

namespace detail {

template <class T>
concept printable = requires(std::ostream& out, const T& value) { out << value; };

/// The value, as far as it can be shown.
template <class T>
std::string shown(const T& value) {
  std::ostringstream text;
  text.precision(17);
  if constexpr (printable<T>) {
    text << value;
  } else if constexpr (is_per_replica<T>) {
    text << "[";
    for (std::size_t i = 0; i < value.size(); ++i) text << (i == 0 ? "" : ", ") << shown(value[i]);
    text << "]";
  } else {
    text << "a value that cannot be printed";
  }
  return text.str();
}

[[noreturn]] void throw_not_equivalent(const strategy& first, const std::string& expected,
                                       const strategy& other, const std::string& answer);
[[noreturn]] void throw_nothing_to_compare();

/// The strategies stay where they are: only their addresses are in the coroutine.
template <class Program, class Same>
auto compare_answers(std::vector<const strategy*> strategies, Program program, Same same)
    -> task<typename std::invoke_result_t<Program&, const strategy&>::value_type> {
  using answer = typename std::invoke_result_t<Program&, const strategy&>::value_type;
  std::optional<answer> expected;
  for (const strategy* const each : strategies) {
    answer given = co_await program(*each);
    if (!expected) {
      expected.emplace(std::move(given));
    } else if (!same(*expected, std::as_const(given), *each)) {
      throw_not_equivalent(*strategies.front(), shown(*expected), *each, shown(given));
    }
  }
  if (!expected) throw_nothing_to_compare();
  co_return *std::move(expected);
}

}  // namespace detail

/// Awaits `program(strategy)` for one after the other, and gives the first one's answer.
/// `program` is a coroutine whose result can be compared.
/// \throws when awaited: errc::not_equivalent naming the strategy that differs and both
///         answers; what the program throws.
template <class Program, class Same = same_answer>
[[nodiscard("co_await it, or give it to block_on()")]] auto assert_equivalent(
    std::vector<const strategy*> strategies, Program program, Same same = Same()) {
  static_assert(std::is_invocable_v<Program&, const strategy&>,
                "troupe: assert_equivalent() calls program(const strategy&)");
  return detail::compare_answers(std::move(strategies), std::move(program), std::move(same));
}

}  // namespace troupe
