// Rounds that are not all alike: merges of several kinds and places, one after the other, and
// replicas that do something else in between. Whoever counts them counts each of them once.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/stress/places.hpp"
#include "tests/support/outcome.hpp"

namespace {

using namespace troupe;

long sum_of(const per_replica<long>& values) {
  return std::accumulate(values.begin(), values.end(), 0L);
}
std::string joined(const per_replica<std::string>& texts) {
  return std::accumulate(texts.begin(), texts.end(), std::string());
}

/// Who decides it has the same numbers everywhere.
class plan {
 public:
  explicit plan(std::uint32_t seed) : seed_(seed) {}

  enum class merge { here, there, in_child, of_texts, of_nothing };
  merge merge_of(std::uint32_t round) const {
    // Several alike in a row, now and then.
    return static_cast<merge>(drawn(round / (1 + seed_ % 4), 0) % 5);
  }
  enum class detour { none, child, pause };
  detour detour_of(std::uint32_t round, std::uint32_t replica) const {
    const std::uint32_t n = drawn(round, replica + 1) % 32;
    return n == 0 ? detour::pause : n < 4 ? detour::child : detour::none;
  }

 private:
  std::uint32_t drawn(std::uint32_t round, std::uint32_t who) const {
    std::uint32_t x = (seed_ * 2'654'435'761u) ^ (round * 40'503u) ^ (who * 2'246'822'519u);
    for (int i = 0; i < 3; ++i) {
      x ^= x << 13u;
      x ^= x >> 17u;
      x ^= x << 5u;
    }
    return x;
  }
  std::uint32_t seed_;
};

task<> wait_for_nothing() { co_return; }
constexpr int line_in_child = __LINE__ + 2;
task<long> sum_in_child(replica_context ctx, long mine) {
  co_return co_await ctx.merge_call(sum_of, mine);
}

/// What an odd one does instead of its last merge.
enum class oddity { none, returns, throws, merges_elsewhere };

struct instructions {
  plan decided;
  std::uint32_t rounds;
  int odd_one;
  oddity odd;
};

/// How many merges gave what they should. Notes where the replicas met in each round.
task<long> mixed_rounds(replica_context ctx, const instructions* given, std::vector<int>* lines) {
  const long n = ctx.num_replicas_in_sync();
  const auto me = static_cast<std::uint32_t>(ctx.replica_id());
  std::string all_texts;
  for (long i = 0; i < n; ++i) all_texts += static_cast<char>('a' + i % 26);
  long right = 0;
  for (std::uint32_t round = 0; round < given->rounds; ++round) {
    const auto detour = given->decided.detour_of(round, me);
    if (detour == plan::detour::child) co_await wait_for_nothing();
    if (detour == plan::detour::pause) co_await sleep_for(std::chrono::microseconds(1));
    if (round + 1 == given->rounds && ctx.replica_id() == given->odd_one) {
      if (given->odd == oddity::returns) co_return right;
      if (given->odd == oddity::throws) throw std::logic_error("the odd one");
      if (given->odd == oddity::merges_elsewhere) co_await ctx.merge_call(sum_of, 0L);
    }
    const long mine = ctx.replica_id() + static_cast<long>(round);
    const long sum = n * (n - 1) / 2 + n * static_cast<long>(round);
    int line = line_in_child;
    switch (given->decided.merge_of(round)) {
      case plan::merge::here: {
        line = __LINE__ + 1;
        const long got = co_await ctx.merge_call(sum_of, mine);
        right += got == sum ? 1 : 0;
        break;
      }
      case plan::merge::there: {
        line = __LINE__ + 1;
        const long got = co_await ctx.merge_call(sum_of, mine + 1);
        right += got == sum + n ? 1 : 0;
        break;
      }
      case plan::merge::in_child: {
        const long got = co_await sum_in_child(ctx, mine);
        right += got == sum ? 1 : 0;
        break;
      }
      case plan::merge::of_texts: {
        std::string text(1, all_texts[me]);
        line = __LINE__ + 1;
        const std::string got = co_await ctx.merge_call(joined, std::move(text));
        right += got == all_texts ? 1 : 0;
        break;
      }
      case plan::merge::of_nothing: {
        const auto answer = [] { return 42; };
        line = __LINE__ + 1;
        const int got = co_await ctx.merge_call(answer);
        right += got == 42 ? 1 : 0;
        break;
      }
    }
    if (me == 0) (*lines)[round] = line;
  }
  co_return right;
}

per_replica<long> run_mixed(runtime& rt, const mirrored_strategy& strategy,
                            const instructions& given, std::vector<int>& lines) {
  lines.assign(given.rounds, 0);
  return block_on(rt, strategy.run(mixed_rounds, &given, &lines));
}

}  // namespace

TEST_CASE("merges of several kinds, with other awaits in between, give everybody what is right") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    for (const int replicas : {1, 2, 5, 70}) {
      for (std::uint32_t seed = 1; seed <= 8; ++seed) {
        INFO(replicas << " replicas, seed " << seed);
        const instructions given{plan(seed), 300, -1, oddity::none};
        std::vector<int> lines;
        const mirrored_strategy strategy{rt, replicas};
        const per_replica<long> right = run_mixed(rt, strategy, given, lines);
        for (const long each : right) CHECK(each == given.rounds);
      }
    }
  });
}

TEST_CASE("after merges of several kinds a verdict counts them, and knows where the last one was") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    for (const auto odd : {oddity::returns, oddity::throws, oddity::merges_elsewhere}) {
      for (std::uint32_t seed = 1; seed <= 12; ++seed) {
        const instructions given{plan(seed), 2 + 7 * (seed % 5), static_cast<int>(seed % 5), odd};
        INFO("seed " << seed << ", oddity " << static_cast<int>(odd));
        std::vector<int> lines;
        const mirrored_strategy strategy{rt, 5};
        const auto thrown = test::thrown_by([&] { run_mixed(rt, strategy, given, lines); });
        CHECK(test::is_a<std::logic_error>(thrown) == (odd == oddity::throws));
        const std::optional<error> told = strategy.last_failure();
        REQUIRE(told);
        CHECK(told->merges_agreed() == given.rounds - 1);
        CHECK(static_cast<int>(told->last_agreed().line()) == lines[given.rounds - 2]);
      }
    }
  });
}
