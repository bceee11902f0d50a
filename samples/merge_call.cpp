// merge_call.cpp - replicas meet: every one brings 3 + its id, gets the sum back.
//
// With two replicas the values are 3 and 4, their sum is 7, and the results 10 and 11.

#include <exception>
#include <string>

// [program]
#include <asio/io_context.hpp>
#include <iostream>
#include <numeric>
#include <troupe/troupe.hpp>

using namespace troupe;

// Runs once, when every replica has arrived.
int sum(cross_replica_context, const per_replica<int>& values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

// Runs once on every replica.
task<int> step(replica_context ctx, int three) {
  int v = three + ctx.replica_id();
  int s = co_await ctx.merge_call(sum, v);
  co_return s + v;
}

void print_sums(int replicas) {
  asio::io_context io;
  runtime rt{io.get_executor()};
  mirrored_strategy strategy{rt, replicas};

  per_replica<int> results = block_on(rt, strategy.run(step, 3));
  std::cout << results << "\n";
}
// [/program]

int main(int argc, char** argv) {
  try {
    print_sums(argc > 1 ? std::stoi(argv[1]) : 2);
  } catch (const std::logic_error&) {
    std::cerr << "usage: merge_call [number of replicas]\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
