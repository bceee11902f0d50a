// asio.cpp - what an Asio program would write without troupe.

#include <asio/as_tuple.hpp>
#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <memory>
#include <vector>

#include "bench/contenders.hpp"

namespace troupe::bench {

namespace {

using release_channel = asio::experimental::channel<void(asio::error_code)>;

// A counter that the last to arrive resets, and a channel for each participant to wait on.
struct counter_barrier {
  counter_barrier(asio::io_context& io, std::size_t participants) : values(participants) {
    for (std::size_t id = 0; id < participants; ++id) {
      released.push_back(std::make_unique<release_channel>(io, 1));
    }
  }

  void arrive(std::size_t id, std::uint64_t value) {
    values[id] = value;
    if (++arrived < values.size()) {
      return;
    }
    arrived = 0;
    sum = 0;
    for (const std::uint64_t each : values) {
      sum += each;
    }
    for (const auto& channel : released) {
      channel->try_send(asio::error_code());
    }
  }

  std::size_t arrived = 0;
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> values;
  std::vector<std::unique_ptr<release_channel>> released;
};

asio::awaitable<void> meet(counter_barrier& barrier, std::size_t id, std::uint64_t rounds,
                           std::uint64_t& total, stopwatch& watch) {
  std::uint64_t met = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    if (id == 0 && round == warm_up_rounds) {
      watch.start();
    }
    barrier.arrive(id, replica_value(id));
    co_await barrier.released[id]->async_receive(asio::as_tuple(asio::use_awaitable));
    met += barrier.sum;
  }
  if (id == 0) {
    watch.stop();
  }
  total += met;
}

double run_counter_and_channels(std::size_t participants, std::uint64_t timed_rounds) {
  const std::uint64_t rounds = warm_up_rounds + timed_rounds;
  asio::io_context io(1);
  counter_barrier barrier(io, participants);
  std::uint64_t total = 0;
  stopwatch watch;
  for (std::size_t id = 0; id < participants; ++id) {
    asio::co_spawn(io, meet(barrier, id, rounds, total, watch), asio::detached);
  }
  io.run();
  expect_equal("sum of sums", total, participants * rounds * sum_of_values(participants));
  return watch.nanoseconds();
}

double run_posted_handlers(std::size_t replicas, std::uint64_t runs) {
  replica_slots slots(replicas);
  asio::io_context io(1);
  stopwatch watch;
  watch.start();
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (replica_slot& slot : slots) {
      asio::post(io, [&slot] { ++slot.runs; });
    }
    io.run();
    io.restart();
  }
  watch.stop();
  expect_every_slot(slots, runs);
  return watch.nanoseconds();
}

asio::awaitable<void> touch_once(replica_slot& slot) {
  ++slot.runs;
  co_return;
}

double run_spawned_coroutines(std::size_t replicas, std::uint64_t runs) {
  replica_slots slots(replicas);
  asio::io_context io(1);
  stopwatch watch;
  watch.start();
  for (std::uint64_t run = 0; run < runs; ++run) {
    for (replica_slot& slot : slots) {
      asio::co_spawn(io, touch_once(slot), asio::detached);
    }
    io.run();
    io.restart();
  }
  watch.stop();
  expect_every_slot(slots, runs);
  return watch.nanoseconds();
}

}  // namespace

void add_asio_barrier(table& contest, std::size_t participants) {
  contest.contenders.push_back({"asio_counter_and_channels", [participants](std::uint64_t rounds) {
                                  return run_counter_and_channels(participants, rounds);
                                }});
}

void add_asio_runs(table& contest, std::size_t replicas) {
  contest.contenders.push_back({"asio_post", [replicas](std::uint64_t runs) {
                                  return run_posted_handlers(replicas, runs);
                                }});
  contest.contenders.push_back({"asio_co_spawn", [replicas](std::uint64_t runs) {
                                  return run_spawned_coroutines(replicas, runs);
                                }});
}

}  // namespace troupe::bench
