// taskflow.cpp - a program outside the project that awaits its own taskflow.
#include <asio/io_context.hpp>
#include <iostream>
#include <taskflow/taskflow.hpp>
#include <troupe/runtime/adaptors/taskflow.hpp>
#include <troupe/troupe.hpp>

namespace {

troupe::task<> count(tf::Executor* workers) {
  int n = 10;
  tf::Taskflow flow;
  flow.emplace([&n] { ++n; });
  std::cout << "[" << n;
  co_await troupe::async_run(*workers, flow, troupe::use_task);
  std::cout << ", " << n << "]\n";
}

}  // namespace

int main() {
  asio::io_context io;
  troupe::runtime rt{io.get_executor()};
  tf::Executor workers{1};
  troupe::block_on(rt, count(&workers));
}
