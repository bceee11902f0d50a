// main.cpp - a program outside the project that uses nothing but what is installed.
#include <troupe/troupe.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <iostream>

namespace {

int sum(troupe::cross_replica_context, const troupe::per_replica<int>& values) {
  int total = 0;
  for (int value : values) {
    total += value;
  }
  return total;
}

troupe::task<int> step(troupe::replica_context ctx, int three) {
  int v = three + static_cast<int>(ctx.replica_id());
  int s = co_await ctx.merge_call(sum, v);
  co_return s + v;
}

}  // namespace

int main() {
  asio::io_context io;
  troupe::runtime rt{io.get_executor()};
  troupe::mirrored_strategy strategy{rt, 2};
  troupe::per_replica<int> result = troupe::block_on(rt, strategy.run(step, 3));
  for (std::size_t i = 0; i != result.size(); ++i) {
    std::cout << (i == 0 ? "[" : ", ") << result[i];
  }
  std::cout << "]\n";
}
