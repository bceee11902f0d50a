#include "troupe/core/activity.hpp"

#include <asio/io_context.hpp>
#include <catch2/catch_test_macros.hpp>
#include <type_traits>
#include <utility>

#include "troupe/core/task.hpp"
#include "troupe/runtime/block_on.hpp"
#include "troupe/runtime/when_all.hpp"

namespace troupe::test {
namespace {

// Where an activity waits is found by the address of its frame: the link of a coroutine comes first
// in its promise, and its promise has no alignment of its own.
template <class T>
inline constexpr bool is_found =
    detail::has_link_in_place<typename task<T>::promise_type> &&
    std::is_base_of_v<detail::chain_link, typename task<T>::promise_type>;

/// Wider than what the beginning of a frame is aligned to.
struct alignas(64) wide {
  int last[16] = {};
};

static_assert(is_found<void>);
static_assert(is_found<char>);
static_assert(is_found<long double>);
static_assert(is_found<wide>);

task<> nothing() { co_return; }

task<wide> wide_value(int v) {
  static_cast<void>(co_await when_all(nothing()));
  wide made;
  made.last[15] = v;
  co_return made;
}

task<int> ask_for_wide_ones(int* line) {
  const wide first = co_await wide_value(3);
  *line = static_cast<int>(activity::current()->where().line());
  co_return first.last[15] + (co_await wide_value(4)).last[15];
}

TEST_CASE("a task may yield what is aligned to a line of cache") {
  asio::io_context io;
  runtime rt{io.get_executor()};
  int line = -1;
  CHECK(block_on(rt, ask_for_wide_ones(&line)) == 7);
  CHECK(line == 0);  // It runs: it waits nowhere.
}

}  // namespace
}  // namespace troupe::test
