// places.hpp - every kind of place a runtime can live on, with threads that run it.

#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <string>
#include <thread>
#include <troupe/troupe.hpp>
#include <vector>

namespace stress {

/// An io_context that threads of its own run until it is destroyed.
class threaded_context {
 public:
  explicit threaded_context(int threads) : work_(asio::make_work_guard(io_)) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { io_.run(); });
  }
  threaded_context(const threaded_context&) = delete;
  threaded_context& operator=(const threaded_context&) = delete;
  ~threaded_context() {
    work_.reset();
    join();
  }

  asio::io_context& io() { return io_; }

  /// The threads leave what is under way where it is.
  void halt() {
    io_.stop();
    join();
  }

 private:
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;
};

/// Calls `check(runtime&, name)` once on each kind of place.
template <class Check>
void on_every_place(Check check) {
  for (const std::size_t threads : {1u, 2u, 4u}) {
    troupe::runtime rt{troupe::pool_size{threads}};
    check(rt, "a pool of " + std::to_string(threads));
  }
  {
    asio::thread_pool pool(2);
    troupe::runtime rt{pool.get_executor()};
    check(rt, std::string("a thread_pool"));
  }
  {
    asio::thread_pool pool(2);
    troupe::runtime rt{asio::make_strand(pool)};
    check(rt, std::string("a strand of a thread_pool"));
  }
  {
    threaded_context context(2);
    troupe::runtime rt{context.io().get_executor()};
    check(rt, std::string("an io_context with two threads"));
  }
}

}  // namespace stress
