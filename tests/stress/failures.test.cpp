// Failures from everywhere, at random, on real threads; the strategy is used again after each.

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <random>
#include <stdexcept>

#include "tests/stress/places.hpp"

namespace {

using namespace troupe;

enum class fault {
  none,
  replica_throws,
  returns_early,
  merges_elsewhere,
  merge_throws,
  late_throw
};

/// One fault, on one replica, in one round.
struct plan {
  fault what = fault::none;
  int replica = 0;
  int round = 0;
};

struct replica_fault : std::runtime_error {
  explicit replica_fault(int id) : runtime_error("replica"), replica(id) {}
  int replica;
};
struct merge_fault : std::runtime_error {
  merge_fault() : runtime_error("merge") {}
};

int sum_of(const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}
int sum_or_throw(const per_replica<bool>& faults) {
  for (const bool f : faults) {
    if (f) throw merge_fault();
  }
  return static_cast<int>(faults.size());
}
task<int> sum_or_throw_later(per_replica<bool> faults) { co_return sum_or_throw(faults); }

constexpr int rounds = 6;

task<int> step(replica_context ctx, plan p) {
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const bool here = p.replica == ctx.replica_id() && p.round == round;
    if (here && p.what == fault::replica_throws) throw replica_fault(ctx.replica_id());
    if (here && p.what == fault::returns_early) co_return sum;
    if (here && p.what == fault::merges_elsewhere) {
      sum += co_await ctx.merge_call(sum_of, 1);
      continue;
    }
    const bool bad_merge = here && p.what == fault::merge_throws;
    sum += co_await ctx.merge_call(sum_or_throw, bad_merge);
    const bool bad_later = here && p.what == fault::late_throw;
    sum += co_await ctx.merge_call(sum_or_throw_later, bad_later);
  }
  co_return sum;
}

enum class end { good, own, merge, missing, mismatch, other };

end end_of(runtime& rt, const mirrored_strategy& strategy, plan p) {
  try {
    const auto sums = block_on(rt, strategy.run(step, p));
    const int wanted = 2 * rounds * strategy.num_replicas_in_sync();
    for (const int sum : sums) {
      if (sum != wanted) return end::other;
    }
    return end::good;
  } catch (const replica_fault& f) {
    return f.replica == p.replica ? end::own : end::other;
  } catch (const merge_fault&) {
    return end::merge;
  } catch (const error& e) {
    if (e.code() == errc::missing_replica) return end::missing;
    if (e.code() == errc::merge_mismatch) return end::mismatch;
    return end::other;
  }
}

end wanted_end(fault f) {
  switch (f) {
    case fault::none: return end::good;
    case fault::replica_throws: return end::own;
    case fault::returns_early: return end::missing;
    case fault::merges_elsewhere: return end::mismatch;
    case fault::merge_throws:
    case fault::late_throw: return end::merge;
  }
  return end::other;
}

}  // namespace

TEST_CASE("one fault anywhere ends the run with its own error, and the next run is good") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    constexpr int replicas = 5;
    mirrored_strategy strategy{rt, replicas};
    std::mt19937 random(1);
    int wrong = 0;
    int bad_after = 0;
    for (int i = 0; i < 120; ++i) {
      const plan p{static_cast<fault>(random() % 6), static_cast<int>(random() % replicas),
                   static_cast<int>(random() % rounds)};
      wrong += end_of(rt, strategy, p) == wanted_end(p.what) ? 0 : 1;
      bad_after += end_of(rt, strategy, plan()) == end::good ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(bad_after == 0);
  });
}

namespace {

/// Every replica draws its own faults: several may strike in the same round.
task<int> unlucky_step(replica_context ctx, unsigned seed) {
  std::mt19937 random(seed * 31 + static_cast<unsigned>(ctx.replica_id()));
  int sum = 0;
  for (int round = 0; round < rounds; ++round) {
    switch (random() % 12) {
      case 0: throw replica_fault(ctx.replica_id());
      case 1: co_return sum;
      case 2: sum += co_await ctx.merge_call(sum_of, 1); break;
      case 3: sum += co_await ctx.merge_call(sum_or_throw, true); break;
      default: sum += co_await ctx.merge_call(sum_or_throw, false); break;
    }
  }
  co_return sum;
}

int plain_step(replica_context ctx, int bad) {
  if (ctx.replica_id() >= bad) throw replica_fault(ctx.replica_id());
  return ctx.replica_id();
}

}  // namespace

TEST_CASE("many faults at once still end the run, and the next run is good") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 4};
    int ended = 0;
    int bad_after = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
      try {
        block_on(rt, strategy.run(unlucky_step, seed));
        ++ended;
      } catch (const std::exception&) {
        ++ended;
      }
      bad_after += end_of(rt, strategy, plan()) == end::good ? 0 : 1;
    }
    CHECK(ended == 150);
    CHECK(bad_after == 0);
  });
}

TEST_CASE("of several replicas that throw, the lowest one's exception surfaces") {
  stress::on_every_place([](runtime& rt, const std::string& place) {
    INFO(place);
    mirrored_strategy strategy{rt, 6};
    int wrong = 0;
    for (int i = 0; i < 100; ++i) {
      const int lowest = i % 6;
      try {
        block_on(rt, strategy.run(plain_step, lowest));
        ++wrong;
      } catch (const replica_fault& f) {
        wrong += f.replica == lowest ? 0 : 1;
      }
    }
    CHECK(wrong == 0);
  });
}
